//! Resuming a task: after a crash, a limit, a failure, or with a follow-up.
//!
//! A resumed task may do what it could at its start, within the present rules. Interrupted calls are settled first.
//!
//! Inside the task, `run/finish_interrupted_turn.rs` and `gate/settle_calls.rs` finish the interrupted turn.

pub(crate) mod background_children;
pub(crate) mod close_open_calls;
pub(crate) mod end_interrupted;
pub(crate) mod follow_up;
pub(crate) mod grant;
pub(crate) mod limits;
pub(crate) mod missed_messages;
pub(crate) mod reattach;
pub(crate) mod together;

use std::sync::Arc;

use sortie_journal::TaskState;
use sortie_protocol::{Failure, FailureCode, Job, Limits, Status, TaskId, TaskRequest};
use sortie_sandbox::process::KeeperMark;

use crate::conversation::live_record::LiveRecord;
use crate::conversation::load_task::{LoadedTask, Unseen, remember, standing};
use crate::conversation::task_record::Stamp;
use crate::log::writer::Takeover;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::observers::Asked;
use crate::tasks::resume::follow_up::otherwise;
use crate::tasks::resume::grant::{Renewed, renewed};
use crate::tasks::resume::limits::{Wisher, definition_of, limits_of_leg};
use crate::tasks::resume::together::{refuse_alone, refuse_without};
use crate::tasks::running::Running;
use crate::tasks::scope::LaunchMode;
use crate::tasks::start::admission::admit;
use crate::tasks::start::origin::Origin;
use crate::tasks::start::{Decided, account, build, check_prices};
use crate::tasks::state::EngineState;
use crate::tasks::task::{Resumed, Task};

/// Prompt for a task that had written its last word and is resumed without a new one.
const CONTINUE: &str = "Continue your work where you stopped.";

/// Parameters of a resumption.
#[derive(Debug, Clone, Default)]
pub struct Resumption {
    /// A follow-up. A completed task needs one.
    pub prompt: Option<String>,
    /// New limits. A missing one is as at the start of the task, or, if it was interrupted, what is left.
    pub limits: Limits,
    /// The user knows that a process which has the task or one of its descendants is gone, though it cannot be seen
    /// from here.
    pub take_over: bool,
}

/// A task that is to be resumed.
pub(crate) struct Resuming {
    pub(crate) loaded: LoadedTask,
    pub(crate) wish: Wish,
    /// Notices about the resumption.
    pub(crate) notices: Vec<String>,
    /// Assumption about processes that have its descendants but cannot be seen from here.
    pub(crate) unseen: Unseen,
}

/// The wanted kind of resumption.
pub(crate) enum Wish {
    /// Resume where it was interrupted, because its parent resumes.
    AsItWas,
    Leg {
        prompt: Option<String>,
        /// Title of the call that resumes it.
        title: Option<String>,
        limits: Limits,
        by: Wisher,
    },
}

/// Resumes a task for a person. No parent waits for it.
pub(crate) async fn resume(
    engine: &Arc<EngineState>,
    task: TaskId,
    resumption: Resumption,
) -> Result<Running, Failure> {
    let Resumption { prompt, limits, take_over } = resumption;
    let unseen = if take_over { Unseen::AreGone } else { Unseen::MayRun };
    let roster = engine.rosters.current();
    let in_full = |prompt| {
        let request = TaskRequest { prompt, ..TaskRequest::default() };
        roster.templates().applied(request, engine.rules.max_prompt_bytes)
    };
    let asked = prompt.map(in_full).transpose()?;
    let journal = Arc::clone(&engine.journal);
    let read = move || {
        let (loaded, notices) = remember(journal.as_ref(), standing(journal.as_ref(), task, unseen)?)?;
        refuse_alone(journal.as_ref(), &loaded, unseen)?;
        refuse_without(journal.as_ref(), task, unseen)?;
        Ok((loaded, notices))
    };
    let (loaded, mut notices) = blocking(read).await?;
    if let Some(asked) = &asked {
        notices.extend(otherwise(engine, asked, &loaded));
    }
    let wish = Wish::Leg { prompt: asked.map(|asked| asked.prompt), title: None, limits, by: Wisher::Person };
    let origin = Origin::Person;
    let task = prepare(engine, &origin, Resuming { loaded, wish, notices, unseen }).await?;
    Running::start(admit(task, &origin, LaunchMode::Foreground).await?).await.map_err(journal_failure)
}

