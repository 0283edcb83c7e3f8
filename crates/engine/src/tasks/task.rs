//! The life of one task: admitted, run, ended. Whatever happens inside, it ends once and the ending is recorded.

mod executor;
mod services;

use crate::tasks::task::executor::execute_here;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::ToolChoice;
use sortie_protocol::{CallId, Fact, Failure, FailureCode, Job, Launched, Limit, TaskOutcome, ToolSpec};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::services::services;
use crate::budget::account::{Account, Bid};
use crate::budget::deadline::Deadline;
use crate::budget::slots::Slot;
use crate::conversation::live_record::LiveRecord;
use crate::conversation::load_task::{Unseen, read};
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::conversation::request_size::RequestSize;
use crate::gate::run_tool::message;
use crate::log::writer::{FactWriter, Follower, ParentEntry, Takeover};
use crate::messages::report_cap;
use crate::messages::report_target::ReportTarget;
use crate::messages::running_task::CaughtUp;
use crate::messages::running_task::RunningTask;
use crate::ports::approval::Approvals;
use crate::ports::blocking::blocking;
use crate::resolve::roster::Roster;
use crate::run::Run;
use crate::run::allowance::bid_for;
use crate::run::parked::WakeUps;
use crate::tasks::observers::Asked;
use crate::tasks::resume::background_children::take_up;
use crate::tasks::resume::close_open_calls::close;
use crate::tasks::resume::end_interrupted::Caller;
use crate::tasks::resume::end_left_over;
use crate::tasks::resume::missed_messages::catch_up;
use crate::tasks::start::fork::refuse_beyond_window;
use crate::tasks::state::{EngineError, EngineState};

/// A task that is about to run.
pub(crate) struct Task {
    pub(crate) engine: Arc<EngineState>,
    /// The roster at its start, so that the tools offered to its model never change.
    pub(crate) roster: Arc<Roster>,
    /// The requester's own words.
    pub(crate) asked: Asked,
    pub(crate) job: Arc<Job>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: FactWriter,
    pub(crate) cancel: CancellationToken,
    pub(crate) slot: Arc<Slot>,
    /// Approvals of the whole tree.
    pub(crate) approvals: Arc<Approvals>,
    /// Address of its report; `None` for a task without a parent here.
    pub(crate) address: Option<Arc<ReportTarget>>,
    /// Its state, and its inbox while it works.
    pub(crate) record: Arc<LiveRecord>,
    /// Notices about broken hooks at its start. They are for the outcome, not for the launch, so that nobody reads them
    /// twice.
    pub(crate) hook_notices: Vec<String>,
    /// Set for a resumed task.
    pub(crate) past: Option<Resumed>,
}

/// The resumption of a task.
pub(crate) struct Resumed {
    /// Already part of the conversation.
    pub(crate) prompt: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) notices: Vec<String>,
    /// True for a new leg; otherwise the interrupted one continues.
    pub(crate) is_new_leg: bool,
    /// Position up to which the log was read: if it has grown since, another process has resumed the task.
    pub(crate) read: u64,
    /// Assumption about processes that have its children but cannot be seen from here.
    pub(crate) unseen: Unseen,
}

impl Task {
    /// Records the start and spawns the task, which runs to its recorded end even if nobody waits any more.
    pub(crate) async fn start(mut self) -> Result<JoinHandle<Result<TaskOutcome, EngineError>>, JournalError> {
        self.engine.audience.announce(self.job.task, &self.asked);
        if self.past.is_none() {
            self.record.begin_again(&self.job);
        }
        self.sink.feed(Arc::clone(&self.record) as Arc<dyn Follower>);
        let presence = self.engine.present.enter(self.running_task(), &self.engine.journal);
        let recipient = match &self.address {
            Some(address) => Some(address.hold().await),
            None => None,
        };
        let word = recipient.as_ref().map(|to| ParentEntry { sink: &to.sink, call: &to.call, waits: to.waits });
        match &self.past {
            None => self.sink.begin(word).await?,
            Some(resumed) => {
                // For an interrupted leg the waiting parent has its entry already.
                let word = word.filter(|_| resumed.is_new_leg);
                let Resumed { prompt, title, notices, read, .. } = resumed;
                let (prompt, title, notices) = (prompt.clone(), title.clone(), notices.clone());
                let alone = self.address.is_none();
                self.sink.resume(Takeover { prompt, title, notices, alone }, *read, word).await?;
            }
        }
        drop(recipient);
        presence.has_it();
        point("task.begun");
        if let Some(resumed) = &mut self.past {
            // Only now: before, they might have been the commands of another process that resumed the task.
            resumed.notices.extend(end_left_over(self.record.take_keepers()).await);
        }
        self.slot.enqueue();
        Ok(execute_here(self, presence))
    }

