//! Follow-ups: a call resumes a task that has ended, instead of starting one.
//!
//! Calls are models' words, so they reach less far than a person: only the caller's own or adopted sub-agents, and only
//! for some days.

use std::sync::Arc;
use std::time::Duration;

use sortie_agents::AgentDefinition;
use sortie_journal::{Journal, TaskState};
use sortie_protocol::{Event, Fact, Failure, FailureCode, Resource, Sender, TaskId, TaskRequest};

use crate::conversation::load_task::{LoadedTask, Unseen, remember};
use crate::messages::inbox_record::Message;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::resume::limits::Wisher;
use crate::tasks::resume::{self, Resuming, Wish};
use crate::tasks::scope::TaskScope;
use crate::tasks::start::check::Checks;
use crate::tasks::start::origin::Origin;
use crate::tasks::state::EngineState;
use crate::tasks::task::Task;

/// Prepares the next leg of the task that a checked request names.
pub(crate) async fn prepare(
    engine: &Arc<EngineState>,
    origin: &Origin<'_>,
    checks: &Checks<'_>,
    request: TaskRequest,
    asked: &str,
) -> Result<Task, Failure> {
    if let Some(parent) = origin.parent() {
        let_finish(parent, asked).await;
    }
    let (loaded, mut notices) = wanted(engine, asked, origin.parent().map(|parent| parent.job.task)).await?;
    let stored = &loaded.past.job.config;
    checks.stored_agent(&stored.agent)?;
    if request.output_schema.is_some() && request.output_schema != stored.output_schema {
        let message = "a resumed task keeps its `output_schema`; leave it out, or start a new task";
        return Err(Failure::new(FailureCode::InvalidArguments, message));
    }
    notices.extend(otherwise(engine, &request, &loaded));
    let title = Some(request.title).filter(|title| !title.trim().is_empty());
    let wish = Wish::Leg { prompt: Some(request.prompt), title, limits: request.limits, by: Wisher::Call };
    resume::prepare(engine, origin, Resuming { loaded, wish, notices, unseen: Unseen::MayRun }).await
}

/// Waits until a child that was resumed by a message of the same turn has ended, so that it gets one prompt after the
/// other. Does not wait if the child itself has a message.
async fn let_finish(parent: &TaskScope, asked: &str) {
    let Ok(child) = asked.trim().parse() else { return };
    let running_task = parent.engine.present.find(child).filter(|_| parent.inbox.has_just_written_to(child));
    let Some(running_task) = running_task else { return };
    let is_its = |message: &Message| matches!(message.from, Sender::Task { task, .. } if task == child);
    tokio::select! {
        () = running_task.over.cancelled() => {}
        _ = parent.inbox.message(is_its) => {}
    }
}

/// Returns true if `own` has started the child, or adopted it after its parent failed.
pub(crate) fn is_own(
    journal: &dyn Journal,
    own: TaskId,
    child: TaskId,
    parent: Option<TaskId>,
) -> Result<bool, Failure> {
    let mut is_own = parent == Some(own);
    if !is_own {
        let mut look = |event: Event| {
            is_own |= matches!(event.fact, Fact::ChildAdopted { child: adopted, .. } if adopted == child);
        };
        journal.read_each(own, 1, &mut look).map_err(journal_failure)?;
    }
    Ok(is_own)
}

/// Loads the task that a call of `by` wants to resume, with notices about its children; or says why it cannot.
async fn wanted(engine: &EngineState, asked: &str, by: Option<TaskId>) -> Result<(LoadedTask, Vec<String>), Failure> {
    let within = engine.rules.check_resume()?;
    let unknown = || Failure::new(FailureCode::NoSuchTask, format!("there is no task `{}`", asked.trim()));
    let task: TaskId = asked.trim().parse().map_err(|_| unknown())?;
    let journal = Arc::clone(&engine.journal);
    let read = move || {
        let standing = journal.standing(task).map_err(journal_failure)?;
        if standing.state == TaskState::Interrupted {
            let message = format!(
                "{task} was interrupted; it takes a follow-up once it has been resumed and has \
                ended"
            );
            return Err(Failure::new(FailureCode::StillOpen, message));
        }
        let loaded = remember(journal.as_ref(), standing)?;
        let parent = loaded.0.past.job.parent;
        if by.map_or(Ok(true), |by| is_own(journal.as_ref(), by, task, parent))? {
            return Ok(loaded);
        }
        let message = format!("{task} is not a sub-agent of this task; only its parent can resume it");
        Err(Failure::new(FailureCode::NotOwnTask, message))
    };
    let loaded = blocking(read).await;
    let (loaded, notices) =
        loaded.map_err(|failure| if failure.code == FailureCode::NoSuchTask { unknown() } else { failure })?;
    refuse_expired(engine, &loaded, within)?;
    Ok((loaded, notices))
}

fn refuse_expired(engine: &EngineState, loaded: &LoadedTask, within: Duration) -> Result<(), Failure> {
    let age = Duration::from_millis(engine.clock.now().0.saturating_sub(loaded.past.worked.last_heard().0));
    if age <= within {
        return Ok(());
    }
    let days = |time: Duration| time.as_secs() / (24 * 60 * 60);
    let message = format!(
        "{} has expired: it ended {} days ago, and a call can resume a task for {} (`task_tool.resume_days`); start \
            a new one",
        loaded.past.job.task,
        days(age),
        days(within)
    );
    Err(Failure::new(FailureCode::Expired, message))
}

/// Returns notices about the request, and about settings of the task that differ from the request or its template.
pub(crate) fn otherwise(engine: &EngineState, request: &TaskRequest, loaded: &LoadedTask) -> Vec<String> {
    let stored = &loaded.past.job.config;
    let mut notices = request.notices.clone();
    let roster = engine.rosters.current();
    let is_named = !request.agent.is_empty() && !request.agent_is_usual;
    let found = roster.agents.get(&request.agent).map(|agent| agent.name.as_str());
    let asked = found.unwrap_or(&request.agent);
    if is_named && asked != stored.agent {
        notices.push(format!("requested `{asked}`; the task keeps its agent `{}`", stored.agent));
    }
    let is_its = |model: &String| [&stored.model.id, &stored.model.route].contains(&model);
    if let Some(model) = request.model.as_ref().filter(|model| !is_its(model)) {
        notices.push(format!("requested `{model}`; the task keeps its model `{}`", stored.model.id));
    }
    notices
}

/// Returns the agent of the task that a call wants to resume, under all its names; nothing if there is none.
pub(crate) fn agent_of(engine: &EngineState, asked: &str) -> Resource {
    let task: Option<TaskId> = asked.trim().parse().ok();
    // The log may not show a task that has just begun.
    let at_work = |task| Some(engine.present.find(task)?.job.config.agent.clone());
    let recorded = |task: TaskId| Some(engine.journal.find(task.letters()).ok()?.pop()?.agent);
    let Some(agent) = task.and_then(|task| at_work(task).or_else(|| recorded(task))) else {
        return Resource::Nothing;
    };
    let roster = engine.rosters.current();
    roster.agents.get(&agent).map_or(Resource::Nothing, AgentDefinition::as_resource)
}
