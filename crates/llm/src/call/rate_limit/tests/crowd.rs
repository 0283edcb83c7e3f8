//! Crowds of agents at a simulated endpoint. The clock advances only while everyone waits, so seconds cost nothing and
//! all runs are equal.

use std::collections::VecDeque;

use super::*;

const AGENTS: usize = 1000;

/// A simulated endpoint and the requests it has received.
struct Endpoint {
    /// Requests accepted in any one second.
    per_second: usize,
    /// Concurrent calls that it can handle; more are an overload.
    at_once: usize,
    /// Until this time it refuses every call with this error.
    down_until: Option<(Instant, ErrorKind)>,
    retry_after: Option<Duration>,
    times: Times,
    seen: Mutex<Seen>,
}

/// Durations of a request: the round trip, the time until a reply begins, and from there to its end.
#[derive(Debug, Clone, Copy)]
struct Times {
    way: Duration,
    think: Duration,
    write: Duration,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Instant>,
    taken: VecDeque<Instant>,
    at_work: usize,
}

/// Result of a crowd.
struct Told {
    requests: Vec<Instant>,
    took: Duration,
}

const fn times(way: u64, think: u64, write: u64) -> Times {
    let ms = Duration::from_millis;
    Times { way: ms(way), think: ms(think), write: ms(write) }
}

impl Endpoint {
    fn new(times: Times) -> Self {
        let (per_second, at_once) = (usize::MAX, usize::MAX);
        Self { per_second, at_once, down_until: None, retry_after: None, times, seen: Mutex::default() }
    }

    fn begin(&self) -> Result<(), ErrorKind> {
        let (now, mut seen) = (Instant::now(), self.seen.lock().unwrap());
        seen.requests.push(now);
        while seen.taken.front().is_some_and(|taken| now.duration_since(*taken) >= SECOND) {
            seen.taken.pop_front();
        }
        if let Some((_, kind)) = self.down_until.filter(|(until, _)| now < *until) {
            return Err(kind);
        }
        if seen.at_work >= self.at_once {
            return Err(ErrorKind::Overloaded);
        }
        if seen.taken.len() >= self.per_second {
            return Err(ErrorKind::RateLimited);
        }
        seen.taken.push_back(now);
        seen.at_work += 1;
        Ok(())
    }

    async fn answer(&self, permit: &mut Permit<'_>) -> Result<(), ModelError> {
        sleep(self.times.way / 2).await;
        let begun = self.begin();
        sleep(self.times.way / 2).await;
        begun.map_err(|kind| ModelError { retry_after: self.retry_after, ..ModelError::new(kind, "not now") })?;
        sleep(self.times.think).await;
        permit.accept();
        sleep(self.times.write).await;
        self.seen.lock().unwrap().at_work -= 1;
        Ok(())
    }

    /// A thousand agents ask at once, each until it gets an answer.
    async fn meets_a_crowd(self, limits: RateLimits) -> Told {
        self.meets(AGENTS, 1, &Arc::new(RateLimiter::new(limits))).await
    }

    /// Starts this many agents at once; each asks until it has its number of answers.
    async fn meets(self, agents: usize, answers: usize, limiter: &Arc<RateLimiter>) -> Told {
        const RETRY_BASE: Duration = Duration::from_millis(500);
        let (endpoint, begin) = (Arc::new(self), Instant::now());
        let agents = (0..agents).map(|_| {
            let (limiter, endpoint) = (Arc::clone(limiter), Arc::clone(&endpoint));
            tokio::spawn(async move {
                let mut answered = 0;
                while answered < answers {
                    let mut permit = limiter.acquire(0, None).await.unwrap();
                    match endpoint.answer(&mut permit).await {
                        Ok(()) => answered += 1,
                        Err(error) => drop(permit.refuse(&error, RETRY_BASE, 0.5)),
                    }
                }
            })
        });
        for agent in agents.collect::<Vec<_>>() {
            agent.await.unwrap();
        }
        let requests = endpoint.seen.lock().unwrap().requests.clone();
        Told { requests, took: begin.elapsed() }
    }
}

