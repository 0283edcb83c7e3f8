//! Asking a person: one question at a time, bound to exactly the call that it is about.
//!
//! The engine decides when to ask and what an answer covers. How a question looks, and where an answer for good is
//! written down, is the approver's business.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use sortie_policy::{Judge, Places, Rule};
use sortie_protocol::{Grant, GrantLayer, Resource, TaskId};
use sortie_tools::BoxFuture;

/// Whoever can be asked whether a call may run.
pub trait Approver: Send + Sync {
    /// Whether there is anybody to ask. Where nobody is, what would have to be asked is refused at once.
    fn is_present(&self) -> bool {
        true
    }

    /// Asks once, and waits as long as the person takes. The engine asks one question at a time; where it must give up
    /// (the task was stopped, its time is over), it drops the future.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval>;

    /// The task of a question that is being asked was let go into the background meanwhile: from now on it waits so
    /// long.
    fn hurry(&self, _question: &Question, _within: Duration) {}

    /// Puts an agent's own question to the person, who may answer in any words; `None` if nobody does. It is dropped
    /// like [`ask`](Self::ask).
    fn inquire<'a>(&'a self, _inquiry: &'a Inquiry<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

/// An agent's own question, with who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry<'a> {
    pub task: TaskId,
    pub title: &'a str,
    /// Names of the agents from the main one down to the one that asks.
    pub chain: &'a [String],
    pub question: &'a str,
    /// How long the agent waits for an answer.
    pub within: Duration,
    /// Set before the question is dropped because it was answered elsewhere.
    pub answered: &'a OnceLock<()>,
}

/// All that a person needs to know to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub task: TaskId,
    pub title: String,
    /// How long the task waits for an answer; `None` is as long as it takes.
    pub within: Option<Duration>,
    /// Names of the agents from the main one down to the one that asks.
    pub chain: Vec<String>,
    pub tool: String,
    /// Exactly what would run.
    pub arguments: String,
    /// What the call would change, as a unified diff, where the tool can tell.
    pub preview: Option<String>,
    /// What is allowed by [`Approval::Tree`]; none where no rules could say it, so that only this call can be allowed.
    pub rules: Vec<String>,
    /// What [`Approval::Always`] stands for, in words that mean the same in every project; `None` where no allow rule
    /// would settle it, because a rule asks whatever is allowed, or where it should be written by hand.
    pub lasting_rule: Option<String>,
    /// Rules that would settle it for good and are written by hand alone: those for commands, since one yes would let
    /// every other project run a script of its own by the same words, and those for tools that somebody else may change
    /// under the same name.
    pub by_hand: Vec<String>,
    /// Why it has to be asked.
    pub ground: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// This call, with these arguments.
    Once,
    /// Also what the question's rules cover, for all agents of this task tree.
    Tree,
    /// The same for good. The approver has written down the lasting rule.
    Always,
    No {
        /// In the person's words, for the agent.
        reason: Option<String>,
    },
    /// There is nobody to ask.
    Nobody,
}

/// Where there is nobody to ask.
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

/// What a person has approved for one task tree, beyond single calls.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    /// `None` until something was approved.
    approved: Mutex<Option<Approved>>,
    /// What tools that somebody else may change were when they were approved, by name.
    pins: Mutex<HashMap<String, String>>,
}

#[derive(Debug)]
struct Approved {
    rules: Vec<String>,
    judge: Judge,
}

impl Approvals {
    /// Whether nothing was approved for the whole tree.
    pub(crate) fn is_empty(&self) -> bool {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Adds rules; one that cannot be read adds nothing.
    pub(crate) fn add(&self, added: &[String], places: &Places) {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rules = approved.take().map(|approved| approved.rules).unwrap_or_default();
        rules.extend(added.iter().filter(|rule| rule.parse::<Rule>().is_ok()).cloned());
        let layer = GrantLayer { tools: Some(rules.clone()), ..GrantLayer::new("the user's answers") };
        let judge = Judge::new(&Grant { layers: vec![layer] }, places.clone());
        *approved = judge.ok().map(|judge| Approved { rules, judge });
    }

    /// Binds what was approved of a tool to what it is now.
    pub(crate) fn pin(&self, tool: &str, pin: Option<&str>) {
        if let Some(pin) = pin {
            self.pins.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned(), pin.to_owned());
        }
    }

    /// Returns whether a call of this tool is covered.
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

/// A tool by name, with the digest of its definition where it is a server's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PinnedTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) pin: Option<&'a str>,
}

impl<'a> PinnedTool<'a> {
    /// A tool of this program, which nobody can change.
    pub(crate) fn builtin(name: &'a str) -> Self {
        Self { name, pin: None }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn all_rules_of_an_answer_hold_together() {
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
    fn an_answer_about_a_tool_of_others_holds_only_while_the_tool_is_the_same() {
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
