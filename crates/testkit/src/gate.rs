//! Gates and meetings, so that no test has to guess how long something takes. Gates hold replies until a test releases
//! them, meetings until enough of them wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use crate::script::Meeting;

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

/// The meetings of one model or server, by name, with the number of replies that wait in each.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    by_name: Mutex<HashMap<String, watch::Sender<usize>>>,
}

/// A reply waited in vain.
#[derive(Debug, thiserror::Error)]
#[error("meeting `{name}`: of {wanted} replies, {present} waited at once in {within_ms} ms")]
pub(crate) struct Missed {
    name: String,
    wanted: usize,
    present: usize,
    within_ms: u64,
}

impl Meetings {
    /// Waits for the others. Once all have met, the meeting stays open.
    pub(crate) async fn join(&self, meeting: &Meeting) -> Result<(), Missed> {
        let present = {
            let mut meetings = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
            meetings.entry(meeting.name.clone()).or_insert_with(|| watch::Sender::new(0)).clone()
        };
        let mut seen = present.subscribe();
        present.send_modify(|count| *count += 1);
        let presence = Presence(present);
        let within = Duration::from_millis(meeting.within_ms);
        if matches!(tokio::time::timeout(within, seen.wait_for(|count| *count >= meeting.count)).await, Ok(Ok(_))) {
            presence.stay();
            return Ok(());
        }
        let (name, present) = (meeting.name.clone(), *presence.0.borrow());
        Err(Missed { name, wanted: meeting.count, present, within_ms: meeting.within_ms })
    }
}

/// A waiting reply, until it stops waiting in vain.
struct Presence(watch::Sender<usize>);

impl Presence {
    /// Counts for good.
    fn stay(self) {
        self.0.send_modify(|count| *count += 1);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
