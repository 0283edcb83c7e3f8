//! One fetch: from a target through checked redirects to the final response.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use sortie_mutant::is_out;
use tokio::time::{Instant, timeout_at};

use super::body::{PageBody, UnknownCoding};
use super::client::client;
use super::content::MediaType;
use super::guard::{Guard, GuardError};
use super::target::{Target, TargetError};
use crate::answer::phrases::bytes;

const MAX_REDIRECTS: usize = 5;

/// The result of a fetch.
#[derive(Debug)]
pub(crate) enum Fetched {
    Page(FetchedPage),
    /// A redirect to another host, which the caller may not be allowed to reach, or to the same one without encryption.
    Elsewhere {
        from: Target,
        status: u16,
        to: Target,
    },
}

/// A response that is not a redirect.
#[derive(Debug)]
pub(crate) struct FetchedPage {
    pub(crate) target: Target,
    pub(crate) status: u16,
    pub(crate) media_type: MediaType,
    pub(crate) body: PageBody,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("{0}")]
    Guard(#[from] GuardError),
    #[error("{from} redirects to a place that is not fetched: {reason}")]
    Redirect { from: String, reason: RedirectError },
    #[error("it redirects (status {status}) without saying where to")]
    NoLocation { status: u16 },
    #[error("it redirects more than {MAX_REDIRECTS} times, last to {last}")]
    TooManyRedirects { last: String },
    #[error("no HTTP client can be made: {reason}; are CA certificates installed? (SSL_CERT_FILE)")]
    Setup { reason: String },
    #[error("no answer: {reason}")]
    NoAnswer { reason: String },
    #[error("no answer within {} s", seconds(*within))]
    TimedOut { within: Duration },
    #[error("its content is {name} ({size}), status {status}; only HTML and text are fetched")]
    NotText { name: String, size: String, status: u16 },
    #[error("{0}")]
    Coding(#[from] UnknownCoding),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum RedirectError {
    #[error("{0}")]
    Target(#[from] TargetError),
    #[error("{0}")]
    Guard(#[from] GuardError),
}

/// Fetches a target until a deadline, `within` after the call began. Follows redirects on the same host only, and never
/// from `https` to `http`.
pub(crate) async fn fetch(
    guard: &Guard,
    first: Target,
    deadline: Instant,
    within: Duration,
) -> Result<Fetched, FetchError> {
    let mut target = first;
    for _ in 0..=MAX_REDIRECTS {
        let response =
            timeout_at(deadline, request(guard, &target)).await.map_err(|_| FetchError::TimedOut { within })??;
        let status = response.status().as_u16();
        let Some(location) = redirect(&response)? else {
            return page(target, response, deadline).await.map(Fetched::Page);
        };
        let refused = |reason| FetchError::Redirect { from: target.url().to_string(), reason };
        let next = target.redirect(&location).map_err(|error| refused(error.into()))?;
        let is_downgrade = target.is_https() && !next.is_https();
        if next.host() != target.host() || is_downgrade {
            if !is_out("web-redirect") {
                guard.check_literal(&next).await.map_err(|error| refused(error.into()))?;
            }
            return Ok(Fetched::Elsewhere { from: target, status, to: next });
        }
        target = next;
    }
    Err(FetchError::TooManyRedirects { last: target.url().to_string() })
}

async fn request(guard: &Guard, target: &Target) -> Result<Response, FetchError> {
    let addresses = guard.addresses(target).await?;
    let client = client(target, addresses)
        .map_err(|error| FetchError::Setup { reason: crate::answer::tool_error::explain(&error) })?;
    let sent = client.get(target.url().clone()).send().await;
    sent.map_err(|error| FetchError::NoAnswer { reason: crate::answer::tool_error::explain(&error.without_url()) })
}

/// Returns the target of a redirect, if the response is one.
fn redirect(response: &Response) -> Result<Option<String>, FetchError> {
    const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];
    let status = response.status().as_u16();
    if !REDIRECTS.contains(&status) {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).ok_or(FetchError::NoLocation { status })?;
    Ok(Some(String::from_utf8_lossy(location.as_bytes()).into_owned()))
}

async fn page(target: Target, response: Response, deadline: Instant) -> Result<FetchedPage, FetchError> {
    let status = response.status().as_u16();
    let media_type = MediaType::parse(response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes));
    if media_type.form().is_none() {
        let size = response.content_length();
        let size = size.map_or_else(|| "of unknown size".to_owned(), bytes);
        return Err(FetchError::NotText { name: media_type.name().to_owned(), size, status });
    }
    let body = PageBody::read(response, deadline).await?;
    Ok(FetchedPage { target, status, media_type, body })
}

/// Formats seconds for people.
pub(crate) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds.fract() == 0.0 { format!("{seconds:.0}") } else { format!("{seconds:.1}") }
}
