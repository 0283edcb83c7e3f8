//! The record of a task: everything in its log, built fact by fact.
//!
//! One function applies the facts, live and when a log is read back, so that a resumed task stands where it stood.
//! Nothing that lived in a process is needed. The record decides nothing: `settle_calls.rs` handles calls that were
//! under way. Its conversation is always one that a model accepts.

mod open_turn;
mod past_shells;
mod totals;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use sortie_journal::Worked;
use sortie_protocol::{
    AgentConfig, CallId, CallOutput, Event, Fact, Job, Limit, Limits, Message, QuestionMark, Reply, TaskId,
    TaskOutcome, Timestamp,
};
use sortie_sandbox::process::KeeperMark;

use crate::conversation::history::History;
use crate::conversation::unanswered_calls;
use crate::messages::inbox_record::InboxRecord;

pub(crate) use self::open_turn::{Attached, OpenTurn, Started};
use self::past_shells::PastShells;
pub(crate) use self::totals::{Totals, is_cut_answer};

/// Least time of a resumed leg: enough to end it properly.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Stands for the call that started a background child, if that call is answered.
pub(crate) const IN_BACKGROUND: &str = "background";

/// Everything that the log of a task contains.
pub(crate) struct TaskRecord {
    /// The job with its current configuration.
    pub(crate) job: Arc<Job>,
    pub(crate) leg: u32,
    /// Shared with the request that is under way.
    pub(crate) history: Arc<History>,
    /// The turn with unanswered calls.
    pub(crate) open: Option<OpenTurn>,
    /// Texts said while calls were open; they join the conversation after the outputs.
    pub(crate) said: Vec<String>,
    /// The reply with which the leg was about to end: one without calls, or the report requested at a limit.
    pub(crate) last_word: Option<Arc<Reply>>,
    /// The limit for which the leg's report was requested.
    pub(crate) limit: Option<Limit>,
    pub(crate) totals: Totals,
    /// Keepers of all commands since leftover ones were last ended. Most have ended; one may still run.
    pub(crate) keepers: Vec<KeeperMark>,
    pub(crate) shells: PastShells,
    /// The mail of a task whose log was read back. While a task runs, its inbox has it.
    pub(crate) mail: InboxRecord,
    /// Questions of other tasks of which the model was reminded.
    pub(crate) reminded_of: Vec<QuestionMark>,
    /// The outcome of the newest leg, if it has ended.
    pub(crate) ended: Option<TaskOutcome>,
    /// The job at its start: no resumption gets more, and a new leg gets its limits again.
    first: Arc<Job>,
    pub(crate) worked: Worked,
}

/// Leg and time of a fact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    pub(crate) leg: u32,
    pub(crate) time: Timestamp,
}

impl TaskRecord {
    /// Returns the record of a new task, with the messages that it inherits from its parent.
    pub(crate) fn begin(first: &Arc<Job>, inherited: &[Message], Stamp { leg, time }: Stamp) -> Self {
        let mut job = Arc::clone(first);
        if job.config.server_tools.note.is_some() {
            // The conversation begins with the note, which is said once.
            Arc::make_mut(&mut job).config.server_tools.note = None;
        }
        Self {
            history: Arc::new(History::begin(first, inherited)),
            leg,
            open: None,
            said: Vec::new(),
            last_word: None,
            limit: None,
            totals: Totals::begin(first, inherited),
            keepers: Vec::new(),
            shells: PastShells::default(),
            mail: InboxRecord::begin(first),
            reminded_of: Vec::new(),
            ended: None,
            worked: Worked::begin(time),
            first: Arc::clone(&job),
            job,
        }
    }

    /// Starts with the first event of a log; `None` if that does not start a task.
    pub(crate) fn of(first: Event, inherited: &[Message]) -> Option<Self> {
        let Event { fact: Fact::TaskStarted { job }, leg, time, .. } = first else { return None };
        Some(Self::begin(&Arc::new(*job), inherited, Stamp { leg, time }))
    }

    /// Applies the next event of a log that is read back.
    pub(crate) fn replay(&mut self, event: Event) {
        let Event { fact, leg, time, .. } = event;
        self.take(fact, Stamp { leg, time });
    }

    /// Applies a fact to the record and its mail.
    pub(crate) fn take(&mut self, fact: Fact, stamp: Stamp) {
        self.mail.apply(&fact);
        self.apply(fact, stamp);
    }

