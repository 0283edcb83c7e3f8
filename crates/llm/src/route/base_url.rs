//! The address of a provider, and the rules by which a wire's own path is joined to it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// An `http` or `https` address to which a wire adds its own path. Credentials in it are sent but never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

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
    /// The address of one of a wire's endpoints.
    ///
    /// A base without a path gets `version`; one with a path is kept. `endpoint` follows.
    pub(crate) fn join(&self, version: &str, endpoint: &str) -> Url {
        let mut url = self.0.clone();
        let base = match self.path() {
            "" => version,
            path => path,
        };
        url.set_path(&format!("{base}{endpoint}"));
        url
    }

    /// The path without slashes at its end: empty when the base has none.
    pub(crate) fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// The host alone, in lower case; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether the server is on this machine, where neither a key nor a proxy is needed.
    pub fn is_loopback(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let given = text.trim();
        let url = Url::parse(given)
            .map_err(|error| BaseUrlError::NotAUrl { given: given.to_owned(), reason: error.to_string() })?;
        match url.scheme() {
            "http" | "https" => Ok(Self(url)),
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
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
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
    fn loopback_is_recognised_however_it_is_spelled() {
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
    fn what_is_no_base_url_is_refused_with_the_reason() {
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
}
