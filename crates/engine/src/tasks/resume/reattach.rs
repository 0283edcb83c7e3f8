//! Children that were started before their parent stopped, and for which its open calls wait.
//!
//! Each resumes, or answers with its outcome. None is started a second time.

use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{Journal, TaskState};
use sortie_protocol::{CallId, Event, Fact, Failure, FailureCode, Limits, ModelChoice, TaskId, TaskOutcome};
use tokio::time::Instant;

use crate::budget::account::Account;
use crate::conversation::load_task::{LoadedTask, read_what_is_whole, remember, standing};
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::conversation::task_record::Attached;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::tasks::resume::end_interrupted::{Caller, end_attached};
use crate::tasks::resume::{self, Resuming, Wish};
use crate::tasks::scope::{LaunchMode, TaskScope};
use crate::tasks::start::admission::{Admission, Admitted, admit};
use crate::tasks::start::check::Checks;
use crate::tasks::start::origin::Origin;

/// Longest wait for a child that another process has, and the polling interval.
const HELD_FOR: Duration = Duration::from_secs(2);
const PERIOD: Duration = Duration::from_millis(20);

/// Retries for a while: a process that stops a child, or a task below it, has its log only for a moment.
pub(crate) struct HeldRetry {
    until: Instant,
}

impl HeldRetry {
    pub(crate) fn new() -> Self {
        Self { until: Instant::now() + HELD_FOR }
    }

    /// Returns true if there should be another attempt, and sleeps before it.
    pub(crate) async fn tries_again_after(&self, failure: &Failure) -> bool {
        let tries = failure.code == FailureCode::StillRunning && Instant::now() < self.until;
        if tries {
            tokio::time::sleep(PERIOD).await;
        }
        tries
    }
}

/// A loaded task, and notices about its children.
type Recalled = (LoadedTask, Vec<String>);

/// A child that was started before its parent stopped.
pub(crate) enum Found {
    Ended(Box<TaskOutcome>),
    /// It resumes.
    Open(Box<Admitted>),
    /// Another process has it, or it cannot be read: it stays as it is. The outcome contains what is known.
    OutOfReach(Box<TaskOutcome>),
}

/// Finds the child that already answers a call: its outcome, or the child to resume.
pub(crate) async fn again(scope: &TaskScope, call: &CallId, attached: Attached, mode: LaunchMode) -> Found {
    let why = match look_for(scope, attached).await {
        Ok(Err(outcome)) => return Found::Ended(Box::new(outcome)),
        Ok(Ok(recalled)) => match Box::pin(resume_child(scope, call, recalled, mode)).await {
            Ok(Admission::Start(admitted)) => return Found::Open(admitted),
            Ok(Admission::GivenAgain { outcome, .. }) => return Found::Ended(outcome),
            Err(why) => why,
        },
        Err(why) => why,
    };
    end_instead(scope, call, attached, why).await
}

/// Resumes a child, if it could be started now.
async fn resume_child(
    scope: &TaskScope,
    call: &CallId,
    recalled: Recalled,
    mode: LaunchMode,
) -> Result<Admission, Failure> {
    let (loaded, notices) = recalled;
    let (engine, roster) = (&scope.engine, scope.engine.rosters.current());
    let origin = Origin::Child { parent: scope, address: scope.address(call, mode), order: None };
    let checks = Checks::of(engine, &origin, &roster)?;
    checks.depth(origin.requester())?;
    checks.stored_agent(&loaded.past.job.config.agent)?;
    let resuming = Resuming { loaded, wish: Wish::AsItWas, notices, unseen: scope.unseen };
    let task = resume::prepare(engine, &origin, resuming).await?;
    admit(task, &origin, mode).await
}

/// Loads a child, or its outcome if it has ended. Retries while another process stops it.
async fn look_for(
    scope: &TaskScope,
    Attached { child, ended_leg, .. }: Attached,
) -> Result<Result<Recalled, TaskOutcome>, Failure> {
    let persistence = HeldRetry::new();
    loop {
        let (journal, unseen) = (Arc::clone(&scope.engine.journal), scope.unseen);
        let read = move || match outcome_for(journal.as_ref(), child, ended_leg)? {
            Some(outcome) => Ok(Err(outcome)),
            None => remember(journal.as_ref(), standing(journal.as_ref(), child, unseen)?).map(Ok),
        };
        match blocking(read).await {
            Err(held) if persistence.tries_again_after(&held).await => {}
            found => return found,
        }
    }
}

/// Ends a child that cannot resume. It answers with what it has done, and why there is no more.
pub(crate) async fn end_instead(
    scope: &TaskScope,
    call: &CallId,
    Attached { child, ended_leg, .. }: Attached,
    why: Failure,
) -> Found {
    let caller = Caller { why: Some(&why), ..scope.caller(call) };
    match end_attached(&scope.engine, child, ended_leg, caller).await {
        Ok(outcome) => Found::Ended(Box::new(outcome)),
        Err(held) => {
            let journal = Arc::clone(&scope.engine.journal);
            let known = blocking(move || Ok(known_of(journal.as_ref(), child, held))).await;
            let known = known.unwrap_or_else(|failure| nothing_known(child, String::new(), failure));
            Found::OutOfReach(Box::new(known))
        }
    }
}

/// Returns the child's outcome, if it has answered: of the leg in the log, or of the newest that has ended.
pub(crate) fn outcome_for(
    journal: &dyn Journal,
    child: TaskId,
    leg: Option<u32>,
) -> Result<Option<TaskOutcome>, Failure> {
    let standing = journal.standing(child).map_err(journal_failure)?;
    let has_ended = matches!(standing.state, TaskState::Ended(_));
    match leg {
        Some(leg) if leg != standing.leg || !has_ended => ending_of(journal, child, leg),
        Some(_) => journal.ending(child).map_err(journal_failure),
        None if has_ended => journal.ending(child).map_err(journal_failure),
        None => Ok(None),
    }
}

/// Reads the ending of an earlier leg.
fn ending_of(journal: &dyn Journal, task: TaskId, leg: u32) -> Result<Option<TaskOutcome>, Failure> {
    let mut ending = None;
    let mut look = |event: Event| match event.fact {
        Fact::TaskEnded { outcome } if event.leg == leg => ending = Some(*outcome),
        _ => {}
    };
    journal.read_each(task, 1, &mut look).map_err(journal_failure)?;
    Ok(ending)
}

/// Returns an answer about a child that is out of reach. It is not an ending: the child has none.
fn known_of(journal: &dyn Journal, child: TaskId, held: Failure) -> TaskOutcome {
    let message = format!(
        "{child} was started before this task was interrupted, and its report is not here: {held}. `sortie tasks \
            show {child}` shows its progress; do not have the same work done twice"
    );
    let failure = Failure { message, ..held };
    let Ok((past, _)) = read_what_is_whole(journal, child) else {
        let header = journal.find(child.letters()).ok().and_then(|mut found| found.pop());
        return nothing_known(child, header.map(|header| header.agent).unwrap_or_default(), failure);
    };
    let account = Account::restored(Limits::default(), past.totals.footprint(), None);
    let text = past.history.last_text();
    Ending::Failed { failure, text }.outcome(&past, Unrecorded::start(&account, past.worked.known()))
}

/// Returns the outcome of a child whose log cannot be read at all.
fn nothing_known(task_id: TaskId, agent: String, failure: Failure) -> TaskOutcome {
    let model = ModelChoice { route: "unknown".to_owned(), id: "unknown".to_owned() };
    TaskOutcome::failed(task_id, agent, model, failure)
}
