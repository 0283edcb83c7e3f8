//! Going on with a task: after a crash, a limit, a failure, or with a follow-up. What it may do is what it had when it was
//! started, within what holds now; what it had under way is settled first.

use std::sync::Arc;

use sortie_journal::TaskState;
use sortie_protocol::{AgentConfig, Failure, FailureCode, Limits, Status, TaskId, TaskRequest};
use sortie_sandbox::process::KeeperMark;
use tokio_util::sync::CancellationToken;

use crate::budget::account::Account;
use crate::budget::slots::Slot;
use crate::conversation::load_task::{Remembered, remember, standing};
use crate::messages::report_target::Address;
use crate::ports::approval::Approvals;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::observers::Asked;
use crate::tasks::resume_limits::{Wisher, definition_of};
use crate::tasks::resume_together::{refuse_alone, refuse_without};
use crate::tasks::running::Running;
use crate::tasks::state::EngineState;
use crate::tasks::task::{Resumed, Task};

/// What joins the conversation where a task that had written its last word goes on without a new prompt.
const GO_ON: &str = "Go on with your work where you stopped.";

/// How to go on.
#[derive(Debug, Clone, Default)]
pub struct Resumption {
    /// A follow-up. A task that was completed needs one.
    pub prompt: Option<String>,
    /// What bounds it from now on. What is not said is as the task began with, or, where it was interrupted, what is left.
    pub limits: Limits,
    /// The user knows that the process which has the task, or one of those below it, is gone, though it cannot be seen from
    /// here.
    pub take_over: bool,
}

/// A task that is to go on.
pub(crate) struct GoingOn<'a> {
    pub(crate) remembered: Remembered,
    pub(crate) wish: Wish,
    /// What should be known of how it goes on.
    pub(crate) notices: Vec<String>,
    /// The parent that waits for it, if one does.
    pub(crate) above: Option<Above<'a>>,
    /// Processes that cannot be seen from here and have those below it are known to be gone.
    pub(crate) takes_over: bool,
}

/// What is wished of a task that goes on.
pub(crate) enum Wish {
    /// Where it was interrupted, because its parent goes on.
    AsItWas,
    Leg {
        prompt: Option<String>,
        limits: Limits,
        by: Wisher,
    },
}

/// What a task has from the parent that waits for it.
pub(crate) struct Above<'a> {
    pub(crate) config: &'a AgentConfig,
    pub(crate) account: &'a Arc<Account>,
    pub(crate) approvals: &'a Arc<Approvals>,
    pub(crate) cancel: CancellationToken,
    pub(crate) address: Arc<Address>,
}

impl EngineState {
    /// Goes on with a task without a parent that waits for it.
    pub(crate) async fn resume(self: &Arc<Self>, task: TaskId, resumption: Resumption) -> Result<Running, Failure> {
        let Resumption { prompt, limits, take_over: takes_over } = resumption;
        let asked = prompt.map(|prompt| self.in_full(TaskRequest { prompt, ..TaskRequest::default() })).transpose()?;
        let journal = Arc::clone(&self.journal);
        let read = move || {
            let (remembered, notices) = remember(journal.as_ref(), standing(journal.as_ref(), task, takes_over)?)?;
            refuse_alone(journal.as_ref(), &remembered, takes_over)?;
            refuse_without(journal.as_ref(), task, takes_over)?;
            Ok((remembered, notices))
        };
        let (remembered, mut notices) = blocking(read).await?;
        if let Some(asked) = &asked {
            notices.extend(self.otherwise(asked, &remembered));
        }
        let wish = Wish::Leg { prompt: asked.map(|asked| asked.prompt), limits, by: Wisher::Person };
        let mut task = self.go_on(GoingOn { remembered, wish, notices, above: None, takes_over }).await?;
        // They have let the leg begin that was interrupted, unless more is asked of it now.
        if task.past.as_ref().is_some_and(|resumed| resumed.is_new_leg || resumed.prompt.is_some()) {
            task.consult_hooks().await?;
        }
        Running::start(task).await.map_err(journal_failure)
    }

