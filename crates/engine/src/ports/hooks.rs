//! Users' own programs at the seams of a task's life: before it starts, when it has ended, when it asks a person.
//!
//! The engine says when; what is run, and how, is the other side's business. Nothing here can fail a task but a veto:
//! a hook that does not work is told of, and the task goes on. Outside, an ending is told at least once, with its id.

use sortie_protocol::{Failure, FailureCode, Job, TaskOutcome};
use sortie_tools::BoxFuture;

use crate::Question;

/// Whoever wants to know what becomes of tasks.
pub trait Hooks: Send + Sync {
    /// Whether nobody listens, so that nothing needs to be told.
    fn is_empty(&self) -> bool {
        false
    }

    /// Tells of a leg that is about to start, and waits for what is said to it. The job's prompt is what is asked now.
    /// Where the engine must give up (the task was stopped, its time is over), it drops the future.
    fn before_start<'a>(&'a self, job: &'a Job, leg: u32) -> BoxFuture<'a, Verdict>;

    /// Tells of the ending of a leg. Returns at once: nobody waits for what is done about it.
    fn ended(&self, job: &Job, leg: u32, outcome: &TaskOutcome);

    /// Tells that a task waits for a person. Returns at once.
    fn asks(&self, job: &Job, asking: &Asking<'_>);

    /// Who is told something at this moment, as people know them; one as often as it is told.
    fn under_way(&self) -> Vec<String> {
        Vec::new()
    }

    /// Waits until all that was told has been dealt with, and says what went wrong since the last time. To be called
    /// before the program ends: what is still under way then is lost with it.
    fn settled(&self) -> BoxFuture<'_, Vec<String>>;
}

/// What is said to a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Why the task must not start, in words that may be read by a model.
    pub veto: Option<String>,
    /// Hooks that did not work. For the outcome, which models read, too: in our words, never in those of a program.
    pub notices: Vec<String>,
}

impl Verdict {
    /// The rejection that a veto is.
    pub fn failure(&self) -> Option<Failure> {
        let reason = self.veto.as_ref()?;
        Some(Failure::new(FailureCode::Vetoed, format!("a hook did not let the task start: {reason}")))
    }
}

/// What a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking<'a> {
    pub tool: &'a str,
    /// Exactly what would run, as JSON; of an agent's own question, that.
    pub arguments: &'a str,
    /// What would allow it from now on; none where it is not about permission.
    pub rules: &'a [String],
    /// Why it has to be asked.
    pub ground: &'a str,
}

impl<'a> From<&'a Question> for Asking<'a> {
    fn from(question: &'a Question) -> Self {
        let Question { tool, arguments, rules, ground, .. } = question;
        Self { tool, arguments, rules, ground }
    }
}

/// Where nobody listens.
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
