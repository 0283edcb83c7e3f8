//! Permission check of one task's calls: by its grant, by a person's approvals, and, if the grant says so, by asking.
//!
//! A call is judged twice. Before it runs, by the paths it would touch; and again whenever it opens a file: a link
//! swapped in between leads nowhere.

use std::sync::Arc;

use sortie_journal::JournalError;
use sortie_mutant::is_out;
use sortie_policy::{Decision, Ground, Judge, Places, lasting_remedy, remedies};
use sortie_protocol::{ApprovalAnswer, Fact, Fault, Job, Resource, ToolCall, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{CallContext, Tool};

use crate::budget::deadline::Deadline;
use crate::budget::slots::Slot;
use crate::gate::approval_timeout::ApprovalTimeout;
use crate::log::writer::FactWriter;
use crate::ports::approval::{Approval, Approvals, Approver, PinnedTool, Question};
use crate::ports::approval_queue::ApprovalQueue;
use crate::ports::hooks::{Asking, Hooks};
use crate::resolve::permissions::git_files::obeyed_by_git;
use crate::resolve::permissions::path_guard::PathGuard;

/// Refusal text for an approval request that timed out before anyone saw it.
const OVERTAKEN: &str = "your question was never shown to anyone: others were asked before it, and there is little time left; \
                         continue without it, and say so in your report";

/// Refusal text for an approval request with too little time left.
const TOO_LATE: &str = "your question was never shown to anyone: there is too little time left for an answer; continue without it, \
                        and say so in your report";

/// Permissions of one task, and the means to ask for more.
pub(crate) struct PermissionCheck {
    pub(crate) judge: Arc<Judge>,
    /// A person's approvals for the whole tree.
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) approval_queue: Arc<ApprovalQueue>,
    pub(crate) places: Places,
    pub(crate) job: Arc<Job>,
    pub(crate) hooks: Arc<dyn Hooks>,
    /// Deadline for an answer.
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) patience: ApprovalTimeout,
    /// Lent to others while the task waits for a person.
    pub(crate) slot: Arc<Slot>,
}

impl PermissionCheck {
    /// Checks a call. Returns its view of the workspace, or the output that refuses it.
    pub(crate) async fn clear(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        context: CallContext<'_>,
        sink: &FactWriter,
    ) -> Result<Result<Arc<Workspace>, ToolOutput>, JournalError> {
        let resource = tool.resource(&call.arguments, context);
        let is_command = matches!(resource, Resource::Command { .. });
        let decision = match self.judge.decide(&call.tool, &resource) {
            Decision::Deny(ground) => Decision::Deny(ground),
            other => self.gits_own(tool, &resource, context.workspace).unwrap_or(other),
        };
        let approved = match decision {
            Decision::Allow => None,
            Decision::Deny(ground) => return Ok(Err(denied(call, &ground))),
            Decision::Ask(_) if !self.has_person() && is_out("nobody-to-ask") => Some(resource),
            Decision::Ask(ground) if !self.has_person() => return Ok(Err(unasked(call, &ground))),
            Decision::Ask(_) if self.approvals.cover(PinnedTool { name: &call.tool, pin: tool.pin() }, &resource) => {
                Some(resource)
            }
            Decision::Ask(ground) => {
                let asked = Asked { call, tool, context, resource: &resource, ground: &ground };
                let answer = async {
                    tokio::select! {
                        // A stopped task asks nothing more, not even a question whose turn has just come.
                        biased;
                        () = context.cancel.cancelled() => Ok(Err(refused(call, self.given_up()))),
                        answer = self.in_turn(&asked, sink) => answer,
                    }
                };
                match self.slot.lend(answer, context.cancel.cancelled()).await? {
                    Ok(()) => Some(resource),
                    Err(refusal) => return Ok(Err(refusal)),
                }
            }
        };
        // Walls decide what a command can touch; its own rules are about command lines, not paths.
        if is_command {
            return Ok(Ok(Arc::clone(context.workspace)));
        }
        Ok(Ok(self.view(call, tool, context.workspace, approved)))
    }

    /// Returns the denial of a change to what git would obey, though its name does not show it.
    fn gits_own(&self, tool: &dyn Tool, resource: &Resource, workspace: &Workspace) -> Option<Decision> {
        let Resource::Path(path) = resource else { return None };
        if tool.idempotent() {
            return None;
        }
        let what = obeyed_by_git(workspace, path, self.places.home.as_deref())?;
        Some(Decision::Deny(Ground::protected(what)))
    }

    fn has_person(&self) -> bool {
        self.approver.reaches(self.job.root)
    }

