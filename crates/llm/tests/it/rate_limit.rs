//! Rate limits shared by all callers of an endpoint, over real connections. Crowds are tested with a simulated clock,
//! next to the code.

use std::sync::Arc;
use std::time::Duration;

use sortie_llm::{
    ErrorKind, Model, ModelEvent, ModelRequest, Models as _, RateLimits, Route, RouteSetup, RouteTable, WireKind,
};
use sortie_protocol::{Message, Usage};
use sortie_testkit::{Fault, Script, ScriptedReply, ScriptedServer, reply, when};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::caller::{QUICK, call, open};
use crate::fixture::{request, route, tools};

/// Two routes to one endpoint, and the models behind them.
fn two_routes(server: &ScriptedServer, rate_limits: RateLimits) -> [Arc<dyn Model>; 2] {
    let main = Route { rate_limits, ..route(WireKind::OpenAiChat, &server.base_url()) };
    let light = Route { name: "light".to_owned(), rate_limits: RateLimits::default(), ..main.clone() };
    let setup = RouteSetup { routes: vec![main, light], settings: QUICK, ..RouteSetup::default() };
    let table = RouteTable::new(setup).unwrap();
    ["main", "light"].map(|name| table.open(&table.choose(Some(name), None).unwrap().choice).unwrap())
}

#[tokio::test]
async fn a_requested_wait_applies_to_callers_on_other_routes() {
    let script = Script::new().once(when::any(), reply::fault(Fault::rate_limited("1"))).otherwise(reply::text("Hi."));
    let server = ScriptedServer::start(script).unwrap();
    let [main, light] = two_routes(&server, RateLimits::default());
    let (tools, messages) = (tools(), [Message::user("Where is it?")]);
    let refused = Notify::new();
    let mut observe = |event: ModelEvent<'_>| {
        if matches!(event, ModelEvent::Retrying { .. }) {
            refused.notify_one();
        }
    };
    let other = async {
        refused.notified().await;
        call(light.as_ref(), request(&tools, &messages)).await.1.unwrap();
    };
    let (one, ()) = tokio::join!(main.call(request(&tools, &messages), &mut observe), other);
    assert_eq!(one.unwrap().text(), "Hi.");
    let arrivals: Vec<_> = server.requests().iter().map(|request| request.arrival).collect();
    let waits: Vec<_> = arrivals[1..].iter().map(|at| at.duration_since(arrivals[0]).as_millis() >= 1000).collect();
    assert_eq!(waits, [true; 2], "{arrivals:?}");
}

#[tokio::test]
async fn a_crowd_that_is_refused_at_first_finishes() {
    const AGENTS: usize = 300;
    const REFUSALS: usize = 20;
    let refusal = reply::fault(Fault::rate_limited("0.2"));
    let script = Script::new().times(REFUSALS as u32, when::any(), refusal).otherwise(reply::text("Hi."));
    let server = ScriptedServer::start(script).unwrap();
    let models = two_routes(&server, RateLimits::default());
    let agents = (0..AGENTS).map(|number| {
        let model = Arc::clone(&models[number % 2]);
        tokio::spawn(async move {
            let (tools, messages) = (tools(), [Message::user("Where is it?")]);
            call(model.as_ref(), request(&tools, &messages)).await.1
        })
    });
    for agent in agents.collect::<Vec<_>>() {
        assert_eq!(agent.await.unwrap().unwrap().text(), "Hi.");
    }
    assert_eq!(server.requests().len(), AGENTS + REFUSALS);
}

#[tokio::test]
async fn the_configured_number_of_calls_runs_at_once() {
    let server = ScriptedServer::start(Script::always(reply::text("Hi.").held_by("door"))).unwrap();
    let models = two_routes(&server, RateLimits { max_connections: Some(3), ..RateLimits::default() });
    let agents: Vec<_> = (0..10)
        .map(|number| {
            let model = Arc::clone(&models[number % 2]);
            tokio::spawn(async move { call(model.as_ref(), request(&[], &[Message::user("Where?")])).await.1 })
        })
        .collect();
    server.traffic_reaches(|traffic| traffic.in_flight == 3).await;
    server.gate("door").open();
    for agent in agents {
        agent.await.unwrap().unwrap();
    }
    assert_eq!(server.traffic().max_in_flight, 3);
}

