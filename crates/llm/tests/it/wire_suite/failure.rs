//! Refusals: their kinds, their messages, and their retries.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use sortie_llm::{
    CallSettings, ErrorKind, ModelEvent, ModelRequest, Models as _, RouteSetup, RouteTable, Secret, WireKind,
};
use sortie_protocol::Message;
use sortie_testkit::{Fault, Script, ScriptedReply, ScriptedServer, StatusFault, reply};
use tokio::sync::Notify;

use crate::caller::{ONE_TRY, QUICK, call, caller, open};
use crate::fixture::{request, route, tools};

fn status(code: u16, message: &str) -> ScriptedReply {
    reply::fault(Fault::Status(StatusFault { code, message: Some(message.to_owned()), retry_after: None }))
}

fn endpoint(wire: WireKind) -> &'static str {
    match wire {
        WireKind::Anthropic => "/v1/messages",
        WireKind::Gemini => "/v1beta/models/some-model:streamGenerateContent",
        WireKind::OpenAiChat => "/v1/chat/completions",
        WireKind::OpenAiResponses => "/v1/responses",
    }
}

pub(super) async fn statuses_have_their_kinds(wire: WireKind) {
    for (code, kind) in [
        (307, ErrorKind::NotFound),
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::Auth),
        (402, ErrorKind::Auth),
        (403, ErrorKind::Auth),
        (404, ErrorKind::NotFound),
        (405, ErrorKind::NotFound),
        (408, ErrorKind::Server),
        (413, ErrorKind::BadRequest),
        (418, ErrorKind::BadRequest),
        (422, ErrorKind::BadRequest),
        (429, ErrorKind::RateLimited),
        (500, ErrorKind::Server),
        (502, ErrorKind::Server),
        (503, ErrorKind::Overloaded),
        (529, ErrorKind::Overloaded),
    ] {
        let caller = caller(wire, Script::always(reply::status(code)), ONE_TRY);
        let error = caller.ask().await.1.unwrap_err();
        assert_eq!((error.kind, error.status), (kind, Some(code)), "{error}");
        assert!(error.message.contains(&format!("answered {code}: ")), "{error}");
    }
}

pub(super) async fn retry_after_is_the_shortest_wait(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::fault(Fault::rate_limited("7"))), QUICK);
    let (tools, messages) = (tools(), [Message::user("Where is it?")]);
    let (mut waits, retrying) = (Vec::new(), Notify::new());
    let mut observe = |event: ModelEvent<'_>| {
        if let ModelEvent::Retrying { wait, error, .. } = event {
            waits.push((wait, error.retry_after));
            retrying.notify_one();
        }
    };
    tokio::select! {
        _ = caller.model.call(request(&tools, &messages), &mut observe) => panic!("it must wait"),
        () = retrying.notified() => {}
    }
    assert_eq!(waits, [(Duration::from_secs(7), Some(Duration::from_secs(7)))]);
    assert_eq!(caller.server.requests().len(), 1);
}

pub(super) async fn no_retry_starts_after_the_deadline(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::fault(Fault::rate_limited("7"))), QUICK);
    let (tools, messages) = (tools(), [Message::user("Where is it?")]);
    let deadline = Some(tokio::time::Instant::now() + Duration::from_secs(5));
    let request = ModelRequest { deadline, ..request(&tools, &messages) };
    let (observed, reply) = call(caller.model.as_ref(), request).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, error.retry_after), (ErrorKind::RateLimited, Some(Duration::from_secs(7))));
    assert_eq!(observed.retries, []);
    assert!(error.message.contains("it asks to wait 7 s"), "{error}");
}

pub(super) async fn a_server_error_is_retried_and_announced(wire: WireKind) {
    let script = Script::in_order([reply::status(500), reply::fault(Fault::rate_limited("0.3")), reply::text("Now.")]);
    let before = Instant::now();
    let (observed, reply) = caller(wire, script, QUICK).ask().await;
    assert!(before.elapsed() >= Duration::from_millis(300), "the wait is waited for");
    assert_eq!(reply.unwrap().text(), "Now.");
    let retries: Vec<_> = observed.retries.iter().map(|(attempt, _, error)| (*attempt, error.kind)).collect();
    assert_eq!(retries, [(1, ErrorKind::Server), (2, ErrorKind::RateLimited)]);
}

pub(super) async fn retries_end_at_their_number(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::status(500)), QUICK);
    let error = caller.ask().await.1.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Server);
    assert!(error.message.ends_with("(after 3 tries)"), "{error}");
    assert_eq!(caller.server.requests().len(), 3);
}

pub(super) async fn earlier_retries_count(wire: WireKind) {
    let caller = caller(wire, Script::always(reply::status(500)), QUICK);
    let messages = [Message::user("Where is it?")];
    let request = ModelRequest { retries_made: 1, ..request(&[], &messages) };
    let (observed, reply) = call(caller.model.as_ref(), request).await;
    assert!(reply.unwrap_err().message.ends_with("(after 3 tries)"));
    assert_eq!((caller.server.requests().len(), observed.sent), (2, 2));
}

pub(super) async fn refusals_for_rate_or_load_use_up_no_retry(wire: WireKind) {
    let refusals =
        [reply::status(429), reply::status(503), reply::fault(Fault::rate_limited("0.01")), reply::status(529)];
    let script = Script::in_order(refusals.into_iter().chain([reply::status(500), reply::text("Now.")]));
    let settings = CallSettings { max_retries: 1, ..QUICK };
    let (observed, reply) = caller(wire, script, settings).ask().await;
    assert_eq!(reply.unwrap().text(), "Now.");
    let attempts: Vec<u32> = observed.retries.iter().map(|(attempt, ..)| *attempt).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5]);
}

