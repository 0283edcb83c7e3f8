//! Tools that are not known when an engine is made: those of servers that others run, found when a task needs them.
//!
//! The engine says for which task, and what its grant leaves of them. Where they come from, and how long that may take,
//! is the other side's business; a task starts with those that are there and is told of those that are not.

use std::sync::Arc;

use sortie_agents::AgentDefinition;
use sortie_contract::Contract;
use sortie_policy::{Judge, Places};
use sortie_tools::{BoxFuture, Tool};
use tokio_util::sync::CancellationToken;

use crate::ports::redaction::redacted;
use crate::resolve::configuration::{granted, tools_at};
use crate::resolve::permissions::Permissions;
use crate::resolve::roster::Roster;
use crate::resolve::settings::{EngineSettings, Requester, TaskKind};

/// Whoever has such tools.
pub trait RemoteTools: Send + Sync {
    /// The tools for a task that is about to start. Takes a bounded time, whatever the servers do, and never fails:
    /// what is missing is told.
    fn gather<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Gathered>;

    /// Ends what was started for them. To be called before the program ends.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// What a task can use.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub agent: &'a AgentDefinition,
    /// Whether a tool of this name may be of use.
    pub admits: &'a (dyn Fn(&str) -> bool + Send + Sync),
    /// The same of some tool whose name begins so.
    pub admits_some_of: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

#[derive(Default)]
pub struct Gathered {
    /// Each by its whole name, in the order in which they are offered.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What is missing though it should be there, and why. The task's model is told, so that it can say what it could
    /// not do.
    pub missing: Vec<String>,
    /// What else there is to say of them. It is for people, who can change it.
    pub notices: Vec<String>,
}

/// Where there are none.
#[derive(Debug, Clone, Copy)]
pub struct NoRemoteTools;

impl RemoteTools for NoRemoteTools {
    fn gather<'a>(&'a self, _wanted: Wanted<'a>) -> BoxFuture<'a, Gathered> {
        Box::pin(std::future::ready(Gathered::default()))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Finds the remote tools of a task, within what its grant leaves of them.
pub(crate) struct RemoteToolSearch<'a> {
    pub(crate) remote_tools: &'a dyn RemoteTools,
    pub(crate) contract: &'a dyn Contract,
    pub(crate) rules: &'a EngineSettings,
    pub(crate) permissions: &'a Permissions,
}

impl RemoteToolSearch<'_> {
    /// The roster of a new task, with what remote tools its grant leaves to it. One that is stopped meanwhile gets
    /// none.
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
        // Servers' tools are not known yet.
        let config = granted(agent, requester, &self.permissions.layers, &tools);
        // A grant that cannot be read admits nothing; whoever starts the task says so. Paths have no bearing on it.
        let places = Places { home: Some("/".into()), ..Places::default() };
        let Ok(judge) = Judge::new(&config.grant, places) else { return Arc::clone(roster) };
        let wanted = Wanted {
            agent,
            admits: &|tool| judge.admits_some(tool),
            admits_some_of: &|prefix| judge.admits_some_of(prefix),
        };
        self.with_gathered(roster, wanted, stop).await
    }

    /// The roster of a task that goes on, with the remote tools that it had.
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
