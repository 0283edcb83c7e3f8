//! Remote tools, which are not known when an engine is made: those of other people's servers, found when a task needs
//! them.
//!
//! The engine says which task, and what its grant allows. The provider decides where the tools come from and how long
//! that may take. A task starts with the tools that are there, and learns which are missing.

use std::sync::Arc;

use sortie_agents::{AgentDefinition, Registry};
use sortie_contract::Contract;
use sortie_policy::{Judge, Places};
use sortie_protocol::GrantLayer;
use sortie_tools::{BoxFuture, Tool};
use tokio_util::sync::CancellationToken;

use crate::ports::redaction::redacted;
use crate::resolve::configuration::{granted, tools_at};
use crate::resolve::permissions::Permissions;
use crate::resolve::roster::Roster;
use crate::resolve::settings::{EngineSettings, Requester, TaskKind};

/// Provider of remote tools.
pub trait RemoteTools: Send + Sync {
    /// Gathers the tools for a task that is about to start. Takes a bounded time and never fails, whatever the servers
    /// do; the result lists what is missing.
    fn gather<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Gathered>;

    /// True if an agent among these may get some.
    fn may_have_some(&self, _agents: &Registry) -> bool {
        true
    }

    /// Ends whatever was started for the tools. To be called before the program ends.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Tools that a task can use.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub agent: &'a AgentDefinition,
    /// Returns true if a tool of this name may be of use.
    pub admits: &'a (dyn Fn(&str) -> bool + Send + Sync),
    /// Returns true if any tool with this prefix may be of use.
    pub admits_some_of: &'a (dyn Fn(&str) -> bool + Send + Sync),
    /// Returns true if somebody has named tools with this prefix for the task, so that it waits for them.
    pub names_some_of: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

#[derive(Default)]
pub struct Gathered {
    /// Tools under their full names, in the order in which they are offered.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools that should be there but are missing, and why. The task's model learns of it, so that it can say what it
    /// could not do.
    pub missing: Vec<String>,
    /// Further notices, for people, who can act on them.
    pub notices: Vec<String>,
}

/// No remote tools at all.
#[derive(Debug, Clone, Copy)]
pub struct NoRemoteTools;

impl RemoteTools for NoRemoteTools {
    fn gather<'a>(&'a self, _wanted: Wanted<'a>) -> BoxFuture<'a, Gathered> {
        Box::pin(std::future::ready(Gathered::default()))
    }

    fn may_have_some(&self, _agents: &Registry) -> bool {
        false
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Search for the remote tools of a task, within its grant.
pub(crate) struct RemoteToolSearch<'a> {
    pub(crate) remote_tools: &'a dyn RemoteTools,
    pub(crate) contract: &'a dyn Contract,
    pub(crate) rules: &'a EngineSettings,
    pub(crate) permissions: &'a Permissions,
}

impl RemoteToolSearch<'_> {
    /// Returns the roster of a new task, with the remote tools that its grant allows. A task that is stopped meanwhile
    /// gets none.
    pub(crate) async fn equipped(
        &self,
        roster: &Arc<Roster>,
        agent: &AgentDefinition,
        requester: Requester<'_>,
        stop: &CancellationToken,
    ) -> Arc<Roster> {
        let only_some = self.contract.defaults().only_tools.is_some();
        if requester.kind() == TaskKind::Delegated && only_some {
            return Arc::clone(roster);
        }
        let tools = tools_at(&roster.tools, self.contract, self.rules, requester.depth_of_task());
        // The servers' tools are not known yet.
        let config = granted(agent, requester, &self.permissions.layers, &tools);
        // An unreadable grant admits nothing; the start of the task reports it. Paths do not matter here.
        let places = Places { home: Some("/".into()), ..Places::default() };
        let Ok(judge) = Judge::new(&config.grant, places) else { return Arc::clone(roster) };
        let wanted = Wanted {
            agent,
            admits: &|tool| judge.admits_some(tool),
            admits_some_of: &|prefix| judge.admits_some_of(prefix),
            names_some_of: &|prefix| config.grant.layers.iter().any(|layer| names_some_of(layer, prefix)),
        };
        self.with_gathered(roster, wanted, stop).await
    }

    /// Returns the roster of a resumed task, with the remote tools that it had.
    pub(crate) async fn equipped_again(
        &self,
        roster: &Arc<Roster>,
        agent: &AgentDefinition,
        had: &[String],
        stop: &CancellationToken,
    ) -> Arc<Roster> {
        if had.iter().all(|tool| roster.tools.get(tool).is_some()) {
            return Arc::clone(roster);
        }
        let wanted = Wanted {
            agent,
            admits: &|tool| had.iter().any(|had| had == tool),
            admits_some_of: &|prefix| had.iter().any(|had| had.starts_with(prefix)),
            names_some_of: &|prefix| had.iter().any(|had| had.starts_with(prefix)),
        };
        self.with_gathered(roster, wanted, stop).await
    }

    async fn with_gathered(&self, roster: &Arc<Roster>, wanted: Wanted<'_>, stop: &CancellationToken) -> Arc<Roster> {
        let Gathered { tools, missing, notices } = tokio::select! {
            biased;
            () = stop.cancelled() => Gathered::default(),
            gathered = self.remote_tools.gather(wanted) => gathered,
        };
        if tools.is_empty() && missing.is_empty() && notices.is_empty() {
            return Arc::clone(roster);
        }
        let clean =
            |said: Vec<String>| said.into_iter().map(|said| redacted(&self.permissions.redactor, said)).collect();
        Arc::new(roster.with(tools, clean(missing), clean(notices)))
    }
}

/// True if a list of tools or an allowing rule is about tools with this prefix. A rule for all tools names none.
fn names_some_of(layer: &GrantLayer, prefix: &str) -> bool {
    let family = prefix.trim_end_matches('_');
    let about = |rule: &String| {
        let tool = rule.split('(').next().unwrap_or_default().trim();
        tool == family || tool.starts_with(prefix) || tool == ANY_SERVER
    };
    layer.tools.iter().flatten().chain(&layer.allow).any(about)
}

/// Rule about the tools of all servers.
const ANY_SERVER: &str = "mcp__*";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_rules_name_the_servers_that_they_are_about() {
        let named = |rule: &str| {
            let [list, allow] = [Some(vec![rule.to_owned()]), None].map(|tools| GrantLayer {
                allow: if tools.is_none() { vec![rule.to_owned()] } else { Vec::new() },
                tools,
                ..GrantLayer::new("a test")
            });
            let both = [names_some_of(&list, "mcp__db__"), names_some_of(&allow, "mcp__db__")];
            assert_eq!(both[0], both[1], "{rule}");
            both[0]
        };
        for rule in ["mcp__db", "mcp__db__*", "mcp__db__query", "mcp__*"] {
            assert!(named(rule), "{rule}");
        }
        for rule in ["*", "Read", "mcp__dbx", "mcp__dbx__query", "mcp__d"] {
            assert!(!named(rule), "{rule}");
        }
        let denied = GrantLayer { deny: vec!["mcp__db".to_owned()], ..GrantLayer::new("a test") };
        assert!(!names_some_of(&denied, "mcp__db__"));
    }
}
