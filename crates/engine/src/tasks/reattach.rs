//! Children that were started before their parent stopped, and that its open calls wait for: each goes on, or answers with
//! what it came to. None of them is started a second time, and of none is it said that it was never started.

use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;

use sortie_journal::{Journal, TaskState};
use sortie_protocol::{
    AgentConfig, CallId, Event, Fact, Failure, FailureCode, Limits, ModelChoice, Status, TaskId, TaskOutcome, Usage,
};
use sortie_tools::BoxFuture;
use tokio::time::Instant;

use crate::budget::account::Account;
use crate::conversation::load_task::{Remembered, read_what_is_whole, remember, standing};
use crate::conversation::outcome::{Ending, Tally};
use crate::conversation::replay::Attached;
use crate::gate::children::Children;
use crate::messages::report_target::Address;
use crate::ports::blocking::blocking;
use crate::ports::failure::journal_failure;
use crate::resolve::permissions::refuse_denied;
use crate::tasks::delegate::Delegate;
use crate::tasks::end_interrupted::Caller;
use crate::tasks::resume::{GoingOn, Wish};
use crate::tasks::task::Task;

/// How long a child is waited for that another process has, and how often it is looked at.
const HELD_FOR: Duration = Duration::from_secs(2);
const PERIOD: Duration = Duration::from_millis(20);

/// Goes on trying for a while: who stops a child, or ends one below it, has its log for a moment.
pub(crate) struct Persistence {
    until: Instant,
}

impl Persistence {
    pub(crate) fn new() -> Self {
        Self { until: Instant::now() + HELD_FOR }
    }

    /// Whether to try again, a moment after somebody else had the task.
    pub(crate) async fn tries_again_after(&self, failure: &Failure) -> bool {
        let tries = failure.code == FailureCode::StillRunning && Instant::now() < self.until;
        if tries {
            tokio::time::sleep(PERIOD).await;
        }
        tries
    }
}

/// A task as its log tells of it, and what is not known of its children.
type Recalled = (Remembered, Vec<String>);

/// A child that was started before its parent stopped.
pub(crate) enum Found {
    Ended(Box<TaskOutcome>),
    Open(Box<Task>),
    /// Somebody else has it, or nothing of it can be read: it stays as it is. The outcome tells what is known.
    OutOfReach(Box<TaskOutcome>),
}

impl Delegate {
    /// The child that answers a call already: its outcome, or itself, to go on.
    pub(crate) async fn again(&self, address: Arc<Address>, call: &CallId, attached: Attached) -> Found {
        let why = match self.look_for(attached).await {
            Ok(Err(outcome)) => return Found::Ended(Box::new(outcome)),
            Ok(Ok((remembered, notices))) => {
                let above = Some(self.above(address));
                let may_go_on = self.refuse_now(&remembered.past.job.config);
                let takes_over = self.takes_over;
                let going_on = GoingOn { remembered, wish: Wish::AsItWas, notices, above, takes_over };
                let task = match may_go_on {
                    Ok(()) => Box::pin(self.engine.go_on(going_on)).await,
                    Err(why) => Err(why),
                };
                match task {
                    Ok(task) => return Found::Open(Box::new(task)),
                    Err(why) => why,
                }
            }
            Err(why) => why,
        };
        self.end_instead(call, attached, why).await
    }

    /// The outcome of a child that has ended, or itself, read back. Whoever stops it meanwhile has it for a moment.
    async fn look_for(
        &self,
        Attached { child, ended_leg, .. }: Attached,
    ) -> Result<Result<Recalled, TaskOutcome>, Failure> {
        let persistence = Persistence::new();
        loop {
            let (journal, takes_over) = (Arc::clone(&self.engine.journal), self.takes_over);
            let read = move || match outcome_for(journal.as_ref(), child, ended_leg)? {
                Some(outcome) => Ok(Err(outcome)),
                None => remember(journal.as_ref(), standing(journal.as_ref(), child, takes_over)?).map(Ok),
            };
            match blocking(read).await {
                Err(held) if persistence.tries_again_after(&held).await => {}
                found => return found,
            }
        }
    }

