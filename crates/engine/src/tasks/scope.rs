//! The scope of a task at work: the part that its children, questions and messages use.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sortie_policy::Judge;
use sortie_protocol::{CallId, Job, TaskRequest};
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::deadline::Deadline;
use crate::conversation::live_record::LiveRecord;
use crate::conversation::load_task::Unseen;
use crate::conversation::task_record::Attached;
use crate::log::writer::FactWriter;
use crate::messages::inbox::Inbox;
use crate::messages::report_target::{Recipient, ReportTarget};
use crate::ports::approval::Approvals;
use crate::resolve::roster::Roster;
use crate::tasks::resume::end_interrupted::Caller;
use crate::tasks::state::EngineState;

/// One task at work.
pub(crate) struct TaskScope {
    pub(crate) engine: Arc<EngineState>,
    pub(crate) job: Arc<Job>,
    pub(crate) roster: Arc<Roster>,
    /// Its state, with the conversation that a child can be forked from.
    pub(crate) record: Arc<LiveRecord>,
    pub(crate) judge: Arc<Judge>,
    /// Approvals of the whole tree.
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: FactWriter,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) inbox: Arc<Inbox>,
    /// Children that answer calls which were under way when the task stopped.
    pub(crate) attached: HashMap<CallId, Attached>,
    /// All calls that were under way then.
    pub(crate) begun: HashSet<CallId>,
    /// Assumption about processes that have its children but cannot be seen from here.
    pub(crate) unseen: Unseen,
}

/// Launch mode of a task, as its starter sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchMode {
    /// The starter waits for the end.
    Foreground,
    /// The starter continues at once.
    Background,
}

impl LaunchMode {
    pub(crate) fn of(request: &TaskRequest) -> Self {
        if request.background { Self::Background } else { Self::Foreground }
    }
}

impl TaskScope {
    /// Returns the address for the report of a child that this call starts.
    pub(crate) fn address(&self, call: &CallId, mode: LaunchMode) -> Arc<ReportTarget> {
        let (sink, inbox) = (self.sink.clone(), Arc::clone(&self.inbox));
        let waits = mode == LaunchMode::Foreground;
        ReportTarget::new(Recipient { sink, inbox, call: call.clone(), waits, is_over: false }, &self.deadline)
    }

    /// Returns this task as the caller whose call a child answers.
    pub(crate) fn caller<'a>(&'a self, call: &'a CallId) -> Caller<'a> {
        Caller { sink: &self.sink, call, unseen: self.unseen, why: None }
    }
}
