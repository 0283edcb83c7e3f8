//! How a call comes along, for a host that waits for it: turn, calls, tokens, time and what was done last, a few times a
//! second while something changes, and every few seconds while nothing does, so that no host takes it for dead.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use sortie_engine::Visitor;
use sortie_protocol::TaskId;
use sortie_tools::{Glance, Stand, Work, glance_line};
use tokio::time::Instant;

/// How often it is looked whether something has changed.
const PERIOD: Duration = Duration::from_millis(250);
/// After so much silence the host is told again.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Tells the host until somebody drops this. A host that does not listen any more is told nothing.
pub(super) async fn tell(
    visitor: &Visitor,
    task: TaskId,
    (peer, token): (&Peer<RoleServer>, &ProgressToken),
) -> Infallible {
    let mut told: Option<(Option<Work>, Instant)> = None;
    let mut count = 0_u32;
    loop {
        if let Some(glance) = visitor.glimpse(task) {
            let work = timeless(&glance);
            let is_news = told.as_ref().is_none_or(|(last, at)| *last != work || at.elapsed() >= HEARTBEAT);
            if is_news {
                count += 1;
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(count));
                if peer.notify_progress(progress.with_message(glance_line(&glance))).await.is_err() {
                    return std::future::pending().await;
                }
                told = Some((work, Instant::now()));
            }
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// What is news when it changes: all but the time. `None` while it waits for a slot.
fn timeless(glance: &Glance) -> Option<Work> {
    match &glance.stand {
        Stand::Works(work) => Some(Work { elapsed: Duration::ZERO, ..work.clone() }),
        _ => None,
    }
}