/// Prepares a resumed task. Nothing is written yet: a failure leaves it as it is.
pub(crate) async fn prepare(
    engine: &Arc<EngineState>,
    origin: &Origin<'_>,
    resuming: Resuming,
) -> Result<Task, Failure> {
    let Resuming { loaded, wish, notices: said, unseen } = resuming;
    let current = engine.rosters.current();
    let first = loaded.past.first();
    let definition = definition_of(&current, first)?;
    let stop = origin.cancel();
    let roster = engine.equipping().equipped_again(&current, definition, &first.tools, &stop).await;
    let Renewed { mut config, reach, mut notices } =
        renewed(engine, &roster, &loaded.past, origin.requester().parent())?;
    notices.extend(roster.notices());
    notices.extend(said);
    let (prompt, title) = match wish {
        Wish::AsItWas => (None, None),
        Wish::Leg { prompt, title, limits, by } => {
            let prompt = prompt_for(engine, &loaded, prompt)?;
            let (limits, lowered) = limits_of_leg(engine, &roster, &loaded, limits, by)?;
            config.limits = limits;
            notices.extend(lowered);
            // Without its model it could only fail.
            let opened = engine.models.open(&config.model);
            opened.map_err(|error| Failure::new(error.kind.code(), error.message))?;
            (prompt, title)
        }
    };
    let hold = loaded.hold()?;
    let account = account(engine, origin, config.limits, Some(&loaded));
    check_prices(engine, &account, &config)?;
    let LoadedTask { mut past, standing, .. } = loaded;
    let is_new_leg = hold.leg > standing.leg;
    past.lose_process();
    notices.extend(past.unknown_effects());
    let job = Arc::new(Job { config, reach, notices: notices.clone(), ..Job::clone(&past.job) });
    let alone = origin.address().is_none();
    let takeover = Takeover { prompt: prompt.clone(), title: title.clone(), notices: notices.clone(), alone };
    past.take(takeover.fact(&job), Stamp { leg: hold.leg, time: engine.clock.now() });
    let record = LiveRecord::of(past);
    let read = standing.last_seq;
    let resumed = Resumed { prompt, title, notices, is_new_leg, read, unseen };
    let asked = Asked::from(&*job);
    let decided = Decided { roster, asked, job, hold, account, record, past: Some(resumed) };
    let mut task = build(engine, origin, decided);
    if let Some(notice) = task.sink.tell_further(&engine.reports) {
        task.notice(notice);
    }
    Ok(task)
}

/// Returns the prompt that joins the conversation, if it needs one.
fn prompt_for(engine: &EngineState, loaded: &LoadedTask, prompt: Option<String>) -> Result<Option<String>, Failure> {
    if let Some(prompt) = prompt {
        engine.rules.check_words(&prompt)?;
        return Ok(Some(prompt));
    }
    let LoadedTask { past, standing, .. } = loaded;
    match standing.state {
        TaskState::Ended(Status::Completed) => {
            Err(Failure::new(FailureCode::PromptMissing, "this task is completed; say what it should do next"))
        }
        TaskState::Ended(_) => Ok(past.needs_word().then(|| CONTINUE.to_owned())),
        TaskState::Running | TaskState::Interrupted => Ok(None),
    }
}

/// Ends leftover commands of a killed process, and returns notices about those that could not be ended. Only for the
/// process that has the task: otherwise the commands may belong to another.
pub(crate) async fn end_left_over(keepers: Vec<KeeperMark>) -> Vec<String> {
    let end = move || keepers.into_iter().filter(|keeper| !keeper.end()).map(|keeper| keeper.pid).collect();
    let left: Vec<u32> = tokio::task::spawn_blocking(end).await.unwrap_or_default();
    left.iter().map(|pid| format!("an interrupted command could not be ended: process {pid}")).collect()
}
