//! The pool of connections, by definition: all users of one server share its connection. Connections to configured
//! servers last until the program ends. Connections to agents' own servers last while an agent brings the server or a
//! task can call it. Agent files change while a program runs, and each change can make another server of the same name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use sortie_agents::{AgentDefinition, ServerDefinition, ServerUse};

use crate::client::connection::Connection;
use crate::transport::ServerGround;

#[derive(Default)]
pub(super) struct ConnectionPool {
    connections: HashMap<ServerDefinition, Arc<Connection>>,
    /// Servers that each agent brought when last seen, by the agent's name.
    brought: HashMap<String, Vec<ServerDefinition>>,
}

impl ConnectionPool {
    /// Returns the connection to a server, creating it if needed.
    pub(super) fn to(&mut self, server: &ServerDefinition, ground: &Arc<ServerGround>) -> Arc<Connection> {
        let new = || Arc::new(Connection::new(server.clone(), Arc::clone(ground)));
        Arc::clone(self.connections.entry(server.clone()).or_insert_with(new))
    }

    /// Records the servers that the agent now brings, whether or not this task may use it.
    pub(super) fn see(&mut self, agent: &AgentDefinition) {
        let own = |server: &ServerUse| match server {
            ServerUse::Own(own) => Some(own.clone()),
            ServerUse::Named(_) => None,
        };
        self.brought.insert(agent.name.clone(), agent.servers.iter().filter_map(own).collect());
    }

    /// Removes the connections that nobody needs any more, to be closed. Only the pool still holds them: each task's
    /// tools hold theirs, and so does a start under way.
    pub(super) fn take_unneeded(&mut self, configured: &BTreeMap<String, ServerDefinition>) -> Vec<Arc<Connection>> {
        let brought = &self.brought;
        let is_meant = |server: &ServerDefinition| {
            configured.get(&server.name) == Some(server) || brought.values().flatten().any(|own| own == server)
        };
        let unneeded = |server: &ServerDefinition, connection: &mut Arc<Connection>| {
            Arc::strong_count(connection) == 1 && !is_meant(server)
        };
        self.connections.extract_if(unneeded).map(|(_, connection)| connection).collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<Connection>> {
        self.connections.values().cloned().collect()
    }
}
