//! Names of hooks that run or are queued.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names of running hooks, once for each run.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningHooks {
    names: Arc<Mutex<Vec<String>>>,
}

impl RunningHooks {
    /// Adds a name until the returned value is dropped.
    pub(super) fn enter(&self, name: String) -> Stay {
        self.lock().push(name.clone());
        Stay { under_way: self.clone(), name }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Running hook.
pub(super) struct Stay {
    under_way: RunningHooks,
    name: String,
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut names = self.under_way.lock();
        if let Some(place) = names.iter().position(|name| *name == self.name) {
            names.remove(place);
        }
    }
}
