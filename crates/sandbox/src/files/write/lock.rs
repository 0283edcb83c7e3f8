//! One writer at a time in a directory, across this process and others that write through this crate.

use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, Result, retry_on_intr};

/// Held by writers where directories cannot be locked.
static PROCESS: Mutex<()> = Mutex::new(());

/// Held until it is dropped.
pub(super) enum Lock<'a> {
    Directory(BorrowedFd<'a>),
    Process { _held: MutexGuard<'static, ()> },
}

impl Lock<'_> {
    /// True if it keeps out every writer, not only those of this process.
    pub(super) fn is_shared_by_all(&self) -> bool {
        matches!(self, Self::Directory(_))
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if let Self::Directory(directory) = self {
            // If this fails, the lock ends with the descriptor.
            retry_on_intr(|| flock(*directory, FlockOperation::Unlock)).ok();
        }
    }
}

/// Locks a directory; `None` if others held it for all that time, or until the caller had to stop.
pub(super) fn exclusive<'a>(
    directory: BorrowedFd<'a>,
    patience: Duration,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<Lock<'a>>> {
    const MAX_PAUSE: Duration = Duration::from_millis(8);
    let start = Instant::now();
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(lock) = try_exclusive(directory)? {
            return Ok(Some(lock));
        }
        if start.elapsed() >= patience || is_stopped() {
            return Ok(None);
        }
        // The kernel can wait for a lock, but not with a timeout.
        thread::sleep(pause);
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

fn try_exclusive(directory: BorrowedFd<'_>) -> Result<Option<Lock<'_>>> {
    loop {
        match flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(Lock::Directory(directory))),
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(Errno::INTR) => {}
            // Network file systems lock only files open for writing, which a directory never is.
            Err(Errno::BADF | Errno::NOLCK | Errno::NOTSUP | Errno::INVAL | Errno::NOSYS) => {
                return Ok(match PROCESS.try_lock() {
                    Ok(held) => Some(Lock::Process { _held: held }),
                    Err(TryLockError::Poisoned(held)) => Some(Lock::Process { _held: held.into_inner() }),
                    Err(TryLockError::WouldBlock) => None,
                });
            }
            Err(errno) => return Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::path::Path;

    use rustix::fs::{CWD, Mode, OFlags, openat};

    use super::*;

    fn open(directory: &Path, flags: OFlags) -> std::os::fd::OwnedFd {
        openat(CWD, directory, flags | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    fn lock(directory: &std::os::fd::OwnedFd, patience: Duration) -> Option<Lock<'_>> {
        exclusive(directory.as_fd(), patience, &|| false).unwrap()
    }

    #[test]
    fn a_directory_has_one_writer_at_a_time_and_the_next_waits_with_a_limit() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = [0, 1].map(|_| open(directory.path(), OFlags::RDONLY));
        let held = lock(&first, Duration::ZERO).unwrap();
        let start = Instant::now();
        assert!(lock(&second, Duration::from_millis(50)).is_none());
        assert!(start.elapsed() >= Duration::from_millis(50));
        drop(held);
        assert!(lock(&second, Duration::ZERO).is_some());
    }

    #[test]
    fn writers_of_this_process_take_turns_where_a_directory_cannot_be_locked() {
        let directory = tempfile::tempdir().unwrap();
        let unlockable = open(directory.path(), crate::paths::safe_open::LOOK);
        let held = lock(&unlockable, Duration::ZERO).unwrap();
        assert!(matches!(held, Lock::Process { .. }));
        assert!(PROCESS.try_lock().is_err());
        assert!(lock(&unlockable, Duration::ZERO).is_none());
        drop(held);
        assert!(PROCESS.try_lock().is_ok());
    }

    #[test]
    fn a_waiting_writer_stops_at_once_on_request() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = [0, 1].map(|_| open(directory.path(), OFlags::RDONLY));
        let _held = lock(&first, Duration::ZERO).unwrap();
        let looks = std::cell::Cell::new(0);
        let is_stopped = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        assert!(exclusive(second.as_fd(), Duration::from_secs(5), &is_stopped).unwrap().is_none());
        assert_eq!(looks.get(), 3, "it was asked, and asked no more");
    }
}