#[tokio::test]
async fn an_endpoint_that_accepts_calls_again_gets_more() {
    let script = Script::new()
        .once(when::any(), reply::fault(Fault::rate_limited("0")))
        .once(when::any(), reply::text("Hi."))
        .otherwise(reply::text("Hi.").held_by("door"));
    let server = ScriptedServer::start(script).unwrap();
    let [main, light] = two_routes(&server, RateLimits::default());
    let messages = [Message::user("Where is it?")];
    call(main.as_ref(), request(&[], &messages)).await.1.unwrap();
    let both = async {
        tokio::join!(call(main.as_ref(), request(&[], &messages)), call(light.as_ref(), request(&[], &messages)))
    };
    let at_once = async {
        let at_once = server.traffic_reaches(|traffic| traffic.in_flight == 2);
        let seen = tokio::time::timeout(Duration::from_secs(30), at_once).await;
        server.gate("door").open();
        seen
    };
    let (_, seen) = tokio::join!(both, at_once);
    assert!(seen.is_ok(), "the second waits for the first");
}

#[tokio::test]
async fn a_call_that_cannot_be_sent_before_its_deadline_says_so() {
    let server = ScriptedServer::start(Script::always(reply::text("Hi."))).unwrap();
    let [main, light] = two_routes(&server, RateLimits { requests_per_minute: Some(1), ..RateLimits::default() });
    let messages = [Message::user("Where is it?")];
    call(main.as_ref(), request(&[], &messages)).await.1.unwrap();
    let deadline = Some(Instant::now() + Duration::from_secs(30));
    let (observed, reply) = call(light.as_ref(), ModelRequest { deadline, ..request(&[], &messages) }).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, observed.sent, server.requests().len()), (ErrorKind::RateLimited, 0, 1));
    assert!(error.message.contains(" cannot be called before the deadline, at the rate that it accepts; "), "{error}");
}

/// The number of tries, and the error with its usage, if the first one ends like this. The endpoint's rate is one token
/// per second, so a second try fits before the deadline only if the first one gave its tokens back.
async fn tries_after(first: ScriptedReply) -> (usize, Option<(ErrorKind, u64)>) {
    let script = Script::new().once(when::any(), first).otherwise(reply::text("Hi."));
    let server = ScriptedServer::start(script).unwrap();
    let rate_limits = RateLimits { tokens_per_minute: Some(60), ..RateLimits::default() };
    // A wire that reports its input before its output.
    let model = open(Route { rate_limits, ..route(WireKind::Anthropic, &server.base_url()) }, QUICK);
    let (tools, messages) = (tools(), [Message::user("Where is it? ".repeat(100))]);
    let deadline = Some(Instant::now() + Duration::from_mins(1));
    let reply = call(model.as_ref(), ModelRequest { deadline, ..request(&tools, &messages) }).await.1;
    (server.requests().len(), reply.err().map(|error| (error.kind, error.usage.total_tokens())))
}

#[tokio::test]
async fn only_a_refused_call_gives_its_tokens_back() {
    assert_eq!(tries_after(reply::fault(Fault::rate_limited("0"))).await, (2, None));
    assert_eq!(tries_after(reply::status(500)).await, (2, None));
    let cut = reply::text("Half a sentence").fault(Fault::CutAfter(4)).usage(Usage::default());
    assert_eq!(tries_after(cut).await, (1, Some((ErrorKind::Cut, 0))));
}

#[tokio::test]
async fn a_broken_stream_counts_with_its_reported_usage() {
    let broke = |input_tokens| {
        let usage = Usage { input_tokens, ..Usage::default() };
        reply::text("Some words").fault(Fault::Garbage).usage(usage)
    };
    assert_eq!(tries_after(broke(1)).await, (2, None));
    // Its usage was reported with the retry, which ran out of time.
    assert_eq!(tries_after(broke(1000)).await, (1, Some((ErrorKind::Garbage, 0))));
}
