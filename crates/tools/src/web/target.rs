//! `Target`: a URL, parsed once, so that judging, connecting and showing all use the same one.

use std::net::IpAddr;

use url::{Host, Url};

/// Longer URLs carry data, not an address.
const MAX_URL_BYTES: usize = 4096;

/// An `http` or `https` URL without credentials and fragment. Its host is in lower case, in ASCII and without a final
/// dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target(Url);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("`{given}` is not a URL ({reason}); write it like https://example.com/page")]
    NotAUrl { given: String, reason: String },
    #[error("`{given}` is a `{scheme}:` URL; only http and https are fetched")]
    Scheme { given: String, scheme: String },
    #[error("the URL has a user name or password before its host `{host}`; nothing is sent as anybody: leave it out")]
    Credentials { host: String },
    #[error("the URL has {n_bytes} bytes; at most {MAX_URL_BYTES} are allowed")]
    TooLong { n_bytes: usize },
}

impl Target {
    pub(crate) fn parse(text: &str) -> Result<Self, TargetError> {
        let text = text.trim();
        checked_length(text)?;
        let url = Url::parse(text).map_err(|error| TargetError::NotAUrl {
            given: shown(text),
            reason: if text.contains("://") { error.to_string() } else { "it has no scheme".to_owned() },
        })?;
        Self::new(url, text)
    }

    /// Resolves a redirect from here.
    pub(super) fn redirect(&self, location: &str) -> Result<Self, TargetError> {
        checked_length(location)?;
        let not_a_url =
            |error: url::ParseError| TargetError::NotAUrl { given: shown(location), reason: error.to_string() };
        Self::new(self.0.join(location).map_err(not_a_url)?, location)
    }

    fn new(mut url: Url, given: &str) -> Result<Self, TargetError> {
        if !matches!(url.scheme(), "http" | "https") {
            // `example.com:80` parses as a URL of the scheme `example.com`.
            let is_host = url.scheme().contains('.') || url.scheme() == "localhost";
            return Err(if is_host && !given.contains("://") {
                TargetError::NotAUrl { given: shown(given), reason: "it has no scheme".to_owned() }
            } else {
                TargetError::Scheme { given: shown(given), scheme: shown(url.scheme()) }
            });
        }
        let not_a_host = |reason: &str| TargetError::NotAUrl { given: shown(given), reason: reason.to_owned() };
        if let Some(Host::Domain(name)) = url.host() {
            // A final dot leads to the same place and must not look like another one.
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            if name.split('.').any(str::is_empty) {
                return Err(not_a_host("its host has an empty part"));
            }
            url.set_host(Some(&name)).map_err(|error| not_a_host(&error.to_string()))?;
        }
        let host = url.host_str().ok_or_else(|| not_a_host("it has no host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::Credentials { host: host.to_owned() });
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The name or address in the URL; an IPv6 address in brackets.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The address, if the host is one.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }
}

fn checked_length(text: &str) -> Result<(), TargetError> {
    if text.len() > MAX_URL_BYTES { Err(TargetError::TooLong { n_bytes: text.len() }) } else { Ok(()) }
}

/// Shortens somebody's words to one line.
fn shown(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let mut shown: String = text.chars().take(MAX_CHARS).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
