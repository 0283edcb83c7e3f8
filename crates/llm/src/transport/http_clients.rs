//! HTTP clients of the process, each built by the first call that needs it.
//!
//! Building a client takes milliseconds if root certificates are read, so plain `http` never reads them. The libraries
//! below honour the usual variables: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, and on Linux `SSL_CERT_FILE`
//! and `SSL_CERT_DIR`. A server on this machine is never reached through a proxy.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};

use crate::route::BaseUrl;
use crate::{ErrorKind, ModelError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEP_IDLE_CONNECTIONS: Duration = Duration::from_secs(90);

/// One client, with its own connection pool, for each kind of address.
#[derive(Debug, Default)]
pub(crate) struct HttpClients {
    /// Indexed by `https` or not, then by on this machine or not.
    clients: [[OnceLock<Client>; 2]; 2],
}

impl HttpClients {
    /// Returns the client for an address.
    pub(crate) fn client_for(&self, base_url: &BaseUrl) -> Result<&Client, ModelError> {
        let kind = AddressKind { is_https: base_url.is_https(), is_loopback: base_url.is_loopback() };
        let slot = &self.clients[usize::from(kind.is_https)][usize::from(kind.is_loopback)];
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let client = http_client(kind)?;
        Ok(slot.get_or_init(|| client))
    }
}

/// Kind of address that a client is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressKind {
    pub is_https: bool,
    /// True if the server is on this machine.
    pub is_loopback: bool,
}

/// Builds a client for addresses of one kind, with the settings used for models.
pub fn http_client(kind: AddressKind) -> Result<Client, ModelError> {
    install_crypto();
    let builder = if kind.is_loopback { builder().no_proxy() } else { builder() };
    let builder = if kind.is_https { builder } else { builder.tls_certs_only([]) };
    builder.build().map_err(|error| {
        let cause = deepest_cause(&error);
        let message = format!("no HTTP client can be made: {cause}; are CA certificates installed? (SSL_CERT_FILE)");
        ModelError::new(ErrorKind::Setup, message)
    })
}

fn builder() -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("sortie/", env!("CARGO_PKG_VERSION")))
        // A redirected POST would send the conversation and the key to an address that nobody configured.
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(KEEP_IDLE_CONNECTIONS)
        .http1_only()
}

/// Installs the process-wide cryptography provider for TLS, unless there is one already.
fn install_crypto() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // An error only means that another thread was faster.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
}

/// Returns the innermost error; the outer ones repeat it in more general words.
pub(crate) fn deepest_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