    /// Returns the call's view of the workspace. Reads need no second check if no rule is about single paths.
    fn view(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        workspace: &Arc<Workspace>,
        approved: Option<Resource>,
    ) -> Arc<Workspace> {
        if tool.idempotent() && !self.judge.guards_reads() {
            return Arc::clone(workspace);
        }
        let (judge, approvals) = (Arc::clone(&self.judge), Arc::clone(&self.approvals));
        let work = (!tool.idempotent()).then(|| (Arc::clone(workspace), self.places.home.clone()));
        Arc::new(workspace.guarded(Arc::new(PathGuard { tool: call.tool.clone(), judge, approvals, approved, work })))
    }

    /// Asks when it is this question's turn, in the order of the calls, if there is time. An approval given meanwhile
    /// may already cover the call.
    async fn in_turn(&self, asked: &Asked<'_>, sink: &FactWriter) -> Result<Result<(), ToolOutput>, JournalError> {
        let Asked { call, tool, context, resource, ground } = *asked;
        let time = self.deadline.time_to_ask();
        if !time.is_enough() {
            return Ok(Err(refused(call, self.unshown(TOO_LATE))));
        }
        let _turn = tokio::select! {
            biased;
            () = time.passes(None) => return Ok(Err(refused(call, self.unshown(OVERTAKEN)))),
            turn = self.approval_queue.turn() => turn,
        };
        if self.approvals.cover(PinnedTool { name: &call.tool, pin: tool.pin() }, resource) {
            return Ok(Ok(()));
        }
        if !time.is_enough() {
            return Ok(Err(refused(call, self.unshown(OVERTAKEN))));
        }
        let rules = remedies(&call.tool, resource, &self.places);
        let covers = if rules.is_empty() { call.tool.clone() } else { rules.join(", ") };
        sink.append(Fact::ApprovalAsked { call: call.id.clone(), rule: covers }).await?;
        let is_command = matches!(resource, Resource::Command { .. });
        let lasting = lasting_remedy(&call.tool, resource, &self.places);
        let preview = tool.preview(&call.arguments, context).await;
        let wait = self.patience.begin(self.job.task, &time).await;
        let question = Question {
            task: self.job.task,
            root: self.job.root,
            title: self.job.title.clone(),
            within: wait.within(),
            chain: self.job.config.chain.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            preview,
            rules: rules.clone(),
            lasting_rule: lasting.filter(|_| !ground.remedies.is_empty() && tool.pin().is_none()),
            by_hand: ground.remedies.iter().filter(|_| is_command || tool.pin().is_some()).cloned().collect(),
            ground: ground.to_string(),
        };
        self.hooks.asks(&self.job, &Asking::from(&question));
        let approval = tokio::select! {
            biased;
            why = wait.runs_out(|within| self.approver.hurry(&question, within)) => return Ok(Err(refused(call, &why))),
            approval = self.approver.ask(&question) => approval,
        };
        let (answer, refusal) = match approval {
            Approval::Once => (ApprovalAnswer::Once, None),
            Approval::Tree => (ApprovalAnswer::Tree, None),
            Approval::Always => (ApprovalAnswer::Always, None),
            Approval::No { reason } => {
                let words = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                (ApprovalAnswer::No, Some(refused(call, &format!("the user said no{words}"))))
            }
            Approval::Nobody => return Ok(Err(unasked(call, ground))),
        };
        if matches!(answer, ApprovalAnswer::Tree | ApprovalAnswer::Always) {
            self.approvals.add(&rules, &self.places);
            self.approvals.pin(&call.tool, tool.pin());
        }
        sink.append(Fact::ApprovalAnswered { call: call.id.clone(), answer }).await?;
        Ok(refusal.map_or(Ok(()), Err))
    }

    /// Returns the reason why a question was never shown.
    fn unshown(&self, why: &'static str) -> &'static str {
        if self.deadline.has_passed() { self.given_up() } else { why }
    }

    /// Returns the reason why a question is given up.
    fn given_up(&self) -> &'static str {
        if self.deadline.has_passed() {
            "nobody answered in time"
        } else {
            "the task was stopped before anybody answered"
        }
    }
}

/// A call that needs approval.
#[derive(Clone, Copy)]
struct Asked<'a> {
    call: &'a ToolCall,
    tool: &'a dyn Tool,
    context: CallContext<'a>,
    resource: &'a Resource,
    ground: &'a Ground,
}

fn denied(call: &ToolCall, ground: &Ground) -> ToolOutput {
    refused(call, &ground.to_string())
}

fn unasked(call: &ToolCall, ground: &Ground) -> ToolOutput {
    refused(call, &format!("nobody can be asked here, and it {ground}"))
}

fn refused(call: &ToolCall, why: &str) -> ToolOutput {
    ToolOutput::failure(format!("{} was not run: {why}", call.tool)).because(Fault::NotAllowed)
}
