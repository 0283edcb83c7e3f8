//! Retries of a failed call: a pure plan, without clock, randomness or connection of its own.

use std::time::Duration;

use tokio::time::Instant;

use super::rate_limit::LONGEST_WAIT;
use crate::route::CallSettings;
use crate::{ErrorKind, ModelError};

const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// Retries for an address that never answered. Few, so that a person with a wrong address hears of it soon.
const MAX_UNREACHABLE: u32 = 2;

/// The retries of one call.
#[derive(Debug)]
pub(crate) struct Retries {
    settings: CallSettings,
    deadline: Option<Instant>,
    made: u32,
    unreachable: u32,
    /// Tries refused for rate or load, and the time of the first one.
    refused: u32,
    refused_since: Option<Instant>,
}

/// Experience with a server: if it has answered before, it is worth waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    NeverSeen,
    Answered,
}

/// A permitted retry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// Number of the retry, from 1.
    pub(crate) attempt: u32,
    /// Retries used so far of those allowed, this one included.
    pub(crate) made: u32,
    pub(crate) wait: Duration,
}

impl Retries {
    /// Plans the retries of a call that has already used `made` of them.
    pub(crate) fn new(settings: CallSettings, deadline: Option<Instant>, made: u32) -> Self {
        Self { settings, deadline, made, unreachable: 0, refused: 0, refused_since: None }
    }

    /// Returns the retry after `error`, or `None` if the error is final. `jitter` is a random number from 0 to 1.
    pub(crate) fn after(&mut self, error: &ModelError, server: Server, now: Instant, jitter: f64) -> Option<Retry> {
        if !error.kind.is_retryable() || self.made >= self.settings.max_retries {
            return None;
        }
        if error.kind == ErrorKind::Unreachable && server == Server::NeverSeen {
            self.unreachable += 1;
            if self.unreachable > MAX_UNREACHABLE {
                return None;
            }
        }
        let wait = self.wait(error.retry_after, jitter);
        if !self.allows(wait, now) {
            return None;
        }
        self.made += 1;
        Some(self.retry(wait))
    }

    /// Returns the retry after a refusal that every caller of the endpoint waits out. It is not the call's own fault
    /// and uses up none of its retries, unless none are allowed at all. An endpoint that accepts nobody's calls is
    /// eventually given up.
    pub(crate) fn after_refusal(
        &mut self,
        wait: Duration,
        last_accepted: Option<Instant>,
        now: Instant,
    ) -> Option<Retry> {
        let since = *self.refused_since.get_or_insert(now);
        let since = last_accepted.map_or(since, |taken| taken.max(since));
        if self.settings.max_retries == 0 || !self.allows(wait, now) || now + wait > since + LONGEST_WAIT {
            return None;
        }
        self.refused += 1;
        Some(self.retry(wait))
    }

    fn allows(&self, wait: Duration, now: Instant) -> bool {
        wait <= LONGEST_WAIT && self.deadline.is_none_or(|deadline| now + wait < deadline)
    }

    fn retry(&self, wait: Duration) -> Retry {
        Retry { attempt: self.made + self.refused, made: self.made, wait }
    }

    /// Number of tries, for the message of the final error.
    pub(crate) fn tries(&self) -> u32 {
        self.made + self.refused + 1
    }

