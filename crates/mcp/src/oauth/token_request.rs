//! Requests for tokens: for a code, or for the token that renews.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::Url;

use crate::oauth::challenge::scopes;
use crate::oauth::fetch::Fetch;
use crate::oauth::oauth_error::{OAuthError, shown};
use crate::oauth::registration::Registered;

/// Tokens, as a place gives them.
pub(super) struct Given {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    /// Seconds since 1970.
    pub(super) expires: Option<u64>,
    /// `None` if they are good for what was asked.
    pub(super) scopes: Option<Vec<String>>,
}

/// Proof shown in exchange.
pub(super) enum Proof<'a> {
    Code { code: &'a str, verifier: &'a str, redirect: &'a str },
    Refresh { token: &'a str },
}

/// Asks for tokens that are good for a resource (RFC 8707).
pub(super) async fn tokens(
    fetch: &Fetch,
    place: &Url,
    registered: &Registered,
    resource: &str,
    proof: Proof<'_>,
) -> Result<Given, OAuthError> {
    let mut form = match proof {
        Proof::Code { code, verifier, redirect } => vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", redirect),
        ],
        Proof::Refresh { token } => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
    };
    form.push(("resource", resource));
    let header = registered.sign(&mut form);
    let answer = fetch.post_form(place, &form, header).await?;
    if !answer.is_good() {
        return Err(OAuthError::Refused { url: shown(place), status: answer.status, said: answer.said() });
    }
    let text = |key: &str| answer.body[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let unreadable = |why: &str| OAuthError::Unreadable { url: shown(place), why: why.to_owned() };
    let access = text("access_token").ok_or_else(|| unreadable("it has no `access_token`"))?;
    if !access.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unreadable("its token cannot be sent in a header"));
    }
    if text("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(unreadable("its token is of a kind that is not supported"));
    }
    let expires = answer.body["expires_in"].as_u64().map(|seconds| now().saturating_add(seconds));
    Ok(Given { access, refresh: text("refresh_token"), expires, scopes: text("scope").map(|text| scopes(&text)) })
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}
