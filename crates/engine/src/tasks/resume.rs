//! Resuming a task: after a crash, a limit, a failure, or with a follow-up.
//!
//! It may do what it could do when it was started, within what holds now. What it had under way is settled first.
//!
//! Within the task, `run/finish_interrupted_turn.rs` and `gate/settle_calls.rs` finish the turn that was broken off.

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

/// What joins the conversation where a task that had written its last word goes on without a new prompt.
const GO_ON: &str = "Go on with your work where you stopped.";

/// How to go on.
#[derive(Debug, Clone, Default)]
pub struct Resumption {
    /// A follow-up. A task that was completed needs one.
    pub prompt: Option<String>,
    /// What bounds it from now on. What is not said is as the task began with, or, where it was interrupted, what is
    /// left.
    pub limits: Limits,
    /// The user knows that the process which has the task, or one of those below it, is gone, though it cannot be seen
    /// from here.
    pub take_over: bool,
}

/// A task that is to go on.
pub(crate) struct GoingOn {
    pub(crate) loaded: LoadedTask,
    pub(crate) wish: Wish,
    /// What should be known of how it goes on.
    pub(crate) notices: Vec<String>,
    /// Processes that cannot be seen from here and have those below it.
    pub(crate) unseen: Unseen,
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
    let wish = Wish::Leg { prompt: asked.map(|asked| asked.prompt), limits, by: Wisher::Person };
    let origin = Origin::Person;
    let task = prepare(engine, &origin, GoingOn { loaded, wish, notices, unseen }).await?;
    Running::start(admit(task, &origin, LaunchMode::Foreground).await?).await.map_err(journal_failure)
}

/// Makes a task as it goes on. Nothing is written yet: a failure means that it stays as it is.
pub(crate) async fn prepare(
    engine: &Arc<EngineState>,
    origin: &Origin<'_>,
    going_on: GoingOn,
) -> Result<Task, Failure> {
    let GoingOn { loaded, wish, notices: said, unseen } = going_on;
    let current = engine.rosters.current();
    let first = loaded.past.first();
    let definition = definition_of(&current, first)?;
    let stop = origin.cancel();
    let roster = engine.equipping().equipped_again(&current, definition, &first.tools, &stop).await;
    let Renewed { mut config, reach, mut notices } =
        renewed(engine, &roster, &loaded.past, origin.requester().parent())?;
    notices.extend(roster.notices());
    notices.extend(said);
    let prompt = match wish {
        Wish::AsItWas => None,
        Wish::Leg { prompt, limits, by } => {
            let prompt = prompt_for(engine, &loaded, prompt)?;
            let (limits, fewer_turns) = limits_of_leg(engine, &roster, &loaded, limits, by)?;
            config.limits = limits;
            notices.extend(fewer_turns);
            // Without its model it could only fail.
            let opened = engine.models.open(&config.model);
            opened.map_err(|error| Failure::new(error.kind.code(), error.message))?;
            prompt
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
    let takeover = Takeover { prompt: prompt.clone(), notices: notices.clone(), alone };
    past.take(takeover.fact(&job), Stamp { leg: hold.leg, time: engine.clock.now() });
    let record = LiveRecord::of(past);
    let read = standing.last_seq;
    let resumed = Resumed { prompt, notices, is_new_leg, read, unseen };
    let asked = Asked::from(&*job);
    let decided = Decided { roster, asked, job, hold, account, record, past: Some(resumed) };
    let mut task = build(engine, origin, decided);
    if let Some(notice) = task.sink.tell_further(&engine.reports) {
        task.notice(notice);
    }
    Ok(task)
}

/// The words that join the conversation, if any must.
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
        TaskState::Ended(_) => Ok(past.needs_word().then(|| GO_ON.to_owned())),
        TaskState::Running | TaskState::Interrupted => Ok(None),
    }
}

/// Ends what the commands of a task may have left running when its process was killed; what to say of those that could
/// not be ended. Only for who has the task: what is ended may belong to somebody else otherwise.
pub(crate) async fn end_left_over(keepers: Vec<KeeperMark>) -> Vec<String> {
    let end = move || keepers.into_iter().filter(|keeper| !keeper.end()).map(|keeper| keeper.pid).collect();
    let left: Vec<u32> = tokio::task::spawn_blocking(end).await.unwrap_or_default();
    left.iter().map(|pid| format!("a command that was interrupted could not be ended: process {pid}")).collect()
}
