//! HTTP errors before a stream begins, as [`ModelError`]s that say what to do next.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};
use serde_json::Value;
use sortie_protocol::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::http_clients::deepest_cause;
use crate::route::{KnownNames, Route, shown};
use crate::wire::{self, ProviderFault};
use crate::{ErrorKind, ModelError, WireKind};

const MAX_ERROR_BODY: usize = 64 * 1024;

/// Longest time to read the text of a refusal; without the text there is still the status.
const ERROR_BODY: Duration = Duration::from_secs(5);

/// Builds the error for a request without a response.
pub(crate) fn not_sent(error: &reqwest::Error, route: &Route, url: &Url) -> ModelError {
    let (url, cause) = (shown(url), deepest_cause(error));
    if error.is_builder() {
        return ModelError::new(ErrorKind::Setup, format!("cannot build a request to {url}: {cause}"));
    }
    if !error.is_connect() {
        let message = format!("the connection to {url} broke before an answer came: {cause}");
        return ModelError::new(ErrorKind::Cut, message);
    }
    let next = if cause.contains("certificate") {
        "for a private certificate authority, set SSL_CERT_FILE".to_owned()
    } else {
        format!("is the server running? the address is set by {}", route.base_url_setting())
    };
    ModelError::new(ErrorKind::Unreachable, format!("cannot reach {url}: {cause}; {next}"))
}

/// Builds the error for an unsuccessful status.
pub(crate) async fn refused(mut response: Response, route: &Route, model: &str, known: &KnownNames) -> ModelError {
    let status = response.status().as_u16();
    let url = response.url().clone();
    let retry_after_header = retry_after(response.headers(), SystemTime::now());
    let location = header(response.headers(), LOCATION.as_str()).map(str::to_owned);
    let body = read_bounded(&mut response).await;
    let fault = ProviderFault::from_body(&body);
    let retry_after = retry_after_header.or(fault.retry_after);
    let kind = fault.kind_for_status(status);
    let next = match (kind, location) {
        (ErrorKind::Auth, _) => format!("; check {}", route.key_setting()),
        (ErrorKind::NotFound, Some(location)) => {
            format!("; it redirects to {}; correct {}", pointed_to(&url, &location), route.base_url_setting())
        }
        (ErrorKind::NotFound, None) => format!("; {}", perhaps_no_model(route, model, known)),
        _ => String::new(),
    };
    let said = if fault.message.is_empty() { "no reason given" } else { &fault.message };
    let message = format!("{} answered {status}: {said}{next}", shown(&url));
    ModelError { status: Some(status), retry_after, ..ModelError::new(kind, message) }
}

/// Advice for a provider without such a model, or an address without such an API.
fn perhaps_no_model(route: &Route, model: &str, known: &KnownNames) -> String {
    let named_by = if model == route.model {
        route.model_setting()
    } else {
        "named by the call, the agent's file or an alias".to_owned()
    };
    let address = route.base_url_setting();
    let mut next = format!("is `{model}` a model there ({named_by}), and the address right ({address})?");
    match known.catalogue.lookup(model).and_then(|facts| facts.wire) {
        Some(wire) if !wire.same_provider(route.wire) => {
            next.push_str(&format!(" `{model}` is known on the wire {wire}: give it a route of its own"));
        }
        _ => next.extend(known.did_you_mean(model, Some(route.wire)).map(|question| format!(" {question}"))),
    }
    next
}

/// Returns a successful response if it can be a stream of events. Otherwise the address is wrong or the server cannot
/// stream.
pub(crate) async fn require_stream(
    mut response: Response,
    route: &Route,
    wire: WireKind,
) -> Result<Response, ModelError> {
    let media_type = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
    let url = shown(response.url());
    let error = if media_type.starts_with("text/html") {
        let message = format!("{url} answered with a web page, not a model; correct {}", route.base_url_setting());
        ModelError::new(ErrorKind::NotFound, message)
    } else if media_type.starts_with("application/json") {
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let error = answered_with_json(&url, wire, &read_bounded(&mut response).await);
        ModelError { retry_after: retry_after.or(error.retry_after), ..error }
    } else {
        return Ok(response);
    };
    Err(ModelError { status: Some(response.status().as_u16()), ..error })
}

fn answered_with_json(url: &str, kind: WireKind, body: &str) -> ModelError {
    let payload: Value = serde_json::from_str(body).unwrap_or_default();
    let error = if let Some(fault) = ProviderFault::from_json(&payload) {
        let error = fault.into_error_in_stream();
        ModelError { message: format!("{url} answered: {}", error.message), ..error }
    } else {
        let message = format!("{url} answered with one JSON document; the server must be able to stream events");
        ModelError::new(ErrorKind::BadRequest, message)
    };
    ModelError { usage: Box::new(wire::for_kind(kind).usage_in(&payload)), ..error }
}

async fn read_bounded(response: &mut Response) -> String {
    let until = Instant::now() + ERROR_BODY;
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BODY
        && let Ok(Ok(Some(piece))) = timeout_at(until, response.chunk()).await
    {
        body.extend_from_slice(&piece);
    }
    body.truncate(MAX_ERROR_BODY);
    String::from_utf8_lossy(&body).into_owned()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Target of a redirect, without credentials and query, because a redirect often repeats ours.
fn pointed_to(from: &Url, location: &str) -> String {
    const LONGEST: usize = 200;
    match from.join(location) {
        Ok(url) => shown(&url).chars().take(LONGEST).collect(),
        Err(_) => "an invalid address".to_owned(),
    }
}

/// Wait that the provider asks for: milliseconds, seconds, or a date that may be past.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if let Some(ms) = header(headers, "retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let text = header(headers, RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let now = now.duration_since(UNIX_EPOCH).ok()?;
    Some(Duration::from_millis(http_date(text)?.0).saturating_sub(now))
}

/// Parses a date like `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Timestamp::try_from(format!("{year}-{month:02}-{day:0>2}T{time}.000Z")).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn retry_after_is_read_in_three_forms() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (name, value, expected) in [
            ("retry-after", "7", Some(7000)),
            ("retry-after", "1.5", Some(1500)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "soon", None),
            ("retry-after", "-5", None),
            ("retry-after", "inf", None),
            ("x-other", "7", None),
        ] {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_millis), "{name}: {value}");
        }
    }
}
