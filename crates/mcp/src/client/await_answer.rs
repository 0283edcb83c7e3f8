//! Waits for an answer: while there are signs that it comes, and never without an end.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::client::notifications::Signs;

/// Whatever progress is reported, nothing takes longer than so many times what it may take without a sign.
pub(super) const MOST_TIMES: u32 = 10;

/// Why an answer is not waited for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// There was no sign of it for too long.
    Silent,
    /// There were signs, but it did not come.
    Endless,
    /// Nobody wants it any more.
    Stopped,
}

/// Waits for an answer. Each sign gives it its time anew.
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

    /// How the wait for an answer that never comes ends, and after how long, if there is a number each second.
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
    async fn progress_without_end_comes_to_an_end() {
        assert_eq!(waited(f64::from).await, (Unanswered::Endless, WITHIN * MOST_TIMES));
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_that_does_not_grow_is_no_sign() {
        assert_eq!(waited(|_| 1.0).await, (Unanswered::Silent, WITHIN));
        assert_eq!(waited(|second| -f64::from(second)).await, (Unanswered::Silent, WITHIN));
        assert_eq!(waited(|_| f64::NAN).await, (Unanswered::Silent, WITHIN));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_takes_long_and_comes_along_is_waited_for() {
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
