//! Ending an interrupted task: it gets the ending that its process could not write, and so do its children.
//!
//! It takes two steps. First all of them are taken over, so that nobody else resumes one. Then leftover commands are
//! ended, and all endings are written. Each step is one append: the tree is stopped as a whole or not at all.

use std::collections::HashMap;
use std::sync::Arc;

use sortie_journal::{Durability, Entry, Journal, JournalError, TaskState};
use sortie_protocol::{CallId, Fact, Failure, FailureCode, Limits, Status, TaskId, TaskOutcome};

use crate::budget::account::Footprint;
use crate::conversation::load_task::{LoadedTask, Unseen, expecting, recall, standing};
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::conversation::task_record::{Attached, Stamp, TaskRecord};
use crate::log::writer::{FactWriter, LegHold, Takeover};
use crate::messages::inbox_record::Report;
use crate::messages::mail_text::unread_notice;
use crate::messages::report_cap;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::resume::close_open_calls::answers;
use crate::tasks::resume::end_left_over;
use crate::tasks::resume::reattach::outcome_for;
use crate::tasks::state::EngineState;

/// The task whose call a child answers, if it runs here.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) sink: &'a FactWriter,
    pub(crate) call: &'a CallId,
    /// Assumption about processes that cannot be seen from here.
    pub(crate) unseen: Unseen,
    /// The reason why the child cannot resume; `None` if it is stopped.
    pub(crate) why: Option<&'a Failure>,
}

/// The tasks that need an ending.
struct Left {
    /// Parents before their children.
    tasks: Vec<(LoadedTask, Vec<String>)>,
    /// Outcomes of children that ended before.
    reports: HashMap<TaskId, TaskOutcome>,
    /// Call of a parent that stays interrupted.
    waiting: Option<Waiting>,
}

/// An interrupted parent that waits for a child, and stays as it is.
struct Waiting {
    parent: LoadedTask,
    call: CallId,
}

/// A task that is being ended.
struct Taken {
    loaded: LoadedTask,
    sink: FactWriter,
    notices: Vec<String>,
}

/// Ends a task that nobody runs, with all its descendants.
pub(crate) async fn abandon(
    engine: &Arc<EngineState>,
    task: TaskId,
    caller: Option<Caller<'_>>,
) -> Result<Vec<TaskOutcome>, Failure> {
    let journal = Arc::clone(&engine.journal);
    let unseen = caller.map_or(Unseen::MayRun, |caller| caller.unseen);
    let left = blocking(move || Left::find(journal.as_ref(), task, unseen)).await?;
    let mut taken = Vec::new();
    for (mut loaded, notices) in left.tasks {
        let hold = loaded.hold()?;
        let sink = engine.sink(&loaded.past.job, hold);
        let stamp = Stamp { leg: hold.leg, time: engine.clock.now() };
        loaded.past.take(taken_over().fact(&loaded.past.job), stamp);
        taken.push(Taken { loaded, sink, notices });
    }
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let takeover = |one: &Taken| one.sink.takeover(taken_over(), one.loaded.standing.last_seq);
    let takeovers = taken.iter().map(takeover).collect();
    engine.journal.append(takeovers, Durability::Synced).await.map_err(journal_failure)?;

    let asked_by = left.waiting.map(|Waiting { parent, call }| {
        let hold = LegHold { attempt: parent.standing.attempt, leg: parent.standing.leg };
        (engine.sink(&parent.past.job, hold), call)
    });
    let asker = caller.map(|caller| (caller.sink, caller.call));
    let (mut entries, mut outcomes, mut reports) = (Vec::new(), Vec::new(), left.reports);
    let mut heard = Vec::new();
    for at in (0..taken.len()).rev() {
        let job = Arc::clone(&taken[at].loaded.past.job);
        let why = caller.and_then(|caller| caller.why).map(|why| could_not_go_on(job.task, task, why));
        let outcome = ended(engine, &mut taken[at], why, &reports, &mut entries).await;
        let one = &taken[at];
        // Not always its parent: a failed parent leaves it to another task.
        let waiting = taken.iter().find_map(|above| Some((&above.sink, above.call_of(job.task)?)));
        let asker = asker.filter(|_| job.task == task);
        let told = waiting.or(asker.map(|(sink, call)| (sink, call.clone())));
        if let Some((parent, call)) = told {
            let word = one.sink.word_of_end(call);
            let entry = parent.entry(word.clone());
            heard.push((parent.clone(), word, entry.time));
            entries.push(entry);
        }
        reports.insert(job.task, outcome.clone());
        outcomes.push(outcome);
    }
    let own = taken.iter().find(|one| one.loaded.past.job.task == task);
    let asked_by = asked_by.filter(|_| asker.is_none()).zip(own);
    let word = asked_by.map(|((above, call), own)| above.entry(own.sink.word_of_end(call)));
    end_together(engine, entries, word).await?;
    // One of them may be the log of a running task.
    for (parent, word, time) in heard {
        let parent: FactWriter = parent;
        parent.tell_follower(word, time);
    }
    for (one, outcome) in taken.iter().rev().zip(&outcomes) {
        engine.hooks.ended(&one.loaded.past.job, one.sink.leg(), outcome);
    }
    Ok(outcomes)
}

/// Writes the endings, and the entry for the parent, which nobody ran a moment ago. If the parent has resumed since, it
/// finds the ending in the task's own log, and its entry is left out.
async fn end_together(engine: &EngineState, entries: Vec<Entry>, word: Option<Entry>) -> Result<(), Failure> {
    if let Some(word) = word {
        let all = entries.iter().cloned().chain([word]).collect();
        match engine.journal.append(all, Durability::Synced).await {
            Err(JournalError::Fenced { .. } | JournalError::LegOver { .. }) => {}
            written => return written.map_err(journal_failure),
        }
    }
    engine.journal.append(entries, Durability::Synced).await.map_err(journal_failure)
}

