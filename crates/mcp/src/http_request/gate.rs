//! The gate: checks a request's head before anything else of it is read.
//!
//! The order is: the host name, the page's origin, the path, the token, the body's type. A client without a token
//! learns only that one is needed.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use sortie_mutant::is_out;

use crate::http_request::host_names::HostNames;
use crate::http_request::refusal::Refusal;
use crate::http_request::token::{Principal, TokenSource};
use crate::http_request::{Bounds, PATH};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Set only by browsers.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

pub(crate) struct Gate {
    pub(crate) names: HostNames,
    pub(crate) token: TokenSource,
    pub(crate) bounds: Bounds,
}

impl Gate {
    /// Returns the sender of an admitted request. Its token goes no further.
    pub(crate) fn admit(&self, head: &mut Parts) -> Result<Principal, Refusal> {
        self.check_host(head)?;
        self.check_page(&head.headers)?;
        if head.uri.path() != PATH {
            return Err(Refusal::Path);
        }
        let principal = self.check_token(&head.headers)?;
        head.headers.remove(AUTHORIZATION);
        if head.method == Method::POST {
            self.check_body(&mut head.headers)?;
        }
        Ok(principal)
    }

    /// The owner of the current token.
    pub(crate) fn principal(&self) -> Option<Principal> {
        (self.token)().map(|token| token.principal())
    }

    fn check_host(&self, head: &Parts) -> Result<(), Refusal> {
        let is_ours = |host: &str| self.names.admit_host(host);
        let host = only(&head.headers, &HOST).and_then(|host| host.to_str().ok()).ok_or(Refusal::Host)?;
        // A request may name its host a second time, in its first line.
        let in_line = head.uri.authority().is_none_or(|authority| is_ours(authority.as_str()));
        if is_ours(host) && in_line || is_out("host-name") { Ok(()) } else { Err(Refusal::Host) }
    }

    /// Checks the origin page. Programs send no `Origin`. Browsers send it, or the fetch site, or both.
    fn check_page(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_ours = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| self.names.admit_origin(origin));
        let is_near = |site: &HeaderValue| site == "same-origin" || site == "none";
        let mut sites = headers.get_all(FETCH_SITE).iter();
        let is_harmless = headers.get_all(ORIGIN).iter().all(is_ours) && sites.all(is_near);
        if is_harmless || is_out("page-origin") { Ok(()) } else { Err(Refusal::Origin) }
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<Principal, Refusal> {
        let token = (self.token)().ok_or(Refusal::NoToken)?;
        let presented = only(headers, &AUTHORIZATION).map(HeaderValue::as_bytes);
        let bearer = presented.and_then(|value| value.split_at_checked("Bearer ".len()));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "));
        let (_, bytes) = bearer.ok_or(Refusal::Token { is_wrong: false })?;
        token.admit(bytes.trim_ascii()).ok_or(Refusal::Token { is_wrong: true })
    }

    /// Requires a type that a form on a page cannot send.
    fn check_body(&self, headers: &mut HeaderMap) -> Result<(), Refusal> {
        let stated = only(headers, &CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = stated.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            return Err(Refusal::MediaType);
        }
        headers.insert(CONTENT_TYPE, JSON);
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        let limit = self.bounds.body_bytes;
        if length.is_some_and(|length| length > limit) { Err(Refusal::TooLarge { limit }) } else { Ok(()) }
    }
}

/// Returns the value of a header that may occur only once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