pub(super) async fn a_wrong_key_is_reported_with_its_setting_and_never_shown(wire: WireKind) {
    let caller = caller(wire, Script::always(status(401, "Incorrect API key provided: sk-test-key.")), QUICK);
    let error = caller.ask().await.1.unwrap_err();
    assert_eq!(caller.server.requests().len(), 1, "the same key will not be right later");
    assert!(error.message.ends_with("key provided: ***.; check LLM_API_KEY or `api_key` in [routes.main]"), "{error}");

    let mut route = route(wire, &caller.server.base_url());
    route.api_key = Some(Secret::new("sk-test-key").set_in("ANTHROPIC_API_KEY"));
    let messages = [Message::user("Where is it?")];
    let error = call(open(route, QUICK).as_ref(), request(&[], &messages)).await.1.unwrap_err();
    assert!(error.message.ends_with("; check ANTHROPIC_API_KEY"), "{error}");
}

pub(super) async fn a_wrong_model_is_reported_with_its_address(wire: WireKind) {
    let caller = caller(wire, Script::always(status(404, "no such model")), QUICK);
    let error = caller.ask().await.1.unwrap_err();
    let address = format!("{}{}", caller.server.base_url(), endpoint(wire));
    assert_eq!(
        error.message,
        format!(
            "{address} answered 404: no such model; is `some-model` a model there (LLM_MODEL_ID or `model` in \
             [routes.main]), and the address right (LLM_BASE_URL or `base_url` in [routes.main])?"
        )
    );
}

pub(super) async fn a_missing_model_is_recognised_under_any_status(wire: WireKind) {
    for (code, message) in [
        (400, "Invalid model name passed in model=some-model"),
        (400, "some-model is not a valid model ID"),
        (400, "Model Not Exist"),
        (400, "The model `some-model` does not exist or you do not have access to it."),
        (403, "model_not_found: Project `p` does not have access to model `some-model`"),
        (422, "unknown model: some-model"),
    ] {
        let error = caller(wire, Script::always(status(code, message)), QUICK).ask().await.1.unwrap_err();
        assert_eq!((error.kind, error.status), (ErrorKind::NotFound, Some(code)), "{message}");
        assert!(error.message.contains("is `some-model` a model there"), "{error}");
    }
    for (code, message, kind) in [
        (400, "tool_use id `a` does not exist", ErrorKind::BadRequest),
        (401, "model_not_found", ErrorKind::Auth),
        (429, "the model does not exist often enough", ErrorKind::RateLimited),
    ] {
        let error = caller(wire, Script::always(status(code, message)), ONE_TRY).ask().await.1.unwrap_err();
        assert_eq!(error.kind, kind, "{message}");
    }
}

pub(super) async fn a_conversation_that_no_longer_fits_is_recognised(wire: WireKind) {
    for message in [
        "prompt is too long: 212345 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 16000 > 200000",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
        "Your input exceeds the context window of this model.",
        "the request exceeds the available context size (8192 tokens)",
        "Input is too long for requested model.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "too many tokens: the total number of tokens in the prompt is 140000",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ] {
        let caller = caller(wire, Script::always(status(400, message)), QUICK);
        let error = caller.ask().await.1.unwrap_err();
        assert_eq!((error.kind, error.status), (ErrorKind::ContextLength, Some(400)), "{message}");
        assert!(error.message.contains(message), "{error}");
    }
}

pub(super) async fn a_too_high_output_cap_is_not_mistaken_for_a_too_long_conversation(wire: WireKind) {
    let message = "max_completion_tokens is too large: 100000, which exceeds the maximum of 16384";
    let error = caller(wire, Script::always(status(400, message)), QUICK).ask().await.1.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
}

pub(super) async fn a_server_that_answered_before_is_retried_when_it_is_gone(wire: WireKind) {
    let server = ScriptedServer::start(Script::always(reply::text("Hi."))).unwrap();
    let settings = CallSettings { max_retries: 4, ..QUICK };
    let routes = vec![route(wire, &server.base_url())];
    let table = RouteTable::new(RouteSetup { routes, settings, ..RouteSetup::default() }).unwrap();
    let choice = table.choose(None, None).unwrap().choice;
    let messages = [Message::user("Where is it?")];
    let first_task = table.open(&choice).unwrap();
    call(first_task.as_ref(), request(&[], &messages)).await.1.unwrap();
    drop(server);
    let another_task = table.open(&choice).unwrap();
    let (observed, reply) = call(another_task.as_ref(), request(&[], &messages)).await;
    assert_eq!(reply.unwrap_err().kind, ErrorKind::Unreachable);
    assert_eq!(observed.retries.len(), 4);
}

pub(super) async fn a_refused_connection_fails_soon(wire: WireKind) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = CallSettings { retry_base: Duration::from_millis(1), ..CallSettings::default() };
    let model = open(route(wire, &format!("http://{free}")), settings);
    let messages = [Message::user("Where is it?")];
    let before = Instant::now();
    let (observed, reply) = call(model.as_ref(), request(&[], &messages)).await;
    let error = reply.unwrap_err();
    assert!(before.elapsed() < Duration::from_secs(5));
    assert_eq!((error.kind, observed.retries.len()), (ErrorKind::Unreachable, 2));
    let (said, next) = error.message.split_once("; ").unwrap();
    assert!(said.starts_with(&format!("cannot reach http://{free}{}: ", endpoint(wire))), "{said}");
    assert_eq!(
        next,
        "is the server running? the address is set by LLM_BASE_URL or `base_url` in [routes.main] (after 3 tries)"
    );
}