    /// Runs it to its recorded end, and handles an end that could not be recorded.
    async fn execute(&self) -> Result<TaskOutcome, EngineError> {
        let ended = self.run_to_end().await;
        if let Err(error) = &ended {
            self.deliver_unrecorded(error).await;
        }
        ended
    }

    /// Leaves it as a crash would, to be resumed, and returns everything so far. Nothing is recorded.
    fn interrupted(&self) -> TaskOutcome {
        self.sink.forsake(&JournalError::Interrupted);
        self.outcome(Ending::Interrupted { text: self.written() })
    }

    /// Runs it to its recorded end. A panic fails this task, and no other.
    async fn run_to_end(&self) -> Result<TaskOutcome, EngineError> {
        let running = AssertUnwindSafe(self.admit_and_run()).catch_unwind();
        let mut outcome = match running.await {
            Ok(outcome) => outcome?,
            Err(panic) => self.broken_down(message(panic.as_ref())).await?,
        };
        outcome.notices.extend(self.sink.output_failure());
        report_cap::cap(&mut outcome, &self.job, &self.engine.reports).await;
        point("task.before-end");
        self.deliver(&mut outcome).await?;
        point("task.ended");
        self.engine.hooks.ended(&self.job, self.sink.leg(), &outcome);
        if self.job.parent.is_none() {
            self.engine.note_boards.take_down(self.job.task);
        }
        Ok(outcome)
    }

    /// Ends it after a panic, with what its log contains. Open calls are answered.
    async fn broken_down(&self, said: &str) -> Result<TaskOutcome, JournalError> {
        let text = format!("the task broke down: {said}; this is a bug in Sortie");
        // Synced, so that everything written before can be read back.
        self.sink.append_synced(Fact::Noticed { text: text.clone() }).await?;
        let (journal, task) = (Arc::clone(&self.engine.journal), self.job.task);
        let mut unrecorded = self.unrecorded();
        if let Ok(mut read) = blocking(move || read(journal.as_ref(), task)).await {
            read.lose_process();
            unrecorded = unrecorded.noting(read.unknown_effects());
            self.record.replace(read);
            close(self, &mut unrecorded).await?;
        }
        let ending = Ending::Failed { failure: Failure::new(FailureCode::Internal, text), text: self.written() };
        Ok(self.record.look(|record| ending.outcome(record, unrecorded)))
    }

