//! Counts of calls, for tests that wait for a state instead of sleeping.

use tokio::sync::watch;

/// Traffic of a scripted model or server so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls begun.
    pub calls: u64,
    /// Calls that were neither answered nor abandoned.
    pub in_flight: u64,
    /// Most calls ever in flight at once.
    pub max_in_flight: u64,
    /// Calls that the caller aborted before the reply was sent.
    pub abandoned: u64,
    /// Connections open now. Always 0 for a model in memory.
    pub open_connections: u64,
    /// Connections ever accepted. Always 0 for a model in memory.
    pub connections: u64,
}

/// Keeps the counts and notifies those who wait for them.
#[derive(Debug)]
pub(crate) struct TrafficCounter {
    counts: watch::Sender<Traffic>,
}

/// One call, from its start to its end; if dropped without [`CallInFlight::answered`], it was abandoned.
#[derive(Debug)]
pub(crate) struct CallInFlight<'a> {
    counter: &'a TrafficCounter,
    answered: bool,
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct OpenConnection<'a> {
    counter: &'a TrafficCounter,
}

impl TrafficCounter {
    pub(crate) fn new() -> Self {
        Self { counts: watch::Sender::new(Traffic::default()) }
    }

    pub(crate) fn counts(&self) -> Traffic {
        *self.counts.borrow()
    }

    /// Waits until the counts are as wanted, and returns them.
    pub(crate) async fn reaches(&self, wanted: impl FnMut(&Traffic) -> bool) -> Traffic {
        let mut counts = self.counts.subscribe();
        // The sender lives as long as `self`, so the channel cannot be closed while this waits.
        match counts.wait_for(wanted).await.map(|counts| *counts) {
            Ok(counts) => counts,
            Err(_) => self.counts(),
        }
    }

    pub(crate) fn begin_call(&self) -> CallInFlight<'_> {
        self.counts.send_modify(|counts| {
            counts.calls += 1;
            counts.in_flight += 1;
            counts.max_in_flight = counts.max_in_flight.max(counts.in_flight);
        });
        CallInFlight { counter: self, answered: false }
    }

    pub(crate) fn open_connection(&self) -> OpenConnection<'_> {
        self.counts.send_modify(|counts| {
            counts.connections += 1;
            counts.open_connections += 1;
        });
        OpenConnection { counter: self }
    }
}

impl CallInFlight<'_> {
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for CallInFlight<'_> {
    fn drop(&mut self) {
        self.counter.counts.send_modify(|counts| {
            counts.in_flight -= 1;
            counts.abandoned += u64::from(!self.answered);
        });
    }
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.counter.counts.send_modify(|counts| counts.open_connections -= 1);
    }
}
