//! Connections to external MCP servers, whose tools our agents can call.
//!
//! Each server has one connection, shared by the whole process. It is made when the first task that may use it starts,
//! made anew with backoff when it is lost, and closed with the program. Only tasks for which somebody has named the
//! server wait until it is ready.
//!
//! Their tools are offered to models within bounds: the list, the schemas and the outputs.
//!
//! A server's words about its tools are a description, never a permission: the gate decides about each call, by the
//! tool's name. The command line decides which servers exist and which are trusted.

mod connection;
mod connection_pool;
mod live_connection;
mod notifications;
mod pending_request;
mod remote_tool;
mod server_error;
mod tool_answer;
mod tool_listing;
mod tool_pages;
mod tool_schema;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{join, join_all};
use sortie_agents::{AgentDefinition, Registry, ServerDefinition, ServerUse, server_prefix};
use sortie_engine::{Gathered, RemoteTools, Wanted};
use sortie_tools::{BoxFuture, Tool};

use self::connection::Connection;
use self::connection_pool::ConnectionPool;
use self::remote_tool::RemoteTool;
use crate::transport::ServerGround;

/// Most tools of one server offered to one task; their descriptions precede each of its requests.
const MAX_OFFERED: usize = 100;

/// The configured servers, and the connections to them and to agents' own servers.
pub struct Connections {
    configured: BTreeMap<String, ServerDefinition>,
    ground: Arc<ServerGround>,
    made: Mutex<ConnectionPool>,
    /// Configured servers that are Sortie itself, and so left out.
    left_out: Vec<String>,
    /// True once a task was told of those.
    has_told: AtomicBool,
}

impl Connections {
    /// Creates the pool; no server is started yet.
    pub fn new(configured: impl IntoIterator<Item = ServerDefinition>, ground: ServerGround) -> Self {
        let (own, others): (Vec<_>, Vec<_>) =
            configured.into_iter().partition(|server| !server.is_off && ground.leaves_out(server));
        let configured = others.into_iter().map(|server| (server.name.clone(), server)).collect();
        let left_out = own.into_iter().map(|server| server.name).collect();
        let ground = Arc::new(ground);
        Self { configured, ground, made: Mutex::default(), left_out, has_told: AtomicBool::new(false) }
    }

    fn made(&self) -> MutexGuard<'_, ConnectionPool> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connections to these servers, and those that nobody needs any more with the agent as it now is.
    fn connections(&self, agent: &AgentDefinition, servers: &[&ServerDefinition]) -> [Vec<Arc<Connection>>; 2] {
        let mut made = self.made();
        made.see(agent);
        let wanted = servers.iter().map(|server| made.to(server, &self.ground)).collect();
        [wanted, made.take_unneeded(&self.configured)]
    }

    /// Returns the servers available to an agent, and notices about its unusual requests.
    fn servers_of<'a>(&'a self, wanted: &Wanted<'a>) -> (Vec<&'a ServerDefinition>, Vec<String>) {
        let mut servers: Vec<&ServerDefinition> = self.configured.values().collect();
        let mut notices = Vec::new();
        if !self.left_out.is_empty() && !self.has_told.swap(true, Ordering::Relaxed) {
            notices.extend(self.left_out.iter().map(|name| is_itself(name)));
        }
        for server in &wanted.agent.servers {
            let configured = self.configured.get(server.name());
            match (server, configured) {
                (ServerUse::Named(name), None) if self.left_out.contains(name) => notices.push(format!(
                    "the agent `{}` asks for the MCP server `{name}`; {}",
                    wanted.agent.name,
                    is_itself(name)
                )),
                (ServerUse::Own(own), None) if self.ground.leaves_out(own) => notices.push(format!(
                    "the agent `{}` brings the MCP server `{}`; {}",
                    wanted.agent.name,
                    own.name,
                    is_itself(&own.name)
                )),
                (_, Some(configured)) if configured.is_off => notices.push(format!(
                    "the agent `{}` asks for the MCP server `{}`, which is switched off",
                    wanted.agent.name, configured.name
                )),
                (ServerUse::Named(name), None) => notices.push(format!(
                    "the agent `{}` asks for the MCP server `{name}`, which is not configured",
                    wanted.agent.name
                )),
                (ServerUse::Own(own), Some(configured)) if own != configured => notices.push(format!(
                    "the agent `{}` brings an MCP server `{}`, but another one of that name is configured and is \
                        used instead",
                    wanted.agent.name, own.name
                )),
                (_, Some(_)) => {}
                (ServerUse::Own(own), None) => servers.push(own),
            }
        }
        servers.retain(|server| !server.is_off && (wanted.admits_some_of)(&server_prefix(&server.name)));
        (servers, notices)
    }
}

impl RemoteTools for Connections {
    fn gather<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Gathered> {
        Box::pin(async move {
            let (servers, notices) = self.servers_of(&wanted);
            let mut gathered = Gathered { notices, ..Gathered::default() };
            let [connections, unneeded] = self.connections(wanted.agent, &servers);
            let named: Vec<bool> =
                servers.iter().map(|server| (wanted.names_some_of)(&server_prefix(&server.name))).collect();
            let listings = join_all(connections.iter().zip(named).map(|(connection, is_named)| async move {
                if is_named { connection.ready().await } else { connection.ready_within(self.ground.grace).await }
            }));
            let closings = join_all(unneeded.iter().map(|connection| connection.close()));
            let (listings, _) = join(listings, closings).await;
            for (connection, listing) in connections.into_iter().zip(listings) {
                match listing {
                    Ok(listing) => {
                        gathered.missing.extend(listing.unreadable.clone());
                        gathered.notices.extend(listing.notices.iter().cloned());
                        let admitted = listing.tools.iter().filter(|tool| (wanted.admits)(&tool.spec.name));
                        let admitted: Vec<_> = admitted.collect();
                        gathered.notices.extend(left_out(connection.name(), admitted.len()));
                        let tool = |listed| Arc::new(RemoteTool::new(listed, &connection)) as Arc<dyn Tool>;
                        gathered.tools.extend(admitted.into_iter().take(MAX_OFFERED).map(tool));
                    }
                    Err(trouble) => gathered.missing.push(format!("its tools are missing: {trouble}")),
                }
            }
            gathered
        })
    }

    fn may_have_some(&self, agents: &Registry) -> bool {
        let is_own = |server: &ServerUse| matches!(server, ServerUse::Own(own) if !own.is_off);
        let has_own = |agent: &AgentDefinition| agent.servers.iter().any(is_own);
        self.configured.values().any(|server| !server.is_off) || agents.all().iter().any(has_own)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let made = self.made().all();
            join_all(made.iter().map(|connection| connection.close())).await;
        })
    }
}

/// Notice about a server that is this program.
fn is_itself(server: &str) -> String {
    format!(
        "the MCP server `{server}` is Sortie itself and is left out: its agents delegate by themselves; \
         `mcp.nested = true` in your own configuration lets them use it"
    )
}

/// Notice about tools left out because there are too many.
fn left_out(server: &str, admitted: usize) -> Option<String> {
    let more = admitted.checked_sub(MAX_OFFERED).filter(|more| *more > 0)?;
    Some(format!(
        "the MCP server `{server}` has {admitted} tools; {more} are left out, because at most {MAX_OFFERED} are \
            offered. Name the ones you need in an agent's `tools`"
    ))
}
