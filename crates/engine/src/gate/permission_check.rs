//! Whether one task's calls may run: by its grant, by what a person has approved, and, where the grant says so, by
//! asking one.
//!
//! A call is judged twice. Before it runs, by what it would touch; and at the door to the files, by what it is about to
//! open: a link that is swapped in between leads nowhere.

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
use crate::resolve::permissions::path_guard::PathGuard;

/// What whoever asks whether it may is told whose turn does not come in time.
const OVERTAKEN: &str = "your question was never shown to anyone: others were asked before it, and there is little time left; \
                         go on without it, and say so in your report";

/// The same, of one that asks with too little time left.
const TOO_LATE: &str = "your question was never shown to anyone: there is too little time left for an answer; go on without it, \
                        and say so in your report";

/// What one task may do, and whom to ask beyond that.
pub(crate) struct PermissionCheck {
    pub(crate) judge: Arc<Judge>,
    /// Given by a person for the whole tree.
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) approval_queue: Arc<ApprovalQueue>,
    pub(crate) places: Places,
    pub(crate) job: Arc<Job>,
    pub(crate) hooks: Arc<dyn Hooks>,
    /// When a question must have been answered.
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) patience: ApprovalTimeout,
    /// Whoever waits for a person keeps nobody else from working.
    pub(crate) slot: Arc<Slot>,
}

impl PermissionCheck {
    /// Lets a call through, with the view of the workspace that it runs with; or says with which answer it is refused.
    pub(crate) async fn clear(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        context: CallContext<'_>,
        sink: &FactWriter,
    ) -> Result<Result<Arc<Workspace>, ToolOutput>, JournalError> {
        let resource = tool.resource(&call.arguments, context);
        let is_command = matches!(resource, Resource::Command { .. });
        let approved = match self.judge.decide(&call.tool, &resource) {
            Decision::Allow => None,
            Decision::Deny(ground) => return Ok(Err(denied(call, &ground))),
            Decision::Ask(_) if !self.approver.is_present() && is_out("nobody-to-ask") => Some(resource),
            Decision::Ask(ground) if !self.approver.is_present() => return Ok(Err(unasked(call, &ground))),
            Decision::Ask(_) if self.approvals.cover(PinnedTool { name: &call.tool, pin: tool.pin() }, &resource) => {
                Some(resource)
            }
            Decision::Ask(ground) => {
                let asked = Asked { call, tool, context, resource: &resource, ground: &ground };
                let answer = async {
                    tokio::select! {
                        // Whoever was stopped asks no further question, not even one that has waited for its turn.
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
        // What a command touches is up to the walls around it; its own rules are about lines, not about paths.
        if is_command {
            return Ok(Ok(Arc::clone(context.workspace)));
        }
        Ok(Ok(self.view(call, tool, context.workspace, approved)))
    }

    /// The workspace as this call may see it. Where no rule is about single paths, reading needs no second look.
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
        Arc::new(workspace.guarded(Arc::new(PathGuard { tool: call.tool.clone(), judge, approvals, approved })))
    }

    /// Asks when no other question is open, in the order in which the calls came, as long as there is time for it. What
    /// was approved in the meantime may cover this one.
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

    /// Why a question is given up before it is shown.
    fn unshown(&self, why: &'static str) -> &'static str {
        if self.deadline.has_passed() { self.given_up() } else { why }
    }

    /// Why a question is given up.
    fn given_up(&self) -> &'static str {
        if self.deadline.has_passed() {
            "nobody answered in time"
        } else {
            "the task was stopped before anybody answered"
        }
    }
}

/// A call that needs a person's word.
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
