//! Waits for hooks, with a note to the user when it takes long.

use std::pin::pin;

use sortie_engine::Hooks;

use super::complaints::Complaints;
use crate::error;
use crate::error::long_wait::LONG_WAIT;

/// Does work that hooks may delay, and notes that once if it takes long. A caller that gets this note drops the work on
/// Ctrl-C.
pub(crate) async fn while_they_run<T>(hooks: &dyn Hooks, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Ok(done) = tokio::time::timeout(LONG_WAIT, &mut work).await {
            return done;
        }
        let count = hooks.under_way().len();
        if count > 0 {
            let hooks = if count == 1 { "hook" } else { "hooks" };
            error::note(&format!("waiting for {count} {hooks} (Ctrl-C: do not wait)"));
            return work.await;
        }
    }
}

/// Waits for the running hooks, and reports their failures.
pub(crate) async fn settle(hooks: &dyn Hooks) {
    for complaint in while_they_run(hooks, hooks.settled()).await {
        error::warn(&complaint);
    }
}

/// Names the hooks that are not waited for; they end with this program.
pub(crate) fn tell_who_was_ended(hooks: &dyn Hooks) {
    let mut ended = Complaints::default();
    ended.extend(hooks.under_way().into_iter().map(|hook| format!("{hook} was ended early")));
    for hook in ended.take() {
        error::note(&hook);
    }
}
