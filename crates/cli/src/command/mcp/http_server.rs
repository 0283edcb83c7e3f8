//! `sortie mcp --http`: the address to listen on, who may connect, and the announcement at the start.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use sortie_mcp::http::{self, BindError, Listener, Reach, TokenSource};

use super::token_file::TokenFile;
use crate::error::{self, CommandError};

#[derive(Debug, Args)]
pub(super) struct WebArgs {
    /// Serve over HTTP on this address, e.g. `127.0.0.1:8808`; port 0 takes any free port
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_address)]
    pub(super) http: Option<SocketAddr>,

    /// Accept connections from other machines. They need the token; traffic is not encrypted
    #[arg(long, requires = "http")]
    allow_remote: bool,

    /// Accept requests that address this machine by this name; repeatable
    #[arg(long, value_name = "NAME", requires = "allow_remote")]
    allow_host: Vec<String>,
}

/// Parts of a server over HTTP.
pub(super) struct Front {
    pub(super) listener: Listener,
    pub(super) token: TokenSource,
    token_path: PathBuf,
}

impl WebArgs {
    /// Listens on an address and opens the token. No request is answered yet.
    pub(super) async fn listen(&self, address: SocketAddr, home: &Path) -> Result<Front, CommandError> {
        let names = self.allow_host.clone();
        let reach = if self.allow_remote { Reach::Everywhere { names } } else { Reach::ThisMachine };
        let listener = Listener::bind(address, reach).await.map_err(|error| unbound(&error))?;
        let token = TokenFile::open(home)?;
        Ok(Front { listener, token_path: token.path().to_owned(), token: token.source() })
    }
}

impl Front {
    /// Announces the address and the path of the token. The token itself is never printed.
    pub(super) fn announce(&self) {
        let (address, path) = (self.listener.address(), http::PATH);
        if !address.ip().to_canonical().is_loopback() {
            error::warn(
                "other machines can reach this server. Anyone with the token can run agents here, and the token travels unencrypted: use it in a network that you trust, or behind a proxy that speaks TLS",
            );
        }
        let token = self.token_path.display();
        error::note(&format!(
            "listening on http://{address}{path}; send the token in {token} as `Authorization: Bearer`"
        ));
    }
}

fn unbound(error: &BindError) -> CommandError {
    match error {
        BindError::Wide { address } => CommandError::usage(error.to_string())
            .hint(format!("listen on 127.0.0.1:{}, and reach it from elsewhere through a tunnel", address.port()))
            .hint(
                "or accept it with --allow-remote: anyone with the token can run agents here, and nothing is encrypted",
            ),
        BindError::Taken { .. } => CommandError::config(error.to_string())
            .hint("another program may listen there; name another port, or 0 for any that is free"),
    }
}

/// Parses an address with a port; `localhost` is this machine's loopback address.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local.as_deref().unwrap_or(text).parse().map_err(|_| "write it like 127.0.0.1:8808 or [::1]:8808".to_owned())
}
