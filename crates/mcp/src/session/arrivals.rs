//! Arrivals: the order in which the calls of a session came, so that they can be admitted in that order.
//!
//! The protocol library handles calls at the same time. A place travels with its call.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::request::Parts;
use rmcp::model::Extensions;
use tokio::sync::watch;

/// The calls of a session that still hold up later ones.
#[derive(Debug)]
pub(crate) struct Arrivals {
    waiting: Mutex<Waiting>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Waiting {
    arrived: u64,
    places: BTreeSet<u64>,
}

/// Place of a call. Later calls are next once it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    arrivals: Arc<Arrivals>,
    number: u64,
}

impl Arrivals {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), changed: watch::Sender::new(()) })
    }

    /// Returns the place of the next call.
    pub(crate) fn next(self: &Arc<Self>) -> Arc<Place> {
        let mut waiting = self.lock();
        waiting.arrived += 1;
        let number = waiting.arrived;
        waiting.places.insert(number);
        Arc::new(Place { arrivals: Arc::clone(self), number })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Takes the place that travels with a call: beside it, or over HTTP with the head of its request.
    pub(crate) fn take(extensions: &mut Extensions) -> Option<Arc<Self>> {
        let of_head = |head: &mut Parts| head.extensions.remove::<Arc<Self>>();
        extensions.remove::<Arc<Self>>().or_else(|| extensions.get_mut::<Parts>().and_then(of_head))
    }

    /// Waits until no earlier call holds up this one.
    pub(crate) async fn is_due(&self) {
        let mut changed = self.arrivals.changed.subscribe();
        while self.arrivals.lock().places.first().is_some_and(|first| *first < self.number) {
            // The sender is in `self`.
            changed.changed().await.ok();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.arrivals.lock().places.remove(&self.number);
        self.arrivals.changed.send_replace(());
    }
}
