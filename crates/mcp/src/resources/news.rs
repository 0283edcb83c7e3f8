//! Change notifications for hosts: agents or templates have changed, there is a new task, a subscribed resource has
//! changed.
//!
//! One watcher per process polls twice a second, and only while a session listens; each session compares the result
//! with its last notifications. The progress of a running task is not reported here, but by `progress`.

mod differences;
mod outlet;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use sortie_agents::Agents;
use tokio::sync::watch;

use self::differences::{Differences, Edition};
use self::outlet::Outlet;
pub(crate) use self::outlet::{Subscriptions, accepted};
use crate::resources::Records;

/// A poll costs a listing of a few folders and one query to the journal.
const EVERY: Duration = Duration::from_millis(500);

/// The watcher shared by all sessions of a process.
pub(crate) struct News {
    agents: Arc<dyn Agents>,
    records: Records,
    /// `None` until a session listens.
    sender: Mutex<Option<watch::Sender<Edition>>>,
}

impl News {
    pub(crate) fn new(agents: Arc<dyn Agents>, records: Records) -> Arc<Self> {
        Arc::new(Self { agents, records, sender: Mutex::default() })
    }

    /// Notifies one session of changes, until it is closed.
    pub(crate) async fn tell(self: &Arc<Self>, peer: Peer<RoleServer>, subscriptions: Subscriptions) {
        self.report(Outlet::Session { peer, subscriptions }).await;
    }

    /// Notifies one `subscriptions/listen` of changes, until it is cancelled.
    pub(crate) async fn listen(self: &Arc<Self>, context: SubscriptionContext) -> Result<(), ErrorData> {
        let report = self.report(Outlet::Listener(context.sink().clone()));
        tokio::select! {
            () = report => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }

    async fn report(self: &Arc<Self>, outlet: Outlet) {
        let Some(first) = self.look().await else { return };
        let mut differences = Differences::since(first, self.records.clone()).await;
        let mut editions = self.subscribe(differences.edition());
        while editions.changed().await.is_ok() && !outlet.is_closed() {
            let edition = editions.borrow_and_update().clone();
            for change in differences.find(edition, &outlet.subscribed()).await {
                if outlet.send(change).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Subscribes to future editions. The watcher starts with its first reader and ends after its last one.
    fn subscribe(self: &Arc<Self>, now: Edition) -> watch::Receiver<Edition> {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref() {
            return sender.subscribe();
        }
        let (started, receiver) = watch::channel(now);
        *sender = Some(started);
        tokio::spawn(Arc::clone(self).look_out());
        receiver
    }

    async fn look_out(self: Arc<Self>) {
        loop {
            tokio::time::sleep(EVERY).await;
            let edition = self.look().await;
            let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
            let is_read = sender.as_ref().is_some_and(|sender| sender.receiver_count() > 0);
            match (edition, &*sender) {
                // Sent even without changes, so that readers notice if their session is closed.
                (Some(edition), Some(sender)) if is_read => drop(sender.send_replace(edition)),
                _ => {
                    *sender = None;
                    return;
                }
            }
        }
    }

    /// Polls once; `None` if that panicked: then notifications end, and nothing else suffers.
    async fn look(self: &Arc<Self>) -> Option<Edition> {
        let this = Arc::clone(self);
        let look = move || Edition { agents: this.agents.current(), end: this.records.journal.end().ok() };
        tokio::task::spawn_blocking(look).await.ok()
    }
}
