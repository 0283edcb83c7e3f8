//! The proxy through which commands reach hosts: plain HTTP, and tunnels (`CONNECT`) for TLS.
//!
//! Each connection is for one host. The grant judges its name and the guard of `WebFetch` its addresses; the connection
//! goes to an address that passed. Ports are not judged. A tunnel must begin with TLS for that very host. Its contents
//! are not visible, so a server of many hosts can be asked for another one inside it.

mod body;
mod client_hello;
mod connection;
mod dialer;
mod forward;
mod idle_stream;
mod reply;
mod request;
mod request_head;
#[cfg(test)]
mod tests;
mod tunnel;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use self::dialer::Dialer;
use crate::port::shell_reach::ShellReach;
use crate::web::guard::Guard;
use crate::web::web_rules::WebRules;

/// Maximum number of concurrent connections of one command. Others wait.
const MAX_CONNECTIONS: usize = 64;

/// Pause after a failed accept, mostly for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Idle timeout of a connection, in both directions.
const IDLE: Duration = Duration::from_mins(5);

/// A running proxy. Dropping it ends it with all its connections.
pub(crate) struct ProxyGuard {
    door: Arc<Dialer>,
    _serving: AbortOnDropHandle<()>,
}

impl ProxyGuard {
    /// Returns the failed connections with their reasons, in order, bounded and without repeats. Clients often do not
    /// show them.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.door.refused()
    }
}

/// Serves the connections to this listener, on the current runtime, for a command with this reach.
pub(crate) fn serve(
    listener: std::net::TcpListener,
    reach: Arc<dyn ShellReach>,
    web: &WebRules,
) -> io::Result<ProxyGuard> {
    start(listener, Dialer::new(reach, Guard::new(web.clone())))
}

fn start(listener: std::net::TcpListener, door: Dialer) -> io::Result<ProxyGuard> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let door = Arc::new(door);
    let serving = tokio::spawn(accept_all(listener, door.clone()));
    Ok(ProxyGuard { door, _serving: AbortOnDropHandle::new(serving) })
}

async fn accept_all(listener: TcpListener, door: Arc<Dialer>) {
    // Dropped with this future, which ends all connections.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
            continue;
        }
        match listener.accept().await {
            Ok((client, _)) => {
                let door = door.clone();
                connections.spawn(async move { connection::serve(client, &door).await });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Returns the environment variables for a proxy at this port of the command's own network.
///
/// The loopback of that network belongs to the command, so it reaches servers it starts itself directly. If this
/// machine's loopback may be reached, its names mean that, as in `WebFetch`.
pub(crate) fn variables(port: u16, reach: &dyn ShellReach, web: &WebRules) -> Vec<(String, String)> {
    const PROXIED: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];
    /// Names in programs and in grants.
    const LOOPBACK: [(&str, &str); 3] = [("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")];
    let is_own = |(name, host): &(&str, &str)| reach.may_reach(host).is_err() || !web.names_inside(name);
    let own: Vec<&str> = LOOPBACK.into_iter().filter(is_own).map(|(name, _)| name).collect();
    let proxied = PROXIED.map(|name| (name, format!("http://127.0.0.1:{port}")));
    let direct = DIRECT.map(|name| (name, own.join(",")));
    // Without it, Node's built-in clients ignore all the others.
    let node = [("NODE_USE_ENV_PROXY", "1".to_owned())];
    proxied.into_iter().chain(direct).chain(node).map(|(name, value)| (name.to_owned(), value)).collect()
}
