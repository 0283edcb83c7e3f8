mod crowd;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn per_minute(requests_per_minute: u64) -> RateLimits {
    RateLimits { requests_per_minute: Some(requests_per_minute), ..RateLimits::default() }
}

fn at_once(max_connections: u64) -> RateLimits {
    RateLimits { max_connections: Some(max_connections), ..RateLimits::default() }
}

fn refused(retry_after: Duration) -> ModelError {
    ModelError { retry_after: Some(retry_after), ..ModelError::new(ErrorKind::RateLimited, "too many") }
}

/// One call is refused with this wait.
async fn refuse(limiter: &RateLimiter, retry_after: Duration) -> Duration {
    limiter.acquire(0, None).await.unwrap().refuse(&refused(retry_after), Duration::ZERO, 0.0)
}

#[tokio::test(start_paused = true)]
async fn without_limits_and_refusals_a_usual_number_is_admitted_at_once() {
    let (limiter, begin) = (RateLimiter::new(RateLimits::default()), Instant::now());
    let mut passes = Vec::new();
    for _ in 0..24 {
        passes.push(limiter.acquire(1_000_000, None).await.unwrap());
    }
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn callers_are_admitted_in_order_of_arrival() {
    let (limiter, begin) = (Arc::new(RateLimiter::new(per_minute(60))), Instant::now());
    let order = Arc::new(Mutex::new(Vec::new()));
    let callers = (0..10).map(|number| {
        let (limiter, order) = (Arc::clone(&limiter), Arc::clone(&order));
        tokio::spawn(async move {
            // Longer calls do not make the next one wait.
            let _permit = limiter.acquire(0, None).await.unwrap();
            order.lock().unwrap().push((number, begin.elapsed().as_millis().div_ceil(1000)));
            sleep(Duration::from_secs(100 - number)).await;
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), (0..10).map(|number| (number, u128::from(number))).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_the_queue_makes_way_for_the_next() {
    let limiter = RateLimiter::new(at_once(1));
    let permit = limiter.acquire(0, None).await.unwrap();
    let mut first = Box::pin(limiter.acquire(0, None));
    let mut second = Box::pin(limiter.acquire(0, None));
    assert!(by_now(&mut first).await.is_none() && by_now(&mut second).await.is_none());
    drop(first);
    assert!(by_now(&mut second).await.is_none(), "there is one at work");
    drop(permit);
    assert!(by_now(&mut second).await.is_some());
}

/// The result of a future, if it is ready by now.
async fn by_now<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_endpoint_asks_for_applies_to_all_callers() {
    let (limiter, begin) = (RateLimiter::new(RateLimits::default()), Instant::now());
    let at_work = limiter.acquire(0, None).await.unwrap();
    assert_eq!(refuse(&limiter, SECOND * 7).await, SECOND * 7);
    drop(limiter.acquire(0, None).await.unwrap());
    assert_eq!(begin.elapsed(), SECOND * 7);
    // The call that was under way meanwhile gets a longer wait.
    assert_eq!(at_work.refuse(&refused(SECOND * 9), Duration::ZERO, 0.0), SECOND * 9);
    drop(limiter.acquire(0, None).await.unwrap());
    assert_eq!(begin.elapsed(), SECOND * 16);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_past_a_deadline_or_for_an_hour() {
    let (limiter, begin) = (RateLimiter::new(RateLimits::default()), Instant::now());
    refuse(&limiter, SECOND * 7).await;
    let too_soon = limiter.acquire(0, Some(begin + SECOND * 7)).await.err();
    assert_eq!((too_soon, begin.elapsed()), (Some(TooLong::Deadline), Duration::ZERO), "it is known at once");
    assert!(limiter.acquire(0, Some(begin + SECOND * 8)).await.is_ok());

    let (full, begin) = (RateLimiter::new(at_once(1)), Instant::now());
    let _permit = full.acquire(0, None).await.unwrap();
    assert_eq!(full.acquire(0, Some(begin + SECOND)).await.err(), Some(TooLong::Deadline));
    assert_eq!(begin.elapsed(), SECOND, "it might have been over in time");

    refuse(&limiter, Duration::from_hours(1)).await;
    assert_eq!(limiter.acquire(0, None).await.err(), Some(TooLong::Closed(Duration::from_hours(1))));
    assert_eq!(refuse(&RateLimiter::new(RateLimits::default()), Duration::MAX).await, Duration::from_hours(24));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_charged_as_estimated_and_corrected_later() {
    let limits = RateLimits { tokens_per_minute: Some(60_000), ..RateLimits::default() };
    let (limiter, begin) = (RateLimiter::new(limits), Instant::now());
    let waited = || begin.elapsed().as_secs();
    let first = limiter.acquire(20_000, None).await.unwrap();
    let second = limiter.acquire(1000, None).await.unwrap();
    assert_eq!(waited(), 14, "a thousand a second, and six seconds ahead at most");
    first.settle(10_000);
    let third = limiter.acquire(0, None).await.unwrap();
    assert_eq!(waited(), 14);
    second.settle(31_000);
    third.settle(0);
    drop(limiter.acquire(0, None).await.unwrap());
    assert_eq!(waited(), 14 + 30 - 6);
}

#[test]
fn routes_to_one_endpoint_share_its_rate_and_their_lowest_limits() {
    let route = |name: &str, base_url: &str, key: &str, rate_limits| Route {
        name: name.to_owned(),
        wire: crate::WireKind::OpenAiChat,
        base_url: base_url.parse().unwrap(),
        api_key: Some(crate::Secret::new(key).set_in(name)),
        model: "m".to_owned(),
        window: None,
        max_output: None,
        rate_limits,
    };
    let routes = [
        route("main", "https://host.example/v1", "key-1", per_minute(600)),
        route("light", "https://host.example/v1/", "key-1", RateLimits { requests_per_minute: Some(60), ..at_once(7) }),
        route("other-key", "https://host.example/v1", "key-2", RateLimits::default()),
        route("other-path", "https://host.example/v2", "key-1", RateLimits::default()),
    ];
    let limiters = RateLimiters::new(&routes);
    let shares_with_main = routes.each_ref().map(|route| Arc::ptr_eq(&limiters.of(route), &limiters.of(&routes[0])));
    assert_eq!(shares_with_main, [true, true, false, false]);
    let lowest = routes[0].rate_limits.lowest(routes[1].rate_limits);
    assert_eq!(lowest, RateLimits { requests_per_minute: Some(60), ..at_once(7) });
}
