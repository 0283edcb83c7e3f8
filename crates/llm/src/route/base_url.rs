//! Base URL of a provider, and the rules that join a wire's own path to it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

use super::Secret;

/// An `http` or `https` address to which a wire adds its own path. Credentials in it are sent but never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    setting: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    #[error(
        "`{given}` is not a base URL ({reason}); write it like https://api.example.com or http://127.0.0.1:8080/v1"
    )]
    NotAUrl { given: String, reason: String },
    #[error("base URL `{given}` has the scheme `{scheme}`; use http or https")]
    Scheme { given: String, scheme: String },
}

impl BaseUrl {
    /// Remembers where the address is set (e.g. `ANTHROPIC_BASE_URL`), so that lists can name the place.
    #[must_use]
    pub fn set_in(mut self, setting: impl Into<String>) -> Self {
        self.setting = Some(setting.into());
        self
    }

    /// Place where the address is set, if known.
    pub fn setting(&self) -> Option<&str> {
        self.setting.as_deref()
    }

    /// The address and, if known, where it is set: `http://127.0.0.1:4000 (ANTHROPIC_BASE_URL)`.
    pub fn with_setting(&self) -> String {
        match &self.setting {
            Some(setting) => format!("{self} ({setting})"),
            None => self.to_string(),
        }
    }

    /// True if the path ends in this segment, perhaps followed by a version.
    pub fn path_ends_in(&self, segment: &str) -> bool {
        let path = self.path();
        path.strip_suffix("/v1").unwrap_or(path).rsplit('/').next() == Some(segment)
    }

    /// Returns the address of one of a wire's endpoints.
    ///
    /// A base without a path gets `version`; one with a path keeps it. `endpoint` follows.
    pub(crate) fn join(&self, version: &str, endpoint: &str) -> Url {
        let mut url = self.url.clone();
        let base = match self.path() {
            "" => version,
            path => path,
        };
        url.set_path(&format!("{base}{endpoint}"));
        url
    }

    /// Joins an endpoint with arbitrary text in its path: each segment stays one segment, whatever it contains.
    pub(crate) fn join_segments<'a>(&self, version: &str, segments: impl Iterator<Item = &'a str>) -> Url {
        let mut url = self.join(version, "");
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Returns an address on this server, ignoring the base's own path.
    pub(crate) fn at_root(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    /// The path without trailing slashes: empty if the base has none.
    pub(crate) fn path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// The host alone, in lower case; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// True if the server is on this machine, where neither a key nor a proxy is needed.
    pub fn is_loopback(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// True if both have the same scheme, host and port. A key for one may be sent to the other.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.url.origin() == other.url.origin()
    }

    /// True if both are one address, with or without a trailing slash. Credentials and query are also compared.
    pub(crate) fn is_same_address(&self, other: &Self) -> bool {
        let whole = |url: &Self| url.join("", "");
        whole(self) == whole(other)
    }

    /// True if the address itself holds a key: before the host, or in the query under a telling name.
    pub fn has_key(&self) -> bool {
        const NAMES: [&str; 7] = ["key", "token", "secret", "password", "auth", "sig", "code"];
        let is_key = |name: &str| NAMES.iter().any(|known| name.to_lowercase().contains(known));
        let in_query = self.url.query_pairs().any(|(name, value)| is_key(&name) && !value.is_empty());
        in_query || !self.url.username().is_empty() || self.url.password().is_some()
    }

    /// Masks the address's credentials and query values in a text, in case a server repeats them. API versions are no
    /// secret and stay readable.
    pub(crate) fn mask_in(&self, text: &str) -> String {
        let is_open = |pair: &str| pair.starts_with("api-version=");
        let in_query = self.url.query().unwrap_or_default().split('&').filter(|pair| !is_open(pair));
        let values = in_query.filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
        let written = values.chain([self.url.username(), self.url.password().unwrap_or_default()]);
        written.fold(text.to_owned(), |text, value| {
            let text = Secret::new(value).mask_in(&text);
            Secret::new(decoded(value)).mask_in(&text)
        })
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let given = text.trim();
        let url = Url::parse(given)
            .map_err(|error| BaseUrlError::NotAUrl { given: given.to_owned(), reason: error.to_string() })?;
        match url.scheme() {
            "http" | "https" => Ok(Self { url, setting: None }),
            // `localhost:8080` parses as a URL of the scheme `localhost`.
            _ if !given.contains("://") => {
                Err(BaseUrlError::NotAUrl { given: given.to_owned(), reason: "it has no scheme".to_owned() })
            }
            scheme => Err(BaseUrlError::Scheme { scheme: scheme.to_owned(), given: given.to_owned() }),
        }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.url))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Decodes the percent-escapes of a part of an address.
fn decoded(written: &str) -> String {
    let Ok(pair) = Url::parse(&format!("http://host/?value={written}")) else { return written.to_owned() };
    pair.query_pairs().map(|(_, value)| value.into_owned()).next().unwrap_or_default()
}

/// An address for messages: without credentials and without its query, which may hold a key.
pub(crate) fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_recognised_in_every_spelling() {
        for (url, loopback) in [
            ("http://127.0.0.1:9000", true),
            ("http://127.8.8.8", true),
            ("http://[::1]:9000/v1", true),
            ("http://localhost", true),
            ("https://model.localhost", true),
            ("http://10.0.0.7:11434", false),
            ("https://localhost.example.com", false),
            ("https://api.example.com", false),
        ] {
            assert_eq!(url.parse::<BaseUrl>().unwrap().is_loopback(), loopback, "{url}");
        }
    }

    #[test]
    fn an_invalid_base_url_is_refused_with_the_reason() {
        let message = |text: &str| text.parse::<BaseUrl>().unwrap_err().to_string();
        expect_test::expect![[r#"
            `` is not a base URL (relative URL without a base); write it like https://api.example.com or http://127.0.0.1:8080/v1
            `localhost:8080` is not a base URL (it has no scheme); write it like https://api.example.com or http://127.0.0.1:8080/v1
            base URL `ftp://example.com` has the scheme `ftp`; use http or https
        "#]]
        .assert_eq(&["", "localhost:8080", "ftp://example.com"].map(|text| message(text) + "\n").concat());
    }

    #[test]
    fn credentials_and_queries_are_not_shown() {
        let url: BaseUrl = "https://user:secret@host.example:8443/v1?key=secret".parse().unwrap();
        assert_eq!(format!("{url} {url:?}"), "https://host.example:8443/v1 https://host.example:8443/v1");
    }

    #[test]
    fn an_address_may_hold_a_key() {
        for (url, has_key) in [
            ("https://host.example/v1", false),
            ("https://host.example/v1?api-version=2026-10-01&team=7", false),
            ("https://host.example/v1?key=", false),
            ("https://host.example/v1?key=k", true),
            ("https://host.example/v1?api-version=1&Subscription-Key=k", true),
            ("https://host.example/v1?access_token=k", true),
            ("https://user@host.example", true),
            ("https://:password@host.example", true),
        ] {
            assert_eq!(url.parse::<BaseUrl>().unwrap().has_key(), has_key, "{url}");
        }
    }

    #[test]
    fn secrets_of_an_address_are_masked_escaped_and_unescaped() {
        let url: BaseUrl = "https://us%C3%A9r-name:pass%2Fword@host.example/v1?key=top%20secret&api-version=2026-10-01"
            .parse()
            .unwrap();
        let said = "usér-name us%C3%A9r-name pass/word pass%2Fword top secret top%20secret 2026-10-01";
        assert_eq!(url.mask_in(said), "*** *** *** *** *** *** 2026-10-01");
    }
}
