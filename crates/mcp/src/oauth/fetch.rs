//! Requests to addresses that a server has named. They go over https, or within this machine if the server is on it;
//! they follow no redirects, and take bounded time and room.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use sortie_llm::AddressKind;

use crate::oauth::oauth_error::{OAuthError, said, shown};

/// Time for one request.
const WITHIN: Duration = Duration::from_secs(15);
/// Longest answer.
const MAX_BYTES: usize = 256 << 10;

/// Requests on behalf of one server.
pub(super) struct Fetch {
    server: Url,
    encrypted: Client,
    /// For addresses of this machine.
    plain: Client,
}

/// An answer of any status, as JSON if it is any.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Answer {
    pub(super) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The error in the answer, in the server's words.
    pub(super) fn said(&self) -> String {
        let text = |key: &str| self.body[key].as_str().map(said);
        match (text("error"), text("error_description")) {
            (Some(error), Some(more)) => format!(": {error}: {more}"),
            (Some(words), None) | (None, Some(words)) => format!(": {words}"),
            (None, None) => String::new(),
        }
    }
}

impl Fetch {
    pub(super) fn new(server: &Url) -> Result<Self, OAuthError> {
        let client = |is_https| {
            let kind = AddressKind { is_https, is_loopback: !is_https };
            sortie_llm::http_client(kind)
                .map_err(|error| OAuthError::Unreachable { url: shown(server), why: error.to_string() })
        };
        let fetch = Self { server: server.clone(), encrypted: client(true)?, plain: client(false)? };
        fetch.check("the server's address", server)?;
        Ok(fetch)
    }

    pub(super) fn server(&self) -> &Url {
        &self.server
    }

    /// Reads an address that a server has named.
    pub(super) fn address(&self, what: &'static str, text: &str) -> Result<Url, OAuthError> {
        let unusable = |why| OAuthError::Address { what, url: said(text), why };
        let url: Url = text.parse().map_err(|_| unusable("it is not an address"))?;
        self.check(what, &url)?;
        Ok(url)
    }

    fn check(&self, what: &'static str, url: &Url) -> Result<(), OAuthError> {
        let unusable = |why| Err(OAuthError::Address { what, url: shown(url), why });
        if !url.username().is_empty() || url.password().is_some() {
            return unusable("it has a user or a password");
        }
        let (near, server_is_near) = (is_near(url), is_near(&self.server));
        match url.scheme() {
            "http" if !is_loopback(url) || !is_loopback(&self.server) => {
                unusable("it must begin with https://, or be of this machine, as the server is")
            }
            "https" if near && !server_is_near => {
                unusable("it leads into a private network, and the server is in none")
            }
            "http" | "https" => Ok(()),
            _ => unusable("it must begin with https://"),
        }
    }

    /// Gets a JSON object; `None` if the address answers with anything else, such as a page or a redirect.
    pub(super) async fn document(&self, url: &Url) -> Result<Option<Value>, OAuthError> {
        let answer = self.send(url, self.client(url).get(url.clone())).await?;
        Ok(Some(answer).filter(|answer| answer.is_good() && answer.body.is_object()).map(|answer| answer.body))
    }

    pub(super) async fn post_json(&self, url: &Url, body: &Value) -> Result<Answer, OAuthError> {
        let request = self.client(url).post(url.clone()).header(CONTENT_TYPE, "application/json");
        self.send(url, request.body(body.to_string())).await
    }

    /// Posts a form, with the header `Authorization` if there is one.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        authorization: Option<HeaderValue>,
    ) -> Result<Answer, OAuthError> {
        let pairs = form.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = self.client(url).post(url.clone()).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = authorization.into_iter().fold(request, |request, value| request.header(AUTHORIZATION, value));
        self.send(url, request.body(body)).await
    }

    /// Posts a message to the server itself, without a token, and returns its challenge.
    pub(super) async fn challenge(&self, body: &Value) -> Result<(u16, Option<String>), OAuthError> {
        let url = &self.server;
        let request = self.client(url).post(url.clone()).header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, "application/json, text/event-stream").timeout(WITHIN);
        let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "server/discover");
        let response = request.body(body.to_string()).send().await.map_err(|error| unreachable(url, error))?;
        let challenge = response.headers().get("www-authenticate").and_then(|value| value.to_str().ok());
        Ok((response.status().as_u16(), challenge.map(str::to_owned)))
    }

    fn client(&self, url: &Url) -> &Client {
        if url.scheme() == "http" { &self.plain } else { &self.encrypted }
    }

    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Answer, OAuthError> {
        let request = request.header(ACCEPT, "application/json").timeout(WITHIN);
        let mut response = request.send().await.map_err(|error| unreachable(url, error))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(url, error))? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BYTES {
                let why = format!("it is longer than {} KiB", MAX_BYTES >> 10);
                return Err(OAuthError::Unreadable { url: shown(url), why });
            }
        }
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}

/// A text as forms write it.
pub(super) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            other => {
                let _infallible = write!(encoded, "%{other:02X}");
            }
        }
        encoded
    })
}

fn unreachable(url: &Url, error: reqwest::Error) -> OAuthError {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    OAuthError::Unreachable { url: shown(url), why: cause.to_string() }
}

/// True for an address of this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match host(url) {
        Some(Host::Name(name)) => name == "localhost",
        Some(Host::Ip(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// True for an address that is written as one of this machine or of a private network. Names are not looked up.
fn is_near(url: &Url) -> bool {
    match host(url) {
        Some(Host::Name(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ip(IpAddr::V4(ip))) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Some(Host::Ip(IpAddr::V6(ip))) => {
            ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        None => true,
    }
}

enum Host<'a> {
    Name(&'a str),
    Ip(IpAddr),
}

fn host(url: &Url) -> Option<Host<'_>> {
    let host = url.host_str()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Some(match bare.parse::<IpAddr>() {
        Ok(ip) => Host::Ip(ip.to_canonical()),
        Err(_) => Host::Name(host),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses(server: &str, named: &str) -> bool {
        let fetch = Fetch::new(&server.parse().unwrap()).unwrap();
        fetch.address("it", named).is_err()
    }

    #[test]
    fn a_server_can_name_only_encrypted_addresses_or_those_of_its_own_machine() {
        let far = "https://mcp.example.com/mcp";
        for named in ["https://id.example.org/token", "https://10.example.org/"] {
            assert!(!refuses(far, named), "{named}");
        }
        for named in [
            "http://id.example.org/token",
            "http://localhost/token",
            "https://localhost/token",
            "https://127.0.0.1/token",
            "https://10.0.0.7/token",
            "https://169.254.169.254/latest",
            "https://[::1]/token",
            "https://[::ffff:10.0.0.7]/token",
            "https://[fd00::1]/token",
            "https://me:key@id.example.org/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "token",
        ] {
            assert!(refuses(far, named), "{named}");
        }
        for named in ["http://127.0.0.1:9/token", "http://localhost:9/token", "https://10.0.0.7/token"] {
            assert!(!refuses("http://localhost:7/mcp", named), "{named}");
        }
        assert!(refuses("http://localhost:7/mcp", "http://id.example.org/token"));
    }

    #[test]
    fn forms_carry_every_text() {
        assert_eq!(encoded("a b+c&d=é/~"), "a+b%2Bc%26d%3D%C3%A9%2F%7E");
    }

    #[test]
    fn a_server_without_encryption_on_another_machine_gets_no_sign_in() {
        assert!(Fetch::new(&"http://mcp.example.com/mcp".parse().unwrap()).is_err());
    }
}