    /// A child goes on only where it could be started now.
    fn refuse_now(&self, child: &AgentConfig) -> Result<(), Failure> {
        self.engine.rules.check_depth(self.parent.config.depth)?;
        let roster = self.engine.rosters.current();
        // One whose agent is gone is refused where its grant is made anew.
        let Ok(definition) = roster.agents.get(&child.agent) else { return Ok(()) };
        refuse_denied(&self.judge, self.engine.contract.as_ref(), definition)
    }

    /// How a child answers that cannot go on: it had been started, so with what it came to, and why there is no more.
    async fn end_instead(&self, call: &CallId, Attached { child, ended_leg, .. }: Attached, why: Failure) -> Found {
        let caller = Caller { why: Some(&why), ..self.caller(call) };
        match self.engine.end_attached(child, ended_leg, caller).await {
            Ok(outcome) => Found::Ended(Box::new(outcome)),
            Err(held) => {
                let journal = Arc::clone(&self.engine.journal);
                let known = blocking(move || Ok(known_of(journal.as_ref(), child, held))).await;
                Found::OutOfReach(Box::new(
                    known.unwrap_or_else(|failure| nothing_known(child, String::new(), failure)),
                ))
            }
        }
    }

    /// This task, as the one whose call somebody answers.
    pub(crate) fn caller<'a>(&'a self, call: &'a CallId) -> Caller<'a> {
        Caller { sink: &self.sink, call, takes_over: self.takes_over, why: None }
    }
}

/// How the child has answered a call, if it has: with the leg that was told, or the newest if it ended untold.
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

/// The ending of one leg, which later ones have followed.
fn ending_of(journal: &dyn Journal, task: TaskId, leg: u32) -> Result<Option<TaskOutcome>, Failure> {
    let mut ending = None;
    let mut look = |event: Event| match event.fact {
        Fact::TaskEnded { outcome } if event.leg == leg => ending = Some(*outcome),
        _ => {}
    };
    journal.read_each(task, 1, &mut look).map_err(journal_failure)?;
    Ok(ending)
}

/// What a call is told of a child that is out of reach. This is nobody's ending: the child has none.
fn known_of(journal: &dyn Journal, child: TaskId, held: Failure) -> TaskOutcome {
    let message = format!(
        "{child} was started before this task was interrupted, and its report is not here: {held}. `sortie tasks show \
         {child}` tells how far it has come; do not have the same done twice"
    );
    let failure = Failure { message, ..held };
    let Ok((past, _)) = read_what_is_whole(journal, child) else {
        let header = journal.find(child.letters()).ok().and_then(|mut found| found.pop());
        return nothing_known(child, header.map(|header| header.agent).unwrap_or_default(), failure);
    };
    let account = Account::restored(Limits::default(), past.deeds.footprint(), None);
    let text = past.history.last_text();
    Tally::resumed(&account, &past, &[]).outcome(&past.job, Ending::Failed { failure, text })
}

/// The same of one whose log cannot be read at all.
fn nothing_known(task_id: TaskId, agent: String, failure: Failure) -> TaskOutcome {
    TaskOutcome {
        task_id,
        agent,
        status: Status::Failed,
        reason: None,
        text: String::new(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: ModelChoice { route: "unknown".to_owned(), id: "unknown".to_owned() },
        usage: Usage::default(),
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: Some(failure),
        given_again: None,
    }
}

impl Children for Delegate {
    fn let_go<'a>(&'a self, call: &'a CallId, refusal: &'a str) -> BoxFuture<'a, Option<TaskOutcome>> {
        Box::pin(async move {
            let attached = *self.attached.get(call)?;
            match self.end_instead(call, attached, Failure::new(FailureCode::Permission, refusal)).await {
                Found::Ended(outcome) | Found::OutOfReach(outcome) => Some(*outcome),
                Found::Open(_) => None,
            }
        })
    }

    fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
