//! Hooks: users' own programs that run before a task starts, when it has ended, and when it asks a person.
//!
//! The engine decides when a hook runs; the implementation decides what runs and how. Only a veto can fail a task: a
//! broken hook is reported, and the task continues. The outside world learns of each ending at least once, with its id.

use sortie_protocol::{Failure, FailureCode, Job, TaskOutcome};
use sortie_tools::BoxFuture;

use crate::Question;

/// Receiver of a task's events: its start, its ending and its questions.
pub trait Hooks: Send + Sync {
    /// True if there are no hooks, so that the engine can skip them.
    fn is_empty(&self) -> bool {
        false
    }

    /// Announces a leg that is about to start, and waits for the verdict. The job's prompt is this leg's prompt. The
    /// engine drops the future when the task is stopped or runs out of time.
    fn before_start<'a>(&'a self, job: &'a Job, leg: u32) -> BoxFuture<'a, Verdict>;

    /// Announces the ending of a leg. Returns at once; nobody waits for the hooks.
    fn ended(&self, job: &Job, leg: u32, outcome: &TaskOutcome);

    /// Announces that a task waits for a person. Returns at once.
    fn asks(&self, job: &Job, asking: &Asking<'_>);

    /// Names of the hooks that run at this moment, as people know them; one entry for each run.
    fn under_way(&self) -> Vec<String> {
        Vec::new()
    }

    /// Waits until all hooks have finished, and returns what went wrong since the last time. To be called before the
    /// program ends, which would cut off hooks that still run.
    fn settled(&self) -> BoxFuture<'_, Vec<String>>;
}

/// The hooks' decision about a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The reason why the task must not start. A model may read it.
    pub veto: Option<String>,
    /// Notices about broken hooks, for the outcome. Models also read it, so the words are ours and never those of a
    /// program.
    pub notices: Vec<String>,
}

impl Verdict {
    /// Returns the failure that a veto stands for.
    pub fn failure(&self) -> Option<Failure> {
        let reason = self.veto.as_ref()?;
        Some(Failure::new(FailureCode::Vetoed, format!("a hook did not let the task start: {reason}")))
    }
}

/// A question to a person, as hooks see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking<'a> {
    pub tool: &'a str,
    /// Exactly what would run, as JSON; or the text of an agent's own question.
    pub arguments: &'a str,
    /// Rules that would allow it from now on; none if it is not about permission.
    pub rules: &'a [String],
    /// The reason for asking.
    pub ground: &'a str,
}

impl<'a> From<&'a Question> for Asking<'a> {
    fn from(question: &'a Question) -> Self {
        let Question { tool, arguments, rules, ground, .. } = question;
        Self { tool, arguments, rules, ground }
    }
}

/// No hooks at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn is_empty(&self) -> bool {
        true
    }

    fn before_start<'a>(&'a self, _job: &'a Job, _leg: u32) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::default()))
    }

    fn ended(&self, _job: &Job, _leg: u32, _outcome: &TaskOutcome) {}

    fn asks(&self, _job: &Job, _asking: &Asking<'_>) {}

    fn settled(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}