    /// Applies a fact to everything but the mail. The match names every fact.
    pub(crate) fn apply(&mut self, fact: Fact, Stamp { leg, time }: Stamp) {
        self.worked.hear(&fact, time);
        self.totals.apply(&fact, self.open.as_ref());
        match fact {
            Fact::TaskStarted { .. } => self.worked = Worked::begin(time),
            Fact::TaskResumed { prompt, config, notices, .. } => self.begin_leg(leg, *config, notices, prompt),
            // A resuming process ends leftover commands before its task is admitted.
            Fact::TaskAdmitted => self.keepers.clear(),
            Fact::ProcessStarted { pid, started, .. } => self.keepers.push(KeeperMark { pid, started }),
            Fact::ModelReplied { reply, .. } => self.take_reply(reply),
            Fact::Compacted { compaction, .. } => Arc::make_mut(&mut self.history).shorten(&compaction),
            Fact::TaskEnded { outcome } => self.end_leg(*outcome),
            Fact::CallFinished { output, .. } => self.take_output(output),
            Fact::CallStarted { .. }
            | Fact::CallProgressed { .. }
            | Fact::ChildStarted { .. }
            | Fact::ChildReleased { .. }
            | Fact::ChildEnded { .. } => {
                if let Some(open) = &mut self.open {
                    open.apply(fact, time);
                }
            }
            Fact::LimitReached { .. } | Fact::AnswerReturned { .. } | Fact::MailRead { .. } | Fact::Reminded { .. } => {
                self.listen(fact);
            }
            // Handled by the totals or the mail, or not needed to resume.
            Fact::ModelCalled { .. }
            | Fact::ModelLost { .. }
            | Fact::ModelRetried { .. }
            | Fact::Assisted { .. }
            | Fact::Noticed { .. }
            | Fact::ChildAdopted { .. }
            | Fact::MessageArrived { .. }
            | Fact::QuestionAsked { .. }
            | Fact::ApprovalAsked { .. }
            | Fact::ApprovalAnswered { .. }
            | Fact::OutcomeGiven { .. }
            | Fact::NotePosted { .. }
            | Fact::TaskParked { .. }
            | Fact::TaskQueued { .. }
            | Fact::Unknown => {}
        }
    }

    /// Applies a fact that adds a message to the conversation.
    fn listen(&mut self, fact: Fact) {
        match fact {
            Fact::LimitReached { limit, text } => {
                self.say(text);
                self.limit = Some(limit);
            }
            Fact::AnswerReturned { text } => self.say(text),
            Fact::MailRead { mail, text } => self.join(text, |history, text| history.push_mail(&mail, text)),
            Fact::Reminded { text, lost_shells, questions } => {
                if !questions.is_empty() {
                    // The task had ended its turn, and now continues.
                    self.last_word = None;
                }
                self.reminded_of.extend(questions);
                self.shells.tell(&lost_shells);
                self.remind(text);
            }
            _ => {}
        }
    }

    /// Resumes the task, in its open leg or in a new one.
    fn begin_leg(&mut self, leg: u32, mut config: AgentConfig, notices: Vec<String>, prompt: Option<String>) {
        self.shells.lose();
        if leg > self.leg {
            // A new leg starts without the ending, texts and notices of the previous one.
            (self.leg, self.ended) = (leg, None);
            (self.last_word, self.limit) = (None, None);
            self.totals.begin_leg();
            Arc::make_mut(&mut self.history).begin_leg();
        }
        for notice in notices {
            self.totals.notice(notice);
        }
        let note = config.server_tools.note.take();
        Arc::make_mut(&mut self.job).config = config;
        if let Some(prompt) = prompt {
            self.ask_more(prompt);
        }
        self.remind_of_tools(note);
    }

    /// Adds a further prompt. Earlier answers are dropped, unless the task was waiting for mail: then they belong to
    /// the result.
    fn ask_more(&mut self, prompt: String) {
        if self.last_word.is_some() && self.mail.background_children.is_empty() && self.mail.messages.is_empty() {
            Arc::make_mut(&mut self.history).begin_answers();
            self.totals.has_cut_answer = false;
        }
        self.say(prompt);
    }

    /// Adds a user message, after the outputs of open calls. The task has then not had its last word.
    fn say(&mut self, text: String) {
        self.join(text, History::push_user);
    }

    /// Adds a message of the engine.
    fn remind(&mut self, text: String) {
        if self.open.is_none() {
            Arc::make_mut(&mut self.history).push_reminder(&text);
        } else {
            self.say(text);
        }
    }

