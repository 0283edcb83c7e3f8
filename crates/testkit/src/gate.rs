//! Gates: they hold replies until a test releases them, so that no test has to guess how long something takes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// A gate that a script names with `held_by`. Initially closed.
#[derive(Debug, Clone)]
pub struct Gate {
    permits: Arc<Semaphore>,
}

impl Gate {
    fn closed() -> Self {
        Self { permits: Arc::new(Semaphore::new(0)) }
    }

    /// Lets `count` replies through, those waiting first.
    pub fn release(&self, count: usize) {
        self.permits.add_permits(count);
    }

    /// Opens the gate for good.
    pub fn open(&self) {
        self.permits.close();
    }

    pub(crate) async fn pass(&self) {
        // A closed semaphore is an open gate.
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }
}

/// The gates of one model or server, by name. A gate exists as soon as either side names it.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    by_name: Mutex<HashMap<String, Gate>>,
}

impl Gates {
    pub(crate) fn gate(&self, name: &str) -> Gate {
        let mut gates = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name.to_owned()).or_insert_with(Gate::closed).clone()
    }
}