    /// Full jitter over a doubling bound. A provider that asks for a wait gets at least that, and jitter spreads the
    /// callers after it. A requested wait of zero does not shorten the backoff.
    fn wait(&self, asked: Option<Duration>, jitter: f64) -> Duration {
        let base = self.settings.retry_base;
        let jitter = jitter.clamp(0.0, 1.0);
        let backoff = base.saturating_mul(2_u32.saturating_pow(self.made)).min(LONGEST_BACKOFF).mul_f64(jitter);
        asked.map_or(backoff, |asked| asked.saturating_add(base.mul_f64(jitter)).max(backoff))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> CallSettings {
        CallSettings { max_retries: 5, retry_base: Duration::from_millis(500), ..CallSettings::default() }
    }

    fn error(kind: ErrorKind) -> ModelError {
        ModelError::new(kind, "it broke")
    }

    /// Fails repeatedly with one error and lists the waits, in milliseconds, until the error is final.
    fn waits(error: &ModelError, deadline: Option<Duration>, jitter: f64) -> Vec<u128> {
        waits_for(error, Server::NeverSeen, deadline, jitter)
    }

    fn waits_for(error: &ModelError, server: Server, deadline: Option<Duration>, jitter: f64) -> Vec<u128> {
        let mut now = Instant::now();
        let mut retries = Retries::new(settings(), deadline.map(|after| now + after), 0);
        let mut waits = Vec::new();
        while let Some(retry) = retries.after(error, server, now, jitter) {
            assert_eq!(retry.attempt as usize, waits.len() + 1);
            now += retry.wait;
            waits.push(retry.wait.as_millis());
        }
        waits
    }

    #[test]
    fn waits_double_up_to_the_number_of_retries() {
        assert_eq!(waits(&error(ErrorKind::Server), None, 1.0), [500, 1000, 2000, 4000, 8000]);
    }

    #[test]
    fn earlier_retries_count_and_the_waits_keep_doubling() {
        let mut retries = Retries::new(settings(), None, 3);
        let now = Instant::now();
        let mut retry = || retries.after(&error(ErrorKind::Cut), Server::Answered, now, 1.0);
        let (fourth, fifth) = (Duration::from_secs(4), Duration::from_secs(8));
        assert_eq!(retry(), Some(Retry { attempt: 4, made: 4, wait: fourth }));
        assert_eq!(retry(), Some(Retry { attempt: 5, made: 5, wait: fifth }));
        assert_eq!(retry(), None);
        assert_eq!(retries.tries(), 6);
    }

    #[test]
    fn jitter_ranges_from_no_wait_to_the_whole_wait() {
        assert_eq!(waits(&error(ErrorKind::Cut), None, 0.0), [0, 0, 0, 0, 0]);
        assert_eq!(waits(&error(ErrorKind::Cut), None, 0.5), [250, 500, 1000, 2000, 4000]);
    }

    #[test]
    fn a_retry_never_comes_earlier_than_the_provider_asked() {
        let limited = ModelError { retry_after: Some(Duration::from_secs(7)), ..error(ErrorKind::RateLimited) };
        assert_eq!(waits(&limited, None, 0.0), [7000; 5]);
        assert_eq!(waits(&limited, None, 1.0), [7500, 7500, 7500, 7500, 8000]);
    }

    #[test]
    fn a_requested_wait_of_zero_does_not_shorten_the_backoff() {
        let limited = ModelError { retry_after: Some(Duration::ZERO), ..error(ErrorKind::RateLimited) };
        assert_eq!(waits(&limited, None, 1.0), [500, 1000, 2000, 4000, 8000]);
        assert_eq!(waits(&limited, None, 0.5), [250, 500, 1000, 2000, 4000]);
    }

    #[test]
    fn no_wait_passes_the_deadline() {
        let server = error(ErrorKind::Server);
        assert_eq!(waits(&server, Some(Duration::from_millis(3600)), 1.0), [500, 1000, 2000]);
        assert_eq!(waits(&server, Some(Duration::ZERO), 0.0), [] as [u128; 0]);
        let limited = ModelError { retry_after: Some(Duration::from_secs(7)), ..error(ErrorKind::RateLimited) };
        assert_eq!(waits(&limited, Some(Duration::from_secs(7)), 0.0), [] as [u128; 0]);
    }

    #[test]
    fn a_requested_wait_of_an_hour_is_an_error() {
        let limited = ModelError { retry_after: Some(Duration::from_hours(1)), ..error(ErrorKind::RateLimited) };
        assert_eq!(waits(&limited, None, 0.0), [] as [u128; 0]);
    }

    #[test]
    fn a_refusal_of_the_endpoint_uses_up_no_retry() {
        let (begin, minute) = (Instant::now(), Duration::from_mins(1));
        let mut retries = Retries::new(CallSettings { max_retries: 1, ..settings() }, None, 0);
        let attempts: Vec<u32> = (0..100)
            .filter_map(|step| {
                let now = begin + minute * step;
                retries.after_refusal(minute, Some(now), now)
            })
            .map(|retry| retry.attempt)
            .collect();
        assert_eq!(attempts, (1..=100).collect::<Vec<_>>(), "others are served meanwhile");
        let broken = retries.after(&error(ErrorKind::Server), Server::Answered, begin, 0.0);
        assert_eq!(broken.map(|retry| retry.attempt), Some(101));
        assert_eq!(retries.after(&error(ErrorKind::Server), Server::Answered, begin, 0.0), None);
        assert_eq!(retries.tries(), 102);
    }

    #[test]
    fn an_endpoint_that_serves_nobody_is_given_up_after_five_minutes() {
        let begin = Instant::now();
        let refusals = |last_accepted: Option<Instant>| {
            let mut retries = Retries::new(settings(), None, 0);
            let half_minutes = (0_u32..).map(|step| begin + Duration::from_secs(30) * step);
            half_minutes.map_while(|now| retries.after_refusal(Duration::from_secs(30), last_accepted, now)).count()
        };
        assert_eq!(refusals(None), 10);
        assert_eq!(refusals(Some(begin + Duration::from_mins(2))), 14);
    }

    #[test]
    fn no_refusal_is_retried_after_the_deadline_or_without_retries() {
        let (now, wait) = (Instant::now(), Duration::from_secs(7));
        let after = |settings, deadline| Retries::new(settings, deadline, 0).after_refusal(wait, None, now);
        assert_eq!(after(settings(), Some(now + wait)), None);
        assert!(after(settings(), Some(now + wait * 2)).is_some());
        assert_eq!(after(CallSettings { max_retries: 0, ..settings() }, None), None);
        let long = Retries::new(settings(), None, 0).after_refusal(Duration::from_hours(1), None, now);
        assert_eq!(long, None);
    }

    #[test]
    fn an_unreachable_server_is_tried_three_times() {
        assert_eq!(waits(&error(ErrorKind::Unreachable), None, 1.0), [500, 1000]);
    }

    #[test]
    fn a_server_that_answered_before_gets_all_retries() {
        let waits = waits_for(&error(ErrorKind::Unreachable), Server::Answered, None, 1.0);
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000]);
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        for kind in
            [ErrorKind::Auth, ErrorKind::NotFound, ErrorKind::BadRequest, ErrorKind::ContextLength, ErrorKind::Setup]
        {
            assert_eq!(waits(&error(kind), None, 0.0), [] as [u128; 0], "{kind:?}");
        }
    }
}
