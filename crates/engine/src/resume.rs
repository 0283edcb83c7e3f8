//! Going on with a task: after a crash, a limit, a failure, or with a follow-up. What it may do is what it had, within
//! what holds now; what it had under way is settled first.

use std::sync::Arc;

use sortie_journal::{Journal, JournalError, Standing, TaskState};
use sortie_protocol::{AgentConfig, Event, Failure, Limits, Status, TaskId, Usage};
use sortie_sandbox::process::KeeperMark;

use crate::abandon::blocking;
use crate::account::Account;
use crate::approval::Approvals;
use crate::authority::tools_at;
use crate::engine::{Engine, Inner, Running};
use crate::follow_up::refuse_waited_for;
use crate::replay::Past;
use crate::roster::Roster;
use crate::sink::Hold;
use crate::slot::Slot;
use crate::subagents::Asked;
use crate::task::{Parent, Resumed, Task};
use tokio_util::sync::CancellationToken;

/// What joins the conversation where a task that had written its last word goes on without a new prompt.
const GO_ON: &str = "Go on with your work where you stopped.";

/// How to go on.
#[derive(Debug, Clone, Default)]
pub struct Resumption {
    /// A follow-up. A task that was completed needs one.
    pub prompt: Option<String>,
    /// What to tighten, or where the last leg reached a limit, what to give anew.
    pub limits: Limits,
}

/// A task as its log tells of it.
pub(crate) struct Remembered {
    pub(crate) past: Past,
    pub(crate) standing: Standing,
    /// What its children with all below them have used, and how many tasks that were.
    pub(crate) below: Usage,
    pub(crate) started_below: u32,
}

impl Engine {
    /// Goes on with a task without a parent that waits for it. A failure means that nothing was changed.
    pub async fn resume(&self, task: TaskId, resumption: Resumption) -> Result<Running, Failure> {
        let journal = Arc::clone(&self.inner.journal);
        let read = move || {
            let remembered = remember(journal.as_ref(), task)?;
            refuse_waited_for(journal.as_ref(), &remembered)?;
            Ok(remembered)
        };
        let task = self.inner.resumed(blocking(read).await?, resumption, Vec::new())?;
        Running::start(task).await.map_err(journal_failure)
    }
}

/// Reads a task back, with what its children have used.
pub(crate) fn remember(journal: &dyn Journal, task: TaskId) -> Result<Remembered, Failure> {
    let standing = journal.standing(task).map_err(journal_failure)?;
    standing.next_attempt().map_err(journal_failure)?;
    let past = read(journal, task)?;
    let (mut below, mut started_below) = (Usage::default(), 0);
    for child in &past.deeds.children {
        let (usage, started) = used_by(journal, *child)?;
        below += usage;
        started_below += started + 1;
    }
    Ok(Remembered { past, standing, below, started_below })
}

pub(crate) fn read(journal: &dyn Journal, task: TaskId) -> Result<Past, Failure> {
    let mut past: Option<Past> = None;
    journal
        .read_each(task, 0, &mut |event: Event| match &mut past {
            Some(past) => past.take(event),
            none => *none = Past::begin(event),
        })
        .map_err(journal_failure)?;
    past.ok_or_else(|| Failure::new("journal", format!("the log of {task} does not begin with its start")))
}

/// What a task with all below it has used, and how many tasks are below it.
fn used_by(journal: &dyn Journal, task: TaskId) -> Result<(Usage, u32), Failure> {
    let past = read(journal, task)?;
    let (mut usage, mut started) = (past.deeds.usage, 0);
    for child in &past.deeds.children {
        let (below, further) = used_by(journal, *child)?;
        usage += below;
        started += further + 1;
    }
    Ok((usage, started))
}

impl Remembered {
    /// Its account, with all that was used so far.
    pub(crate) fn account(&self, limits: Limits, above: Option<Arc<Account>>) -> Arc<Account> {
        let mut spent = self.past.deeds.usage;
        spent += self.below;
        Account::restored(limits, spent, self.started_below, above)
    }
}

/// Under which number, and for which leg, the task goes on.
pub(crate) fn hold(standing: &Standing) -> Result<Hold, Failure> {
    let attempt = standing.next_attempt().map_err(journal_failure)?;
    let leg = if matches!(standing.state, TaskState::Ended(_)) { standing.leg + 1 } else { standing.leg };
    Ok(Hold { attempt, leg })
}

impl Inner {
    /// A task without a parent, as it goes on.
    pub(crate) fn resumed(
        self: &Arc<Self>,
        remembered: Remembered,
        resumption: Resumption,
        said: Vec<String>,
    ) -> Result<Task, Failure> {
        let prompt = prompt_for(&remembered, resumption.prompt)?;
        let roster = self.rosters.current();
        let (mut config, mut notices) = self.renewed(&roster, &remembered.past, None)?;
        notices.extend(said);
        config.limits = again(config.limits, &remembered).tighter(resumption.limits);
        let whole_tree = Limits { max_children: Some(self.rules.max_children), ..Limits::default() };
        let account = remembered.account(config.limits.tighter(whole_tree), None);
        let slot = if config.depth == 0 { Slot::unlimited() } else { Slot::of(Arc::clone(&self.slots)) };
        let with = (account, slot, CancellationToken::new(), Arc::default());
        self.take_up(remembered, roster, (config, prompt, notices), with)
    }