    async fn admit_and_run(&self) -> Result<TaskOutcome, JournalError> {
        let _open = self.account.open();
        self.set_report_aside();
        let deadline = Deadline::new(None, self.address.as_ref().map(|address| Arc::clone(&address.deadline)));
        let not_admitted = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Some(Ending::Cancelled { text: self.written() }),
            () = deadline.passes() => Some(Ending::limited(Limit::Deadline, self.written())),
            () = self.slot.take() => None,
        };
        if let Some(ending) = not_admitted {
            return self.end_unrun(ending).await;
        }
        // From here on the clock of this process counts working time.
        let unrecorded = self.unrecorded();
        if self.past.is_none() && self.job.config.depth == 0 {
            // A run is on disk before its model hears of it, so that nothing visible outside can vanish without a
            // trace.
            self.sink.append_synced(Fact::TaskAdmitted).await?;
        } else {
            self.sink.append(Fact::TaskAdmitted).await?;
        }
        for text in self.notices() {
            self.sink.append(Fact::Noticed { text }).await?;
        }
        let (services, scope) = match services(self, deadline) {
            Ok(services) => services,
            Err(failure) => return self.end_unrun(Ending::Failed { failure, text: self.written() }).await,
        };
        if self.past.is_some() {
            let (turns, correction) = self.record.look(|record| (record.totals.turns, record.totals.correction));
            if turns > 0 {
                self.engine.counting.note(&self.job.config.model, correction);
            }
            catch_up(self, self.record.inbox.last_command()).await?;
            for text in take_up(&scope, &self.record.inbox.background_children()).await {
                self.sink.append(Fact::Noticed { text }).await?;
            }
        }
        let run = Run {
            job: &self.job,
            record: &self.record,
            unrecorded,
            abridged: None,
            // A limit that lowered the cap is not on record.
            cut_by: self.record.look(|record| record.totals.has_cut_answer).then_some(Limit::Output),
            request_size: self.request_size(&services.model_caller.tools),
            wake_ups: WakeUps::default(),
            services: &services,
            sink: &self.sink,
            cancel: &self.cancel,
        };
        run.finish().await
    }

    /// Sets aside the amount for a resumed task's report, before its children resume.
    fn set_report_aside(&self) {
        if self.past.is_some() && self.account.is_limited() {
            let config = &self.job.config;
            let input_tokens = self.request_size(&self.roster.offer(&config.tools)).measure(&self.record.history());
            let prices = self.engine.models.terms(&config.model).prices;
            self.account.set_aside_again(&Bid { input_tokens, max_output: 0, prices, is_report: false });
        }
    }

    /// Fails if its limits, or what is left of those above it, cannot pay for its first call. A fork must also fit its
    /// model's window.
    pub(crate) fn check_first_call(&self) -> Result<(), Failure> {
        if !self.account.is_limited() && self.job.fork.is_none() {
            return Ok(());
        }
        let config = &self.job.config;
        let input_tokens = self.request_size(&self.roster.offer(&config.tools)).measure(&self.record.history());
        let terms = self.engine.models.terms(&config.model);
        if self.job.fork.is_some() {
            refuse_beyond_window(&config.model.id, input_tokens, &terms)?;
        }
        self.account.check_first_call(&bid_for(terms, input_tokens, ToolChoice::Auto))
    }

    /// Ends it before it has worked. Open calls are answered, so that it can be resumed one day.
    async fn end_unrun(&self, ending: Ending) -> Result<TaskOutcome, JournalError> {
        let mut unrecorded = self.unrecorded().noting(self.notices());
        close(self, &mut unrecorded).await?;
        Ok(self.record.look(|record| ending.outcome(record, unrecorded)))
    }

    /// Returns the text of this leg before it was resumed.
    fn written(&self) -> String {
        self.record.last_text()
    }

    /// Starts the clock of this process.
    fn unrecorded(&self) -> Unrecorded {
        Unrecorded::start(&self.account, self.record.look(|record| record.worked.known()))
    }

    /// Returns its outcome with this ending.
    pub(crate) fn outcome(&self, ending: Ending) -> TaskOutcome {
        let unrecorded = self.unrecorded().noting(self.notices());
        self.record.look(|record| ending.outcome(record, unrecorded))
    }

    /// Returns notices about how it began.
    fn notices(&self) -> Vec<String> {
        let said = self.past.as_ref().map_or(&self.job.notices, |resumed| &resumed.notices);
        [&said[..], &self.hook_notices].concat()
    }

    pub(crate) fn unseen(&self) -> Unseen {
        self.past.as_ref().map_or(Unseen::MayRun, |resumed| resumed.unseen)
    }

    /// Returns this task as the caller whose call a child answers.
    pub(crate) fn caller<'a>(&'a self, call: &'a CallId) -> Caller<'a> {
        Caller { sink: &self.sink, call, unseen: self.unseen(), why: None }
    }

    /// Returns the size of its requests, corrected by the provider's last count.
    fn request_size(&self, tools: &[ToolSpec]) -> RequestSize {
        RequestSize::new(&self.job.config.system, tools, self.record.look(|record| record.totals.correction))
    }

    /// Adds a notice before it starts.
    pub(crate) fn notice(&mut self, text: String) {
        if let Some(resumed) = &mut self.past {
            resumed.notices.push(text.clone());
        }
        let mut job = Job::clone(&self.job);
        job.notices.push(text);
        self.job = Arc::new(job);
        self.sink = self.sink.with_job(Arc::clone(&self.job));
    }

    /// Returns the launch message for a requester that does not wait.
    pub(crate) fn launched(&self) -> Launched {
        launched(&self.job, self.sink.output_path())
    }

    fn running_task(&self) -> RunningTask {
        RunningTask {
            job: Arc::clone(&self.job),
            cancel: self.cancel.clone(),
            interrupt: CancellationToken::new(),
            stopper: OnceLock::new(),
            sink: self.sink.clone(),
            inbox: Arc::clone(&self.record.inbox),
            account: Arc::clone(&self.account),
            worked_before: self.record.look(|record| record.worked.known()),
            journal: Arc::clone(&self.engine.journal),
            reports: Arc::clone(&self.engine.reports),
            address: self.address.clone(),
            over: CancellationToken::new(),
            releasable: self.engine.contract.defaults().companions.allow_background() && self.engine.rules.background,
            caught_up: if self.past.is_some() { CaughtUp::not_yet() } else { CaughtUp::from_the_start() },
        }
    }
}

pub(crate) fn launched(job: &Job, output_file: Option<String>) -> Launched {
    let (agent, model) = (job.config.agent.clone(), job.config.model.clone());
    Launched { task_id: job.task, agent, model, output_file, notices: job.notices.clone() }
}
