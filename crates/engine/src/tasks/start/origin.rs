//! The origin of a task: its requester, and everything that the task inherits from there.

use std::sync::Arc;

use sortie_policy::Judge;
use sortie_protocol::{Failure, FailureCode, TaskId};
use tokio_util::sync::CancellationToken;

use crate::gate::call_order::AdmissionOrder;
use crate::messages::report_target::ReportTarget;
use crate::ports::approval::Approvals;
use crate::resolve::settings::Requester;
use crate::tasks::scope::TaskScope;
use crate::tasks::state::EngineState;

/// The requester of a task, or of its next leg.
pub(crate) enum Origin<'a> {
    /// A person starts a main agent, or resumes any task.
    Person,
    /// A program outside every task delegates: `sortie task`, a host over MCP. With a depth above 0, it works for a
    /// task of that depth in another process.
    Host { depth: u32 },
    /// A program delegates to an agent of its own choice, and holds the task's id before the task starts.
    Library { task: TaskId },
    /// A call of a task at work. The address receives the report. A new child has its place among those of its turn.
    Child { parent: &'a TaskScope, address: Arc<ReportTarget>, order: Option<Arc<AdmissionOrder>> },
}

impl Origin<'_> {
    pub(crate) fn requester(&self) -> Requester<'_> {
        match self {
            Self::Person => Requester::Person,
            Self::Host { depth } => Requester::Program { depth: *depth },
            Self::Library { .. } => Requester::Program { depth: 0 },
            Self::Child { parent, .. } => Requester::Task(&parent.job.config),
        }
    }

    /// Returns the id of the task, if it was given out before.
    pub(crate) fn task(&self) -> Option<TaskId> {
        match self {
            Self::Library { task } => Some(*task),
            Self::Person | Self::Host { .. } | Self::Child { .. } => None,
        }
    }

    pub(crate) fn parent(&self) -> Option<&TaskScope> {
        match self {
            Self::Person | Self::Host { .. } | Self::Library { .. } => None,
            Self::Child { parent, .. } => Some(parent),
        }
    }

    /// Returns the judge of this origin's delegations: its own grant, else the user's rules.
    pub(crate) fn judge(&self, engine: &EngineState) -> Result<Arc<Judge>, Failure> {
        if let Some(parent) = self.parent() {
            return Ok(Arc::clone(&parent.judge));
        }
        let judge = engine.permissions.judge(engine.places.clone());
        judge.map(Arc::new).map_err(|error| Failure::new(FailureCode::Grant, error.to_string()))
    }

    /// Returns a new cancellation token, below the parent's if there is one.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.parent().map_or_else(CancellationToken::new, |parent| parent.cancel.child_token())
    }

    pub(crate) fn approvals(&self) -> Arc<Approvals> {
        self.parent().map(|parent| Arc::clone(&parent.approvals)).unwrap_or_default()
    }

    pub(crate) fn address(&self) -> Option<Arc<ReportTarget>> {
        match self {
            Self::Person | Self::Host { .. } | Self::Library { .. } => None,
            Self::Child { address, .. } => Some(Arc::clone(address)),
        }
    }

    /// Counts one more child of the parent, and fails at its limit.
    pub(crate) fn count_child(&self) -> Result<(), Failure> {
        self.parent().map_or(Ok(()), |parent| parent.account.admit_child())
    }

    /// Takes back the count for a child that does not start after all.
    pub(crate) fn uncount_child(&self) {
        if let Some(parent) = self.parent() {
            parent.account.take_back_child();
        }
    }

    /// Notes that the child counts towards all limits on children and starts. Later calls of the turn are next.
    pub(crate) fn has_counted(&self) {
        if let Self::Child { order: Some(order), .. } = self {
            order.counted.is_done();
        }
    }

    /// True if a cached outcome may stand in for the task. A library has the id of its task already.
    pub(crate) fn takes_earlier_outcomes(&self) -> bool {
        matches!(self, Self::Host { .. } | Self::Child { .. })
    }

    /// True if its starts count towards the rate. A person may ask at any time.
    pub(crate) fn has_rate(&self) -> bool {
        !matches!(self, Self::Person)
    }
}
