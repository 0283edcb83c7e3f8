//! Progress of a call, for a host that waits for it: turn, calls, tokens, time and latest action. It is sent a few
//! times a second while something changes, and every few seconds otherwise, so that no host assumes the call is dead.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use sortie_engine::{Host, TaskObserver};
use sortie_protocol::TaskId;
use sortie_tools::{Glance, Stand, Work, glance_line};
use tokio::time::Instant;

/// Interval of checks for changes.
const PERIOD: Duration = Duration::from_millis(250);
/// Longest silence before the progress is sent again.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Recipient of progress, and its token.
pub(super) struct Progress<'a> {
    pub(super) peer: &'a Peer<RoleServer>,
    pub(super) token: ProgressToken,
}

/// Reports the progress of the first of these tasks that works, in whichever process, until dropped. A host that no
/// longer listens gets nothing.
pub(super) async fn while_waiting(
    progress: Option<&Progress<'_>>,
    engine_host: &Host,
    tasks: Vec<TaskId>,
) -> Infallible {
    if let Some(progress) = progress {
        progress.tell(engine_host, &tasks).await;
    }
    std::future::pending().await
}

impl Progress<'_> {
    /// Returns when the host no longer listens.
    async fn tell(&self, engine_host: &Host, tasks: &[TaskId]) {
        let mut told = (None, Instant::now());
        let mut count = 0_u32;
        let mut observers: Vec<TaskObserver> = tasks.iter().map(|task| engine_host.observe(*task)).collect();
        loop {
            let mut glance = None;
            for observer in &mut observers {
                glance = observer.glance().await;
                if glance.is_some() {
                    break;
                }
            }
            let work = glance.as_ref().map(timeless);
            if work.is_some() && work != told.0 || told.1.elapsed() >= HEARTBEAT {
                count += 1;
                let line = glance.as_ref().map_or_else(|| "waiting".to_owned(), glance_line);
                let progress = ProgressNotificationParam::new(self.token.clone(), f64::from(count));
                if self.peer.notify_progress(progress.with_message(line)).await.is_err() {
                    return;
                }
                told = (work, Instant::now());
            }
            tokio::time::sleep(PERIOD).await;
        }
    }
}

/// The part of a status whose changes matter: all but the time. `None` while it waits for a slot.
fn timeless(glance: &Glance) -> Option<Work> {
    match &glance.stand {
        Stand::Works(work) => Some(Work { elapsed: Duration::ZERO, ..work.clone() }),
        _ => None,
    }
}