impl Told {
    /// The most requests in any one second, starting this long after the first.
    fn busiest_second(&self, from: Duration) -> usize {
        let requests: Vec<_> = self.requests.iter().filter(|at| at.duration_since(self.requests[0]) >= from).collect();
        let within_second = |at: Instant| requests.iter().filter(|other| (at..at + SECOND).contains(**other)).count();
        requests.iter().map(|at| within_second(**at)).max().unwrap_or_default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_configured_rate_is_never_exceeded() {
    for times in [times(2, 0, 0), times(100, 3000, 20_000)] {
        let endpoint = Endpoint { per_second: 55, ..Endpoint::new(times) };
        let told = endpoint.meets_a_crowd(per_minute(50 * 60)).await;
        assert_eq!(told.requests.len(), AGENTS, "none is refused");
        assert!(told.busiest_second(Duration::ZERO) <= 55, "{}", told.busiest_second(Duration::ZERO));
        let needed = SECOND * 20 + times.way + times.think + times.write;
        assert!(told.took < needed + SECOND, "{:?}", told.took);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unconfigured_rate_is_learnt_and_kept() {
    for times in [times(2, 0, 0), times(10, 0, 100), times(50, 1000, 100), times(100, 3000, 20_000)] {
        let endpoint = Endpoint { per_second: 50, retry_after: Some(SECOND), ..Endpoint::new(times) };
        let told = endpoint.meets_a_crowd(RateLimits::default()).await;
        assert!(told.requests.len() <= AGENTS * 11 / 10, "{times:?}: {} requests", told.requests.len());
        // The limit cannot be known in the first second.
        assert!(told.busiest_second(SECOND) <= 55, "{times:?}: {}", told.busiest_second(SECOND));
        let needed = SECOND * 20 + times.way + times.think + times.write;
        assert!(told.took < needed + SECOND * 10, "{times:?}: {:?}", told.took);
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_names_no_wait_is_not_flooded() {
    for times in [times(2, 0, 0), times(50, 1000, 100), times(100, 3000, 20_000)] {
        let endpoint = Endpoint { per_second: 50, ..Endpoint::new(times) };
        let told = endpoint.meets_a_crowd(RateLimits::default()).await;
        assert!(told.requests.len() <= AGENTS * 11 / 10, "{times:?}: {} requests", told.requests.len());
        assert!(told.took < Duration::from_mins(1) + times.write, "{times:?}: {:?}", told.took);
    }
}

#[tokio::test(start_paused = true)]
async fn all_agents_survive_an_outage_of_a_minute() {
    for times in [times(2, 0, 0), times(100, 1000, 1000)] {
        let down_until = Some((Instant::now() + Duration::from_mins(1), ErrorKind::Overloaded));
        let told = Endpoint { down_until, ..Endpoint::new(times) }.meets_a_crowd(RateLimits::default()).await;
        assert!(told.requests.len() <= AGENTS * 11 / 10, "{times:?}: {} requests", told.requests.len());
        assert!(told.took < Duration::from_mins(2), "{times:?}: {:?}", told.took);
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_with_few_slots_gets_few_calls_at_once() {
    let endpoint = Endpoint { at_once: 20, ..Endpoint::new(times(50, 0, 1000)) };
    let told = endpoint.meets_a_crowd(RateLimits::default()).await;
    assert!(told.requests.len() <= AGENTS * 12 / 10, "{} requests", told.requests.len());
    // At full capacity throughout, it would take a minute.
    assert!(told.took < Duration::from_mins(2), "{:?}", told.took);
}

#[tokio::test(start_paused = true)]
async fn the_demand_of_a_few_agents_is_not_mistaken_for_a_limit() {
    // One after the other, a few in sequence, or nobody at all before.
    for (agents, answers, each) in [(1, 8, 1500), (4, 3, 5000), (1, 1, 50), (1, 0, 0)] {
        for retry_after in [None, Some(SECOND), Some(SECOND * 3)] {
            let limiter = Arc::new(RateLimiter::new(RateLimits::default()));
            Endpoint::new(times(10, each, 0)).meets(agents, answers, &limiter).await;
            let down_until = Some((Instant::now() + SECOND, ErrorKind::RateLimited));
            let endpoint = Endpoint { down_until, retry_after, ..Endpoint::new(times(10, 0, 0)) };
            let told = endpoint.meets(12, 4, &limiter).await;
            let needed = retry_after.unwrap_or(SECOND);
            assert!(told.took < needed + SECOND, "{agents} of {each} ms, {retry_after:?}: {:?}", told.took);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dozen_agents_learn_a_low_rate_once_they_have_to_wait() {
    for times in [times(10, 0, 0), times(10, 0, 200), times(50, 1000, 1000)] {
        let endpoint = Endpoint { per_second: 5, retry_after: Some(SECOND), ..Endpoint::new(times) };
        let told = endpoint.meets(12, 20, &Arc::new(RateLimiter::new(RateLimits::default()))).await;
        assert!(told.requests.len() <= 12 * 20 * 11 / 10, "{times:?}: {} requests", told.requests.len());
        // At exactly its rate, it would take 48 seconds.
        assert!(told.took < SECOND * 75, "{times:?}: {:?}", told.took);
    }
}
