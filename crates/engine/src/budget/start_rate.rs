//! Limit on sub-agents started per minute. It counts for one engine; another process has its own.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sortie_protocol::{Failure, FailureCode};
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_mins(1);

/// The starts of the last minute.
#[derive(Debug, Default)]
pub(crate) struct StartRate {
    starts: Mutex<VecDeque<Instant>>,
}

impl StartRate {
    /// Counts one more start, or returns a failure that says when to retry. Counts nothing without a limit.
    pub(crate) fn count(&self, most: Option<u32>) -> Result<(), Failure> {
        let Some(most) = most else { return Ok(()) };
        let (now, mut starts) = (Instant::now(), self.starts.lock().unwrap_or_else(PoisonError::into_inner));
        while starts.front().is_some_and(|start| now.duration_since(*start) >= MINUTE) {
            starts.pop_front();
        }
        if starts.len() < most as usize {
            starts.push_back(now);
            return Ok(());
        }
        // The limit is zero: no start will ever leave the window.
        let when = starts.front().map_or("continue without".to_owned(), |start| {
            let left = (*start + MINUTE).saturating_duration_since(now);
            format!("try again in {} s, or do this part yourself", left.as_millis().div_ceil(1000))
        });
        let message = format!(
            "no more than {most} sub-agents may be started within a minute (`task_tool.delegations_per_minute`); {when}"
        );
        Err(Failure::new(FailureCode::DelegationRate, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_window_slides_and_a_refusal_says_when_to_try_again() {
        let rate = StartRate::default();
        let refused = |most| rate.count(Some(most)).map_err(|failure| failure.message);
        assert_eq!(refused(2), Ok(()));
        tokio::time::advance(Duration::from_millis(20_500)).await;
        assert_eq!(refused(2), Ok(()));
        let told = "no more than 2 sub-agents may be started within a minute (`task_tool.delegations_per_minute`); ";
        assert_eq!(refused(2), Err(format!("{told}try again in 40 s, or do this part yourself")));
        tokio::time::advance(Duration::from_millis(39_500)).await;
        assert_eq!(refused(2), Ok(()), "the first was a minute ago");
        assert_eq!(refused(2), Err(format!("{told}try again in 21 s, or do this part yourself")));
        assert_eq!(rate.count(None), Ok(()));
    }

    #[test]
    fn a_limit_of_zero_tells_nobody_to_wait() {
        let refused = StartRate::default().count(Some(0)).map_err(|failure| failure.message);
        assert!(refused.is_err_and(|message| message.ends_with("; continue without")));
    }
}