/// Returns the outcome of a task that was taken over, and adds its entries.
async fn ended(
    engine: &EngineState,
    Taken { loaded, sink, notices }: &mut Taken,
    why: Option<Failure>,
    reports: &HashMap<TaskId, TaskOutcome>,
    entries: &mut Vec<Entry>,
) -> TaskOutcome {
    let account = loaded.account(Limits::default(), None);
    let past = &mut loaded.past;
    let left = end_left_over(past.keepers.clone()).await;
    let notices: Vec<String> = notices.drain(..).chain(left).chain(past.unknown_effects()).collect();
    let unrecorded = Unrecorded::start(&account, past.worked.known()).noting(notices);
    for fact in answers(engine, past.open.as_ref(), &past.job, reports, &account).await {
        let entry = sink.entry(fact.clone());
        past.take(fact, Stamp { leg: entry.leg, time: entry.time });
        entries.push(entry);
    }
    let text = past.history.last_text();
    let ending = match why {
        Some(failure) => Ending::Failed { failure, text },
        None => Ending::Cancelled { text },
    };
    let mut outcome = ending.outcome(past, unrecorded);
    if outcome.status == Status::Cancelled {
        outcome.notices.push("it was interrupted, and was stopped before it was resumed".to_owned());
    }
    outcome.notices.extend(unread_notice(0, past.mail.messages.len()));
    report_cap::cap(&mut outcome, &past.job, &engine.reports).await;
    entries.push(sink.entry(Fact::TaskEnded { outcome: Box::new(outcome.clone()) }));
    outcome
}

/// Returns the report of a background child: of the ended leg in the log, or of the newest.
pub(crate) async fn report_of(
    engine: &Arc<EngineState>,
    child: TaskId,
    ended_leg: Option<u32>,
    caller: Caller<'_>,
) -> Result<Report, Failure> {
    let outcome = end_attached(engine, child, ended_leg, caller).await?;
    let journal = Arc::clone(&engine.journal);
    let leg = match ended_leg {
        Some(leg) => leg,
        None => blocking(move || Ok(journal.standing(child).map_err(journal_failure)?.leg)).await?,
    };
    Ok(Report { leg, outcome: Box::new(outcome) })
}

/// Returns the outcome of the child that answers a call. Ends the child now if nobody runs it.
pub(crate) async fn end_attached(
    engine: &Arc<EngineState>,
    child: TaskId,
    ended_leg: Option<u32>,
    caller: Caller<'_>,
) -> Result<TaskOutcome, Failure> {
    let journal = Arc::clone(&engine.journal);
    if let Some(outcome) = blocking(move || outcome_for(journal.as_ref(), child, ended_leg)).await? {
        return Ok(outcome);
    }
    let ended = abandon(engine, child, Some(caller)).await?;
    let own = ended.into_iter().find(|outcome| outcome.task_id == child);
    own.ok_or_else(|| Failure::new(FailureCode::StillRunning, format!("{child} runs elsewhere")))
}

impl Taken {
    /// Returns the call with which this task waits for a child.
    fn call_of(&self, child: TaskId) -> Option<CallId> {
        self.loaded.past.waits_for(child)
    }
}

impl Left {
    fn find(journal: &dyn Journal, task: TaskId, unseen: Unseen) -> Result<Self, Failure> {
        let (mut tasks, mut reports) = (Vec::new(), HashMap::new());
        let tree = journal.tree(task).map_err(journal_failure)?;
        for header in tree.iter().filter(|header| !matches!(header.state, TaskState::Ended(_))) {
            let standing = standing(journal, header.task_id, unseen)?;
            let (loaded, notices) = match recall(journal, standing) {
                Ok(found) => found,
                Err(failure) if header.task_id == task => return Err(failure),
                // Reported when that task itself is asked for.
                Err(_) => continue,
            };
            for Attached { child, ended_leg, .. } in loaded.past.awaited().into_values() {
                if let Ok(Some(outcome)) = outcome_for(journal, child, ended_leg) {
                    reports.insert(child, outcome);
                }
            }
            tasks.push((loaded, notices));
        }
        let parent = tasks.first().and_then(|(first, _)| first.past.job.parent);
        let waiting = expecting(journal, parent, task).and_then(|(past, call)| Waiting::find(journal, past, call));
        Ok(Self { tasks, reports, waiting })
    }
}

impl Waiting {
    fn find(journal: &dyn Journal, past: TaskRecord, call: CallId) -> Option<Self> {
        let standing = journal.standing(past.job.task).ok();
        let standing = standing.filter(|standing| standing.state == TaskState::Interrupted)?;
        Some(Self { parent: LoadedTask { past, standing, below: Footprint::default() }, call })
    }
}

/// The takeover of a task that is to be ended.
fn taken_over() -> Takeover {
    Takeover { alone: true, ..Takeover::default() }
}

/// Returns the failure of a task that nobody has stopped: it, or the ended task above it, could not resume.
fn could_not_go_on(task: TaskId, top: TaskId, why: &Failure) -> Failure {
    if task == top {
        let message = format!("it was interrupted and could not resume: {}", why.message);
        return Failure { message, ..why.clone() };
    }
    let message = format!("it was interrupted, and {top} above it could not resume: {}", why.message);
    Failure::new(FailureCode::AboveFailed, message)
}