    /// Adds a note on changed tools, unless the open calls were made at a limit: the model will not be asked again
    /// then.
    fn remind_of_tools(&mut self, note: Option<String>) {
        if let Some(text) = note.filter(|_| self.limit.is_none() || self.open.is_none()) {
            self.remind(text);
        }
    }

    fn join(&mut self, text: String, push: impl FnOnce(&mut History, &str)) {
        self.last_word = None;
        if self.open.is_some() {
            self.said.push(text);
        } else {
            self.limit = None;
            push(Arc::make_mut(&mut self.history), &text);
        }
    }

    fn take_reply(&mut self, reply: Reply) {
        // Older versions ended legs without answering their calls.
        self.close_turn();
        Arc::make_mut(&mut self.history).push_reply(&reply);
        let reply = Arc::new(reply);
        let has_calls = reply.calls().next().is_some();
        self.last_word = (!has_calls || self.limit.is_some()).then(|| Arc::clone(&reply));
        self.open = has_calls.then(|| OpenTurn::of(reply));
    }

    fn take_output(&mut self, output: CallOutput) {
        let Some(open) = &mut self.open else { return };
        if let (Some(mark), Some(call)) = (output.output.shell, open.call(&output.call)) {
            self.shells.see(mark, call);
        }
        open.outputs.insert(output.call.clone(), output);
        if open.unanswered().next().is_none() {
            self.close_turn();
        }
    }

    /// Gives each call of the open turn its output, unanswered ones included.
    fn close_turn(&mut self) {
        let Some(open) = self.open.take() else { return };
        Arc::make_mut(&mut self.history).push_outputs(open.into_outputs());
        for text in std::mem::take(&mut self.said) {
            self.say(text);
        }
    }

    fn end_leg(&mut self, outcome: TaskOutcome) {
        self.keepers.clear();
        self.shells.end_leg();
        self.ended = Some(outcome);
    }

    /// Marks everything as lost that lived in the task's process.
    pub(crate) fn lose_process(&mut self) {
        self.shells.lose();
    }

    /// Returns the configuration at the start of the task.
    pub(crate) fn first(&self) -> &AgentConfig {
        &self.first.config
    }

    /// Returns the remaining limits of the open leg.
    pub(crate) fn limits_left(&self, now: Timestamp) -> Limits {
        let limits = self.job.config.limits;
        let worked = self.worked.possibly_in_last_process(now);
        let timeout = limits.timeout.map(|timeout| timeout.saturating_sub(worked).max(LEAST_TIME));
        Limits { timeout, ..limits }
    }

    /// Returns notices about interrupted commands and file changes, whose effect is unknown.
    pub(crate) fn unknown_effects(&self) -> Vec<String> {
        let open =
            self.open.iter().flat_map(|open| open.unanswered().map(move |call| (call, open.started.get(&call.id))));
        let cut_off = open.filter_map(|(call, started)| unanswered_calls::unknown_changes(call, started?));
        cut_off.chain(self.shells.notice()).collect()
    }

    /// Returns the children that answer calls without an output.
    pub(crate) fn attached(&self) -> HashMap<CallId, Attached> {
        self.open.as_ref().map(OpenTurn::attached).unwrap_or_default()
    }

    /// Returns those children for which the calls wait.
    pub(crate) fn awaited(&self) -> HashMap<CallId, Attached> {
        self.attached().into_iter().filter(|(_, attached)| !attached.is_released).collect()
    }

    /// Returns the calls that were about to run.
    pub(crate) fn begun(&self) -> HashSet<CallId> {
        self.open.iter().flat_map(|open| open.started.keys().cloned()).collect()
    }

    /// Returns the call that waits for an unfinished child; [`IN_BACKGROUND`] for a background child.
    pub(crate) fn waits_for(&self, child: TaskId) -> Option<CallId> {
        let mut open = self.awaited().into_iter().filter(|_| self.ended.is_none());
        let by_call = open.find(|(_, attached)| attached.child == child && attached.ended_leg.is_none());
        let beside = || self.mail.has_at_work(child).then(|| CallId::from(IN_BACKGROUND));
        by_call.map(|(call, _)| call).or_else(beside)
    }

    /// Returns the newest reply, if its turn is open or it may be the last word.
    pub(crate) fn newest_reply(&self) -> Option<Arc<Reply>> {
        self.open.as_ref().map(|open| Arc::clone(&open.reply)).or_else(|| self.last_word.clone())
    }

    /// True if somebody must say something before the next model call.
    pub(crate) fn needs_word(&self) -> bool {
        self.open.is_none() && self.history.ends_with_a_reply()
    }
}
