//! Progress of a call, for a host that waits for it: turn, calls, tokens, time and latest action. It is sent a few
//! times a second while something changes, and every few seconds otherwise, so that no host assumes the call is dead.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
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
    peer: &'a Peer<RoleServer>,
    token: ProgressToken,
    /// Number of messages so far; the protocol wants a growing figure.
    count: AtomicU32,
}

/// Reports that a task is about to start, which may take a while if servers of others must be reached for it. Until
/// dropped.
pub(super) async fn while_starting(progress: Option<&Progress<'_>>) -> Infallible {
    if let Some(progress) = progress {
        while progress.say("starting".to_owned()).await {
            tokio::time::sleep(HEARTBEAT).await;
        }
    }
    std::future::pending().await
}

/// Reports the progress of the first of these tasks that works, in whichever process, until dropped. A host that no
/// longer listens gets nothing; while none works, one gets their ids.
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

impl<'a> Progress<'a> {
    pub(super) fn new(peer: &'a Peer<RoleServer>, token: ProgressToken) -> Self {
        Self { peer, token, count: AtomicU32::new(0) }
    }

    /// Sends one message; false if the host no longer listens.
    async fn say(&self, line: String) -> bool {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let progress = ProgressNotificationParam::new(self.token.clone(), f64::from(count));
        self.peer.notify_progress(progress.with_message(line)).await.is_ok()
    }

    /// Returns when the host no longer listens.
    async fn tell(&self, engine_host: &Host, tasks: &[TaskId]) {
        let mut told = (None, Instant::now());
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
                let line = glance.as_ref().map_or_else(|| waiting_for(tasks), |glance| doing(engine_host, glance));
                if !self.say(line).await {
                    return;
                }
                told = (work, Instant::now());
            }
            tokio::time::sleep(PERIOD).await;
        }
    }
}

/// The status of a task in one line. It waits for a slot only if all are taken.
fn doing(engine_host: &Host, glance: &Glance) -> String {
    match glance.stand {
        Stand::Waits if engine_host.has_free_slot() => format!("{} {} starting", glance.task, glance.agent),
        _ => glance_line(glance),
    }
}

fn waiting_for(tasks: &[TaskId]) -> String {
    let ids: Vec<String> = tasks.iter().map(TaskId::to_string).collect();
    if ids.is_empty() { "working".to_owned() } else { format!("waiting for {}", ids.join(", ")) }
}

/// The part of a status whose changes matter: all but the time. `None` before it works.
fn timeless(glance: &Glance) -> Option<Work> {
    match &glance.stand {
        Stand::Works(work) => Some(Work { elapsed: Duration::ZERO, ..work.clone() }),
        _ => None,
    }
}
