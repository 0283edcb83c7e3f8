//! Google's own errors: a status inside the error, and details with the reason and the retry delay.

use std::time::Duration;

use sortie_llm::{ErrorKind, ModelError, Secret};
use sortie_protocol::Message;
use sortie_testkit::{Script, ScriptedServer, ServerOptions, reply};

use super::WIRE;
use crate::caller::{QUICK, call, open};
use crate::decode::decode;
use crate::fixture::{request, route};

#[tokio::test]
async fn a_wrong_key_is_recognised_under_an_unrelated_status() {
    let options = ServerOptions { key: Some("the-right-key".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("Hi.")), options).unwrap();
    let mut route = route(WIRE, &server.base_url());
    route.api_key = Some(Secret::new("the-wrong-key").set_in("GEMINI_API_KEY"));
    let messages = [Message::user("Where is it?")];
    let error = call(open(route, QUICK).as_ref(), request(&[], &messages)).await.1.unwrap_err();
    assert_eq!((error.kind, error.status), (ErrorKind::Auth, Some(400)));
    assert!(
        error.message.ends_with("answered 400: API key not valid. Please pass a valid API key.; check GEMINI_API_KEY"),
        "{error}"
    );
    assert_eq!(server.requests().len(), 1, "the same key will not be right later");
}

fn told(error: &str) -> ModelError {
    decode(WIRE, &[&format!(r#"{{"error":{error}}}"#)]).1.unwrap_err()
}

#[test]
fn errors_have_the_kind_of_their_status_name() {
    for (status, kind) in [
        ("INVALID_ARGUMENT", ErrorKind::BadRequest),
        ("UNAUTHENTICATED", ErrorKind::Auth),
        ("PERMISSION_DENIED", ErrorKind::Auth),
        ("NOT_FOUND", ErrorKind::NotFound),
        ("RESOURCE_EXHAUSTED", ErrorKind::RateLimited),
        ("UNAVAILABLE", ErrorKind::Overloaded),
        ("INTERNAL", ErrorKind::Server),
        ("DEADLINE_EXCEEDED", ErrorKind::Server),
    ] {
        let error = told(&format!(r#"{{"message":"It did not work.","status":"{status}"}}"#));
        assert_eq!((error.kind, error.message.as_str()), (kind, "It did not work."), "{status}");
    }
}

const EXCEEDED: &str = "You exceeded your current quota, please check your plan and billing details.";

fn quota(quota: &str, details: &str) -> ModelError {
    let violations = format!(r#"{{"violations":[{{"quotaId":"{quota}"}}]}}"#);
    told(&format!(
        r#"{{"code":429,"message":"{EXCEEDED}","status":"RESOURCE_EXHAUSTED","details":[{violations}{details}]}}"#
    ))
}

#[test]
fn a_quota_that_a_wait_restores_is_a_rate_limit() {
    let wait = r#",{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37.5s"}"#;
    let error = quota("GenerateContentInputTokensPerModelPerMinute", wait);
    assert_eq!((error.kind, error.retry_after), (ErrorKind::RateLimited, Some(Duration::from_millis(37_500))));
    for error in [quota("GenerateRequestsPerDayPerProjectPerModel", wait), quota("GenerateRequests", "")] {
        assert_eq!((error.kind, error.retry_after), (ErrorKind::Auth, None), "waiting does not help");
    }
}