    /// A task as it goes on. Nothing is written yet: a failure means that it stays as it is.
    pub(crate) async fn go_on(self: &Arc<Self>, going_on: GoingOn<'_>) -> Result<Task, Failure> {
        let GoingOn { remembered, wish, notices: said, above, takes_over } = going_on;
        let current = self.rosters.current();
        let first = &remembered.past.first;
        let stop = above.as_ref().map_or_else(CancellationToken::new, |above| above.cancel.clone());
        let definition = definition_of(&current, first)?;
        let roster = self.equipping().equipped_again(&current, definition, &first.tools, &stop).await;
        let renewed = self.renewed(&roster, &remembered.past, above.as_ref().map(|above| above.config))?;
        let (mut config, mut notices) = (renewed.config, renewed.notices);
        notices.extend(roster.notices());
        notices.extend(said);
        let prompt = match wish {
            Wish::AsItWas => None,
            Wish::Leg { prompt, limits, by } => {
                let prompt = self.prompt_for(&remembered, prompt)?;
                let (limits, fewer_turns) = self.limits_of_leg(&roster, &remembered, limits, by)?;
                config.limits = limits;
                notices.extend(fewer_turns);
                // Without its model it could only fail.
                let opened = self.models.open(&config.model);
                opened.map_err(|error| Failure::new(error.kind.code(), error.message))?;
                prompt
            }
        };
        let hold = remembered.hold()?;
        let bounds = match &above {
            Some(_) => config.limits,
            None => config.limits.tighter(Limits { max_children: Some(self.rules.max_children), ..Limits::default() }),
        };
        let account = remembered.account(bounds, above.as_ref().map(|above| Arc::clone(above.account)));
        account.check_prices(&config.model, &self.models.terms(&config.model).prices)?;
        let Remembered { mut past, standing, .. } = remembered;
        let is_new_leg = hold.leg > standing.leg;
        let turns_before = if is_new_leg { past.deeds.turns } else { past.deeds.turns_before };
        if is_new_leg {
            past.begin_leg();
        }
        if let Some(prompt) = &prompt {
            past.ask_more(prompt.clone());
        }
        past.remind_of_tools(config.server_tools.note.clone());
        past.worked.take_over(self.clock.now());
        past.shells.lose();
        notices.extend(past.unknown_effects());
        (past.job.config, past.job.reach, past.job.notices) = (config, renewed.reach, notices.clone());
        let job = Arc::new(past.job.clone());
        let sink = self.sink(&job, hold);
        let is_main = job.config.depth == 0;
        let own = Arc::clone(&account);
        let slot = if is_main { Slot::unlimited(own) } else { Slot::of(Arc::clone(&self.slots), sink.clone(), own) };
        let (cancel, approvals, address) = match above {
            Some(above) => (above.cancel, Arc::clone(above.approvals), Some(above.address)),
            None => Default::default(),
        };
        let mut task = Task {
            engine: Arc::clone(self),
            roster,
            asked: Asked::from(&*job),
            sink,
            job,
            account,
            cancel,
            slot: Arc::new(slot),
            approvals,
            address,
            inbox: Arc::new(past.inbox()),
            hook_notices: Vec::new(),
            past: Some(Resumed {
                past,
                prompt,
                turns_before,
                notices,
                is_new_leg,
                read: standing.last_seq,
                takes_over,
            }),
        };
        if let Some(notice) = task.sink.tell_further(&self.reports) {
            task.notice(notice);
        }
        Ok(task)
    }

    /// What joins the conversation, if anything must.
    fn prompt_for(&self, remembered: &Remembered, prompt: Option<String>) -> Result<Option<String>, Failure> {
        if let Some(prompt) = prompt {
            self.rules.check_words(&prompt)?;
            return Ok(Some(prompt));
        }
        let Remembered { past, standing, .. } = remembered;
        match standing.state {
            TaskState::Ended(Status::Completed) => {
                Err(Failure::new(FailureCode::PromptMissing, "this task is completed; say what it should do next"))
            }
            TaskState::Ended(_) => Ok(past.needs_word().then(|| GO_ON.to_owned())),
            TaskState::Running | TaskState::Interrupted => Ok(None),
        }
    }
}

/// Ends what the commands of a task may have left running when its process was killed; what to say of those that could
/// not be ended. Only for who has the task: what is ended may belong to somebody else otherwise.
pub(crate) async fn end_left_over(keepers: Vec<KeeperMark>) -> Vec<String> {
    let end = move || keepers.into_iter().filter(|keeper| !keeper.end()).map(|keeper| keeper.pid).collect();
    let left: Vec<u32> = tokio::task::spawn_blocking(end).await.unwrap_or_default();
    left.iter().map(|pid| format!("a command that was interrupted could not be ended: process {pid}")).collect()
}
