//! Errors of a sign-in.

use std::io;
use std::path::PathBuf;

use reqwest::Url;
use sortie_sandbox::SpillError;

/// Longest text of a server that is shown.
const MAX_SAID_CHARS: usize = 200;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    #[error("{what} ({url}) cannot be used: {why}")]
    Address { what: &'static str, url: String, why: &'static str },
    #[error("{url} cannot be asked: {why}")]
    Unreachable { url: String, why: String },
    #[error("{url} answered HTTP {status}{said}")]
    Refused { url: String, status: u16, said: String },
    #[error("{url} answered with something else: {why}")]
    Unreadable { url: String, why: String },
    #[error("the server names no place to sign in: {why}")]
    NoPlace { why: String },
    #[error("the place to sign in, {issuer}, cannot be used: {why}")]
    Unfit { issuer: String, why: String },
    #[error("{issuer} registers no programs; give the server's `oauth` a `client_id` that was registered there")]
    NoRegistration { issuer: String },
    #[error("the sign-in was not granted: {said}")]
    Denied { said: String },
    #[error("the answer to the sign-in cannot be trusted: {why}")]
    Untrusted { why: &'static str },
    #[error("nobody signed in within {minutes} minutes")]
    NobodyCame { minutes: u64 },
    #[error("no port of this machine can be used for the answer: {source}")]
    NoPort { source: io::Error },
    #[error("{0}")]
    Store(#[from] SpillError),
    #[error("{} is damaged; delete it", path.display())]
    Damaged { path: PathBuf },
    #[error("no random numbers are to be had: {0}")]
    NoChance(String),
}

/// An address without what may be a key.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// A server's words on one line of bounded length.
pub(super) fn said(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.trim().chars().map(plain).take(MAX_SAID_CHARS).collect()
}
