//! A server at an address: streamable HTTP. Redirects are not followed, since keys would go along.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use sortie_llm::AddressKind;
use tokio::time::timeout;

use crate::oauth::SignIn;
use crate::transport::ServerGround;
use crate::transport::bounded_http::BoundedHttp;
use crate::transport::credentials::{Credentials, Source};
use crate::transport::decline_requests::{Backlog, Declining};

/// Most concurrent calls; a further one waits for another to end, and its time runs.
const MAX_CALLS: usize = 256;

/// Time for a server to show that it speaks the old transport.
const OLD_WITHIN: Duration = Duration::from_secs(3);

/// A server, as named in its definition, with the headers of its helper.
pub(crate) struct Remote<'a> {
    pub(crate) name: &'a str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) has_helper: bool,
    pub(crate) start_within: Duration,
}

/// Prepares the transport without sending anything, or returns the reason why that is impossible.
pub(crate) fn transport(
    remote: &Remote<'_>,
    ground: &ServerGround,
) -> Result<Declining<StreamableHttpClientTransport<BoundedHttp>>, String> {
    let &Remote { name, url, headers, has_helper, start_within } = remote;
    let redactor = &ground.redactor;
    let address: Url = url.parse().map_err(|error| format!("its `url` is invalid: {error}"))?;
    let is_https = match address.scheme() {
        "https" => true,
        "http" => false,
        _ => return Err("its `url` must begin with http:// or https://".to_owned()),
    };
    let kind = AddressKind { is_https, is_loopback: is_loopback(&address) };
    let client = sortie_llm::http_client(kind).map_err(|error| error.to_string())?;
    let mut sent = HashMap::new();
    for (name, value) in headers {
        let bad = || format!("the header `{name}` cannot be sent");
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        sent.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(sent)
        .max_concurrent_requests(MAX_CALLS)
        // The tools may differ in a new session, and nobody would check.
        .reinit_on_expired_session(false);
    let backlog = Backlog::default();
    let source = match headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
        _ if has_helper => Source::Helper,
        true => Source::Header,
        false => Source::SignIn,
    };
    let sign_in = SignIn::new(&ground.sign_ins, name, &address, redactor);
    let client = BoundedHttp {
        client,
        redactor: Arc::clone(redactor),
        backlog: backlog.clone(),
        credentials: Credentials { server: name.to_owned(), source, sign_in },
        discovery: start_within / 3,
    };
    Ok(Declining::over_streams(StreamableHttpClientTransport::with_client(client, config), backlog))
}

/// True if a server that failed the handshake begins a stream as the transport `sse` of 2024-11-05 does.
pub(crate) async fn is_old(url: &str, headers: &BTreeMap<String, String>) -> bool {
    let Ok(address) = url.parse::<Url>() else { return false };
    let kind = AddressKind { is_https: address.scheme() == "https", is_loopback: is_loopback(&address) };
    let Ok(client) = sortie_llm::http_client(kind) else { return false };
    let first = async {
        let request = client.get(address).header(ACCEPT, "text/event-stream");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let mut response = request.send().await.ok()?;
        let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?.to_owned();
        kind.starts_with("text/event-stream").then_some(())?;
        response.chunk().await.ok()?
    };
    let first = timeout(OLD_WITHIN, first).await.ok().flatten();
    first.is_some_and(|chunk| String::from_utf8_lossy(&chunk).lines().any(|line| line.trim_end() == "event: endpoint"))
}

fn is_loopback(address: &Url) -> bool {
    match address.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback()),
        None => false,
    }
}
