//! A server at an address: streamable HTTP. Redirects are not followed, since keys would go along.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use sortie_llm::AddressKind;
use sortie_policy::Redactor;

use crate::transport::bounded_http::BoundedHttp;
use crate::transport::decline_requests::{Backlog, Declining};

/// Most concurrent calls; a further one waits for another to end, and its time runs.
const MAX_CALLS: usize = 256;

/// Prepares the transport without sending anything, or returns the reason why that is impossible.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    redactor: &Arc<Redactor>,
    start_within: Duration,
) -> Result<Declining<StreamableHttpClientTransport<BoundedHttp>>, String> {
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
    let client =
        BoundedHttp { client, redactor: Arc::clone(redactor), backlog: backlog.clone(), discovery: start_within / 3 };
    Ok(Declining::over_streams(StreamableHttpClientTransport::with_client(client, config), backlog))
}

fn is_loopback(address: &Url) -> bool {
    match address.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback()),
        None => false,
    }
}
