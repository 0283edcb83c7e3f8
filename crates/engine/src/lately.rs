//! What a running task did last, for whoever asks meanwhile. A glance, not a record: the log is that.

use std::sync::{Mutex, PoisonError};

use sortie_protocol::Fact;
use tokio::time::Instant;

/// A task at a glance.
#[derive(Debug)]
pub(crate) struct Lately {
    pub(crate) since: Instant,
    glimpse: Mutex<Glimpse>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Glimpse {
    pub(crate) admitted: bool,
    pub(crate) turn: u32,
    /// In a few words; empty before it did anything.
    pub(crate) last: String,
}

impl Default for Lately {
    fn default() -> Self {
        Self { since: Instant::now(), glimpse: Mutex::default() }
    }
}

impl Lately {
    pub(crate) fn see(&self, fact: &Fact) {
        let mut glimpse = self.glimpse.lock().unwrap_or_else(PoisonError::into_inner);
        match fact {
            Fact::TaskAdmitted => glimpse.admitted = true,
            Fact::ModelCalled { turn } => {
                glimpse.turn = *turn;
                "thinking".clone_into(&mut glimpse.last);
            }
            Fact::CallStarted { call, .. } => glimpse.last.clone_from(&call.tool),
            Fact::QuestionAsked { .. } => "waiting for an answer".clone_into(&mut glimpse.last),
            Fact::TaskParked { waits_for } => glimpse.last = format!("waiting for {} sub-agents", waits_for.len()),
            _ => {}
        }
    }

    pub(crate) fn glimpse(&self) -> Glimpse {
        self.glimpse.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
