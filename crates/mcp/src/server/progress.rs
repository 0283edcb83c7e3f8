//! The progress of a call, for a host that waits for it: turn, calls, tokens, time and what was done last, a few times
//! a second while something changes, and every few seconds while nothing does, so that no host takes it for dead.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use sortie_engine::Host;
use sortie_protocol::TaskId;
use sortie_tools::{Glance, Stand, Work, glance_line};
use tokio::time::Instant;

/// How often it is looked whether something has changed.
const PERIOD: Duration = Duration::from_millis(250);
/// After so much silence the host is told again.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Where a host wants to be told, and under which name.
pub(super) struct Progress<'a> {
    pub(super) peer: &'a Peer<RoleServer>,
    pub(super) token: ProgressToken,
}

/// Tells the host of the first of these tasks that works here, until somebody drops this. One that works elsewhere
/// cannot be seen so quickly: then it is told that it waits. A host that does not listen any more is told nothing.
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
    /// Returns when the host does not listen any more.
    async fn tell(&self, engine_host: &Host, tasks: &[TaskId]) {
        let mut told = (None, Instant::now());
        let mut count = 0_u32;
        loop {
            let glance = tasks.iter().find_map(|task| engine_host.glimpse(*task));
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

/// What is news when it changes: all but the time. `None` while it waits for a slot.
fn timeless(glance: &Glance) -> Option<Work> {
    match &glance.stand {
        Stand::Works(work) => Some(Work { elapsed: Duration::ZERO, ..work.clone() }),
        _ => None,
    }
}