    /// A child of a task that goes on, as it goes on itself.
    pub(crate) fn reattached(
        self: &Arc<Self>,
        remembered: Remembered,
        (above, account, cancel): (&AgentConfig, &Arc<Account>, CancellationToken),
        parent: Parent,
        approvals: &Arc<Approvals>,
    ) -> Result<Task, Failure> {
        let roster = self.rosters.current();
        let (config, notices) = self.renewed(&roster, &remembered.past, Some(above))?;
        let account = remembered.account(config.limits, Some(Arc::clone(account)));
        let slot = Slot::of(Arc::clone(&self.slots));
        let with = (account, slot, cancel, Arc::clone(approvals));
        let task = self.take_up(remembered, roster, (config, None, notices), with)?;
        Ok(Task { parent: Some(parent), ..task })
    }

    pub(crate) fn take_up(
        self: &Arc<Self>,
        remembered: Remembered,
        roster: Arc<Roster>,
        (config, prompt, notices): (AgentConfig, Option<String>, Vec<String>),
        (account, slot, cancel, approvals): (Arc<Account>, Slot, CancellationToken, Arc<Approvals>),
    ) -> Result<Task, Failure> {
        let Remembered { mut past, standing, .. } = remembered;
        let hold = hold(&standing)?;
        let is_new_leg = hold.leg > standing.leg;
        let turns_before = if is_new_leg { past.deeds.turns } else { past.deeds.turns_before };
        if is_new_leg {
            past.begin_leg();
        }
        past.job.config = config;
        let job = Arc::new(past.job.clone());
        Ok(Task {
            engine: Arc::clone(self),
            roster,
            asked: Asked::from(&*job),
            sink: self.sink(&job, hold),
            job,
            account,
            cancel,
            slot: Arc::new(slot),
            approvals,
            parent: None,
            inbox: Arc::new(past.inbox()),
            past: Some(Resumed { past, prompt, turns_before, notices, is_new_leg }),
        })
    }

    /// What a task may do when it goes on: what it had, within what holds now. What it lost is told.
    pub(crate) fn renewed(
        &self,
        roster: &Roster,
        past: &Past,
        parent: Option<&AgentConfig>,
    ) -> Result<(AgentConfig, Vec<String>), Failure> {
        let stored = &past.job.config;
        let agents = if stored.depth == 0 { &roster.mains } else { &roster.agents };
        if let Err(error) = agents.get(&stored.agent) {
            let advice = "bring its file back, or start a new task";
            return Err(Failure::new("agent_gone", format!("this task's agent cannot be found: {error}; {advice}")));
        }
        let root = self.workspace.root().display().to_string();
        if past.job.workspace != root {
            let message = format!("this task works in {}, not in {root}; resume it there", past.job.workspace);
            return Err(Failure::new("other_workspace", message));
        }
        let limits = if past.ended.is_some() { past.first_limits } else { past.limits_left() };
        let now: &[_] = parent.map_or(&self.permissions.layers, |parent| &parent.grant.layers);
        let grant = sortie_policy::intersect(&stored.grant, now);
        let exist = tools_at(&roster.tools, self.contract.as_ref(), &self.rules, stored.depth);
        let kept: Vec<String> = stored.tools.iter().filter(|tool| exist.contains(tool)).cloned().collect();
        let tools = sortie_policy::offerable(&grant, &kept);
        let lost: Vec<&str> = stored.tools.iter().filter(|tool| !tools.contains(tool)).map(String::as_str).collect();
        let notices =
            if lost.is_empty() { Vec::new() } else { vec![format!("no longer granted: {}", lost.join(", "))] };
        Ok((AgentConfig { grant, tools, limits, ..stored.clone() }, notices))
    }
}

/// A new leg has the tokens of a leg before it, not what that one left.
pub(crate) fn again(limits: Limits, remembered: &Remembered) -> Limits {
    let mut used = remembered.past.deeds.usage;
    used += remembered.below;
    let used = if remembered.past.ended.is_some() { used.total_tokens() } else { 0 };
    Limits { max_tokens: limits.max_tokens.map(|max| max.saturating_add(used)), ..limits }
}

/// What joins the conversation, if anything must.
pub(crate) fn prompt_for(remembered: &Remembered, prompt: Option<String>) -> Result<Option<String>, Failure> {
    let Remembered { past, standing, .. } = remembered;
    let TaskState::Ended(status) = standing.state else {
        return match prompt {
            None => Ok(None),
            Some(_) => Err(Failure::new(
                "still_open",
                "this task was interrupted and takes no new prompt before it has gone on to its end; resume it without one",
            )),
        };
    };
    match prompt {
        Some(prompt) => Ok(Some(prompt)),
        None if status == Status::Completed => {
            Err(Failure::new("prompt_missing", "this task is completed; say what it should do next"))
        }
        None => Ok(past.history.ends_with_a_reply().then(|| GO_ON.to_owned())),
    }
}

/// Ends what the commands of a task may have left running when its process was killed; what to say of those that could
/// not be ended.
pub(crate) async fn end_left_over(keepers: Vec<KeeperMark>) -> Vec<String> {
    let end = move || keepers.into_iter().filter(|keeper| !keeper.end()).map(|keeper| keeper.pid).collect();
    let left: Vec<u32> = tokio::task::spawn_blocking(end).await.unwrap_or_default();
    left.iter().map(|pid| format!("a command that was interrupted could not be ended: process {pid}")).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
pub(crate) fn journal_failure(error: JournalError) -> Failure {
    let code = match error {
        JournalError::Fenced { task, .. } | JournalError::LegOver { task, .. } => {
            let message = format!("{task} has just been taken up by somebody else; wait for it, or stop it first");
            return Failure::new("still_running", message);
        }
        JournalError::NoSuchTask { .. } => "no_such_task",
        JournalError::StillRunning { .. } => "still_running",
        _ => "journal",
    };
    Failure::new(code, error.to_string())
}
