//! Credentials of requests to a server at an address: set headers, a helper's headers, or a sign-in. If the server does
//! not accept them, the error says what to do.

use std::io;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use sortie_policy::Redactor;

use crate::oauth::{Challenge, OAuthError, SignIn};
use crate::transport::bounded_http::Failure;
use crate::transport::brief::brief;

/// The origin of a server's credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The header `Authorization` of its definition.
    Header,
    /// The program that prints headers.
    Helper,
    /// A sign-in, if there was one.
    SignIn,
}

#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) server: String,
    pub(crate) source: Source,
    pub(crate) sign_in: SignIn,
}

/// The server does not accept the credentials of a request, or there are none. It has not looked at the request.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Barred(String);

impl Barred {
    pub(crate) fn is(failure: &Failure) -> bool {
        let Failure::Io(error) = failure else { return false };
        error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).is_some()
    }
}

impl Credentials {
    /// Token for the next request.
    pub(crate) async fn token(&self) -> Result<Option<String>, Failure> {
        match self.source {
            Source::SignIn => self.sign_in.token().await.map_err(|error| self.unusable(&error)),
            Source::Header | Source::Helper => Ok(None),
        }
    }

    /// Token to use instead of one that the server has refused, if there is another.
    pub(crate) async fn instead_of(&self, refused: &str) -> Result<Option<String>, Failure> {
        self.sign_in.renewed(refused).await.map_err(|error| self.unusable(&error))
    }

    /// Failure of a request that was refused with this status.
    pub(crate) async fn barred(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        token: Option<&str>,
        redactor: &Redactor,
    ) -> Failure {
        let header = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let challenge = header.map(Challenge::read).unwrap_or_default();
        if token.is_some()
            && challenge.wants_more()
            && let Err(error) = self.sign_in.want(&challenge.scopes).await
        {
            return self.unusable(&error);
        }
        let advice = self.advice(status, &challenge, token.is_some());
        let body = brief(redactor, String::from_utf8_lossy(body).trim());
        let said = if body.is_empty() { body } else { format!(" (it said: {body})") };
        let advice = if advice.is_empty() { advice } else { format!(": {}", brief(redactor, &advice)) };
        barred(format!("HTTP {status}{advice}{said}"))
    }

    fn advice(&self, status: StatusCode, challenge: &Challenge, has_token: bool) -> String {
        let login = format!("run `sortie mcp login {}`", self.server);
        match (self.source, has_token) {
            (Source::Header, _) => "it does not accept the `Authorization` in its `headers`".to_owned(),
            (Source::Helper, _) => "it does not accept the headers of its `headersHelper`".to_owned(),
            (Source::SignIn, true) if challenge.wants_more() => {
                format!("the sign-in does not cover this ({}); {login} to extend it", challenge.scopes.join(" "))
            }
            (Source::SignIn, _) if status != StatusCode::UNAUTHORIZED => String::new(),
            (Source::SignIn, true) => format!("it no longer accepts the sign-in; {login}"),
            (Source::SignIn, false) => format!("it wants a sign-in; {login}, or set its `headers`"),
        }
    }

    fn unusable(&self, error: &OAuthError) -> Failure {
        barred(format!("the sign-in cannot be used: {error}; run `sortie mcp login {}`", self.server))
    }
}

fn barred(words: String) -> Failure {
    io::Error::other(Barred(words)).into()
}
