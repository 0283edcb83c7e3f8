//! Approvals: one question to a person at a time, bound to the exact call that it is about.
//!
//! The engine decides when to ask and what an answer covers. The approver decides how a question looks and where a
//! lasting answer is stored.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use sortie_policy::{Judge, Places, Rule};
use sortie_protocol::{Grant, GrantLayer, Resource, TaskId};
use sortie_tools::BoxFuture;

/// A person, or a stand-in, who decides whether a call may run.
pub trait Approver: Send + Sync {
    /// True if there is somebody to ask. Otherwise a call that needs approval is refused at once.
    fn is_present(&self) -> bool {
        true
    }

    /// True if there is somebody to ask about the tasks of this tree.
    fn reaches(&self, _root: TaskId) -> bool {
        self.is_present()
    }

    /// Asks once, and waits as long as the person takes. The engine asks one question at a time. It drops the future
    /// when the task is stopped or runs out of time.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval>;

    /// Shortens the wait for an open question, because its task has moved into the background meanwhile.
    fn hurry(&self, _question: &Question, _within: Duration) {}

    /// Puts an agent's own question to the person, who may answer in any words; `None` if nobody answers. It is dropped
    /// like [`ask`](Self::ask).
    fn inquire<'a>(&'a self, _inquiry: &'a Inquiry<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

/// An agent's own question, and the agent that asks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry<'a> {
    pub task: TaskId,
    pub title: &'a str,
    /// Names of the agents from the main agent down to the one that asks.
    pub chain: &'a [String],
    pub question: &'a str,
    /// Time that the agent waits for an answer.
    pub within: Duration,
    /// Set before the question is dropped because it was answered elsewhere.
    pub answered: &'a OnceLock<()>,
}

/// Everything that a person needs to know to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub task: TaskId,
    /// The root of its tree.
    pub root: TaskId,
    pub title: String,
    /// Time that the task waits for an answer; `None` is without limit.
    pub within: Option<Duration>,
    /// Names of the agents from the main agent down to the one that asks.
    pub chain: Vec<String>,
    pub tool: String,
    /// Exactly what would run.
    pub arguments: String,
    /// The call's change as a unified diff, if the tool can compute it.
    pub preview: Option<String>,
    /// Rules that [`Approval::Tree`] allows. Empty if no rule can express it, so that only this call can be allowed.
    pub rules: Vec<String>,
    /// The rule that [`Approval::Always`] stands for, worded so that it means the same in every project. `None` if no
    /// allow rule would settle it, because another rule always asks, or if it should be written by hand.
    pub lasting_rule: Option<String>,
    /// Lasting rules that a person has to write by hand. Rules for commands: one yes would let any other project run
    /// its own script under the same words. Rules for tools that somebody else may change under the same name.
    pub by_hand: Vec<String>,
    /// The reason for asking.
    pub ground: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// This call, with these arguments.
    Once,
    /// This call, and everything that the question's rules cover, for all agents of this task tree.
    Tree,
    /// Everything that the question's rules cover, for good. The approver has stored the lasting rule.
    Always,
    No {
        /// The person's own words, for the agent.
        reason: Option<String>,
    },
    /// There is nobody to ask.
    Nobody,
}

/// An approver for programs without a person to ask.
#[derive(Debug, Clone, Copy)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn is_present(&self) -> bool {
        false
    }

    fn ask<'a>(&'a self, _question: &'a Question) -> BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Nobody))
    }
}

/// Approvals that a person has given to one task tree, beyond single calls.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    /// `None` until something is approved.
    approved: Mutex<Option<Approved>>,
    /// Digests of changeable tools at the time of their approval, by tool name.
    pins: Mutex<HashMap<String, String>>,
}

#[derive(Debug)]
struct Approved {
    rules: Vec<String>,
    judge: Judge,
}

impl Approvals {
    /// True if nothing was approved for the whole tree.
    pub(crate) fn is_empty(&self) -> bool {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Adds rules. If any of them is invalid, none is added.
    pub(crate) fn add(&self, added: &[String], places: &Places) {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rules = approved.take().map(|approved| approved.rules).unwrap_or_default();
        rules.extend(added.iter().filter(|rule| rule.parse::<Rule>().is_ok()).cloned());
        let layer = GrantLayer { tools: Some(rules.clone()), ..GrantLayer::new("the user's answers") };
        let judge = Judge::new(&Grant { layers: vec![layer] }, places.clone());
        *approved = judge.ok().map(|judge| Approved { rules, judge });
    }

    /// Binds the approval of a tool to its present definition.
    pub(crate) fn pin(&self, tool: &str, pin: Option<&str>) {
        if let Some(pin) = pin {
            self.pins.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned(), pin.to_owned());
        }
    }

    /// Returns true if an approval covers a call of this tool.
    pub(crate) fn cover(&self, tool: PinnedTool<'_>, resource: &Resource) -> bool {
        let PinnedTool { name: tool, pin } = tool;
        let is_other = |pin: &str| {
            let pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
            pins.get(tool).is_none_or(|approved| approved != pin)
        };
        if pin.is_some_and(is_other) {
            return false;
        }
        let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        approved.as_ref().is_some_and(|approved| approved.judge.decide(tool, resource).is_allowed())
    }
}

/// A tool by name, with the digest of its definition if a server offers it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PinnedTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) pin: Option<&'a str>,
}

impl<'a> PinnedTool<'a> {
    /// A tool of this program, which nobody else can change.
    pub(crate) fn builtin(name: &'a str) -> Self {
        Self { name, pin: None }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn all_rules_of_an_approval_apply_together() {
        let line = |line: &str| Resource::Command { line: line.to_owned(), directory: PathBuf::new() };
        let places = Places { root: Some(PathBuf::from("/w")), ..Places::default() };
        let approvals = Approvals::default();
        approvals.add(&["Bash(cargo build)".to_owned(), "Edit(/log)".to_owned(), "no rule".to_owned()], &places);
        assert!(approvals.cover(PinnedTool::builtin("Bash"), &line("cargo build > log")));
        assert!(approvals.cover(PinnedTool::builtin("Write"), &Resource::Path(PathBuf::from("log"))));
        assert!(!approvals.cover(PinnedTool::builtin("Bash"), &line("cargo build > other")));
        assert!(!approvals.cover(PinnedTool::builtin("Bash"), &line("cargo test")));
    }

    #[test]
    fn an_approval_of_a_server_tool_holds_only_while_the_tool_is_unchanged() {
        let (tool, nothing) = ("mcp__db__query", Resource::Nothing);
        let approvals = Approvals::default();
        approvals.add(&[tool.to_owned()], &Places::default());
        assert!(
            !approvals.cover(PinnedTool { name: tool, pin: Some("1") }, &nothing),
            "it was not this one that was approved"
        );
        approvals.pin(tool, Some("1"));
        assert!(approvals.cover(PinnedTool { name: tool, pin: Some("1") }, &nothing));
        assert!(!approvals.cover(PinnedTool { name: tool, pin: Some("2") }, &nothing));
    }
}
