//! Notes about long waits: work that takes longer than a moment says so on stderr, once.

use std::convert::Infallible;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::error;

/// Time after which a person wonders.
pub(crate) const LONG_WAIT: Duration = Duration::from_secs(1);

/// Does the work, and notes on stderr what it waits for if that takes longer than [`LONG_WAIT`].
pub(crate) fn noting_long_wait<T>(waiting: &str, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, over) = channel::<Infallible>();
        let say_so = move || {
            if over.recv_timeout(LONG_WAIT) == Err(RecvTimeoutError::Timeout) {
                error::note(waiting);
            }
        };
        // Without the thread, the wait is merely silent.
        let watch = thread::Builder::new().spawn_scoped(scope, say_so);
        let result = work();
        drop((done, watch));
        result
    })
}
