//! The executor of started tasks. There is one: the runtime of this process. Another one would take over here.

use tokio::task::JoinHandle;

/// Sets a started task going on its own: it runs to its recorded end even if nobody waits any more.
pub(crate) fn execute_here<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(task)
}
