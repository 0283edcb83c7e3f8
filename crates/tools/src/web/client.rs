//! An HTTP client for one request: it reaches only the addresses that were checked for it.
//!
//! Nothing outlives the request: no connection, no cookie, no credential. A proxy would look names up itself, past the
//! check, so none is used.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{Client, redirect, retry};

use super::target::Target;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEADERS: usize = 200;

/// Formats written as text come first.
const WANTED: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// Builds a client for a target at these addresses. Reads root certificates only for `https`.
pub(super) fn client(target: &Target, addresses: Vec<SocketAddr>) -> reqwest::Result<Client> {
    install_crypto();
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(WANTED));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let builder = Client::builder()
        .user_agent(concat!("sortie/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .dns_resolver(Checked(addresses))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(0)
        .http1_only()
        .http1_max_headers(MAX_HEADERS);
    if target.is_https() { builder } else { builder.tls_certs_only([]) }.build()
}

/// Returns only the checked addresses, for any name.
struct Checked(Vec<SocketAddr>);

impl Resolve for Checked {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Installs the provider of cryptography that TLS needs for the whole process. An existing one is kept.
fn install_crypto() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // An error only means that another thread was faster.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
}
