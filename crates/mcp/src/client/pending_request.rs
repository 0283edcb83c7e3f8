//! A request that the server has not answered yet. Its caller waits as long as there is progress, and never for ever.
//! When the caller stops waiting, in whatever way, the server is notified.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, RoleClient};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::client::notifications::Signs;

/// Time limit for a message to the server that needs no answer.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

pub(super) struct PendingRequest {
    peer: Peer<RoleClient>,
    /// `None` once there is nothing left to send.
    id: Option<RequestId>,
}

impl PendingRequest {
    pub(super) fn new(peer: &Peer<RoleClient>, id: RequestId) -> Self {
        Self { peer: peer.clone(), id: Some(id) }
    }

    /// Marks the request as answered, so that nothing is sent to the server.
    pub(super) fn answered(mut self) {
        self.id = None;
    }

    /// Notifies the server that nobody waits any more; true if that was sent in time.
    pub(super) async fn withdraw(mut self, why: &'static str) -> bool {
        match self.id.take() {
            Some(id) => withdraw(self.peer.clone(), id, why).await,
            None => true,
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) {
            runtime.spawn(withdraw(self.peer.clone(), id, "nobody waits for it any more"));
        }
    }
}

async fn withdraw(peer: Peer<RoleClient>, id: RequestId, why: &'static str) -> bool {
    let given_up = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
    timeout(FAREWELL, peer.notify_cancelled(given_up)).await.is_ok_and(|told| told.is_ok())
}

/// Limit in multiples of the timeout, whatever progress is reported.
pub(super) const MOST_TIMES: u32 = 10;

/// Reason to stop waiting for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// No progress for too long.
    Silent,
    /// There was progress, but no end.
    Endless,
    /// The caller stopped the request.
    Stopped,
}

/// Waits for an answer. Each sign of progress restarts the timeout.
pub(super) async fn wait<T>(
    answer: impl Future<Output = T>,
    signs: &mut Signs,
    within: Duration,
    cancel: &CancellationToken,
) -> Result<T, Unanswered> {
    let (mut answer, mut silence, mut whole) =
        (pin!(answer), pin!(sleep(within)), pin!(sleep(within.saturating_mul(MOST_TIMES))));
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return Ok(answer),
            () = cancel.cancelled() => return Err(Unanswered::Stopped),
            () = &mut whole => return Err(Unanswered::Endless),
            () = &mut silence => return Err(Unanswered::Silent),
            () = signs.next() => silence.as_mut().reset(Instant::now() + within),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::client::notifications::NotificationListener;
    use crate::client::notifications::tests::token;

    const WITHIN: Duration = Duration::from_secs(4);

    /// Result of waiting for an answer that never comes, and the time it took, given the progress reported each second.
    async fn waited(progress: impl Fn(u32) -> f64) -> (Unanswered, Duration) {
        let (listener, cancel, start) = (NotificationListener::default(), CancellationToken::new(), Instant::now());
        let mut signs = listener.follow(token());
        let speaks = async {
            for second in 0.. {
                listener.hears(progress(second));
                sleep(Duration::from_secs(1)).await;
            }
        };
        let ended = tokio::select! {
            ended = wait(pending::<()>(), &mut signs, WITHIN, &cancel) => ended,
            () = speaks => unreachable!("it speaks without end"),
        };
        (ended.unwrap_err(), start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn endless_progress_hits_a_limit() {
        assert_eq!(waited(f64::from).await, (Unanswered::Endless, WITHIN * MOST_TIMES));
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_that_does_not_grow_is_not_progress() {
        assert_eq!(waited(|_| 1.0).await, (Unanswered::Silent, WITHIN));
        assert_eq!(waited(|second| -f64::from(second)).await, (Unanswered::Silent, WITHIN));
        assert_eq!(waited(|_| f64::NAN).await, (Unanswered::Silent, WITHIN));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_with_progress_is_waited_for() {
        let (listener, cancel) = (NotificationListener::default(), CancellationToken::new());
        let mut signs = listener.follow(token());
        let answer = async {
            for second in 0..20 {
                listener.hears(f64::from(second));
                sleep(Duration::from_secs(1)).await;
            }
        };
        assert_eq!(wait(answer, &mut signs, WITHIN, &cancel).await, Ok(()));
    }
}
