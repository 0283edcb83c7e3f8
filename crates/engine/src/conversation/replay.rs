//! A task's log, read back: where it stood when its last writer stopped, so that it can go on from there.
//!
//! Nothing that lived in a process is needed for it. It decides nothing: what becomes of a call that was under way is
//! `settle.rs`'s business. Whatever the log holds, the conversation that comes out is one that a model accepts.

mod deeds;
mod shells;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use sortie_journal::Worked;
use sortie_protocol::{
    AgentConfig, CallId, CallOutput, Event, Fact, Job, Limit, Limits, MailMark, QuestionMark, Reply, ReportMark,
    Status, TaskId, TaskOutcome, Timestamp, ToolCall, Usage,
};
use sortie_sandbox::process::KeeperMark;

use crate::budget::usage_trust::Believed;
use crate::conversation::history::History;
use crate::conversation::unanswered_calls;
use crate::messages::inbox::{Charge, Inbox, Message};
use crate::messages::inbox_order::{Place, TurnCalls};
use crate::messages::questions::{OpenQuestion, Questions};

pub(crate) use self::deeds::Deeds;
use self::shells::PastShells;

/// What is left at least of the time of a task that goes on: enough to say that it is over.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Stands for the call that started a child in the background, where that is long answered.
pub(crate) const IN_BACKGROUND: &str = "background";

/// Where a task stands.
pub(crate) struct Past {
    /// As it was started, with the configuration that holds now.
    pub(crate) job: Job,
    pub(crate) leg: u32,
    pub(crate) history: History,
    /// The turn whose calls have not all been answered.
    pub(crate) open: Option<OpenTurn>,
    /// What was said while calls were open: it joins the conversation behind their outputs.
    pub(crate) said: Vec<String>,
    /// The reply with which the leg was about to end: without calls, or the report that was asked for at a limit.
    pub(crate) last_word: Option<Reply>,
    /// The limit at which the leg's report has been asked for.
    pub(crate) limit: Option<Limit>,
    pub(crate) deeds: Deeds,
    /// Of all its commands since somebody last ended what others had left. Most have ended; one may live on.
    pub(crate) keepers: Vec<KeeperMark>,
    pub(crate) shells: PastShells,
    /// Children that work beside it, or whose reports it has not read, in the order of their places.
    pub(crate) charges: Vec<PastCharge>,
    /// Those that others had started, who failed.
    adopted: HashSet<TaskId>,
    /// Nobody above has a part in the newest leg.
    is_alone: bool,
    /// Messages that it has not read, and how many have come.
    pub(crate) messages: Vec<Message>,
    pub(crate) n_messages: u32,
    /// The last command that came as a message.
    pub(crate) last_command: i64,
    /// Questions that wait for an answer, the oldest first.
    pub(crate) questions: Vec<OpenQuestion>,
    /// Questions of others that it was reminded of.
    pub(crate) reminded_of: Vec<QuestionMark>,
    /// How the newest leg ended, if it has.
    pub(crate) ended: Option<TaskOutcome>,
    /// What it was started with: nothing that goes on has more, and a new leg has its limits again.
    pub(crate) first: AgentConfig,
    pub(crate) worked: Worked,
}

/// A child beside the task, as the log knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PastCharge {
    pub(crate) child: TaskId,
    pub(crate) place: Place,
    /// The leg that has ended unread.
    pub(crate) ended_leg: Option<u32>,
}

impl PastCharge {
    fn is_at_work(&self, child: TaskId) -> bool {
        self.child == child && self.ended_leg.is_none()
    }
}

/// A reply with calls, and how far they have come.
pub(crate) struct OpenTurn {
    pub(crate) reply: Reply,
    pub(crate) outputs: HashMap<CallId, CallOutput>,
    pub(crate) started: HashMap<CallId, Started>,
}

/// A call that was about to run when the log ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) idempotent: bool,
    pub(crate) at: Option<Timestamp>,
    /// The last that it showed.
    pub(crate) progress: Option<String>,
    /// The task that answers it.
    pub(crate) child: Option<TaskId>,
    /// The leg of it that has done so.
    pub(crate) ended_leg: Option<u32>,
    /// The call does not wait for it.
    pub(crate) is_released: bool,
}

/// The child that answers a call which has no output yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attached {
    pub(crate) child: TaskId,
    /// The leg that has answered it, if one has.
    pub(crate) ended_leg: Option<u32>,
    /// The call does not wait for it.
    pub(crate) is_released: bool,
}

impl Past {
    /// Begins with a task's first event; `None` where that is another one.
    pub(crate) fn begin(first: Event) -> Option<Self> {
        let Fact::TaskStarted { mut job } = first.fact else { return None };
        let deeds = Deeds::begin(&job);
        let history = History::begin(&job);
        // Said once.
        job.config.server_tools.note = None;
        Some(Self {
            history,
            first: job.config.clone(),
            leg: first.leg,
            open: None,
            said: Vec::new(),
            last_word: None,
            limit: None,
            deeds,
            keepers: Vec::new(),
            shells: PastShells::default(),
            charges: Vec::new(),
            adopted: HashSet::new(),
            is_alone: job.parent.is_none(),
            job: *job,
            messages: Vec::new(),
            n_messages: 0,
            last_command: 0,
            questions: Vec::new(),
            reminded_of: Vec::new(),
            ended: None,
            worked: Worked::begin(first.time),
        })
    }

    /// Takes in the next event.
    pub(crate) fn take(&mut self, event: Event) {
        self.worked.hear(&event.fact, event.time);
        match event.fact {
            Fact::TaskResumed { prompt, config, notices, alone } => {
                self.is_alone = alone || self.job.parent.is_none();
                self.shells.lose();
                if event.leg > self.leg {
                    (self.leg, self.ended, self.deeds.turns_before) = (event.leg, None, self.deeds.turns);
                    self.begin_leg();
                }
                self.job.config = *config;
                let note = self.job.config.server_tools.note.take();
                for notice in notices {
                    self.deeds.notice(notice);
                }
                if let Some(prompt) = prompt {
                    self.ask_more(prompt);
                }
                self.remind_of_tools(note);
            }
            // Whoever goes on ends what others have left, before it gets to work.
            Fact::TaskAdmitted => self.keepers.clear(),
            Fact::ModelReplied { reply, .. } => self.take_reply(reply),
            Fact::LimitReached { limit, text } => {
                self.say(text);
                self.limit = Some(limit);
            }
            Fact::CallStarted { call, idempotent } => self.start(call.id, |started| {
                (started.idempotent, started.at) = (idempotent, Some(event.time));
            }),
            Fact::CallProgressed { call, text } => self.start(call, |started| started.progress = Some(text)),
            Fact::ChildStarted { call, child, background } => {
                if background {
                    self.charge(child, self.calls().place(&call), None);
                }
                self.start(call, |started| (started.child, started.is_released) = (Some(child), background));
                // A child with a follow-up has been here before, or stays its starter's if it was adopted.
                if !self.deeds.children.contains(&child) && !self.adopted.contains(&child) {
                    self.deeds.children.push(child);
                }
            }
            Fact::ProcessStarted { pid, started, .. } => self.keepers.push(KeeperMark { pid, started }),
            Fact::ChildReleased { call, child } => {
                self.charge(child, self.calls().place(&call), None);
                self.start(call, |started| started.is_released = true);
            }
            // It stays among the children of the one that started it, where its usage is counted.
            Fact::ChildAdopted { child, ended_leg } => {
                self.adopted.insert(child);
                self.charge(child, Place::Adopted, ended_leg);
            }
            Fact::ChildEnded { call, child, child_leg } => {
                match self.charges.iter_mut().find(|charge| charge.is_at_work(child)) {
                    Some(charge) => charge.ended_leg = Some(child_leg),
                    None => self.start(call, |started| started.ended_leg = Some(child_leg)),
                }
            }
            Fact::MessageArrived { number, from, text, command, .. } => {
                // Two that came at once may stand in the log the other way round.
                let at = self.messages.partition_point(|earlier| earlier.number < number);
                self.messages.insert(at, Message { number, from, text });
                self.n_messages = self.n_messages.max(number);
                self.last_command = self.last_command.max(command.unwrap_or_default());
            }
            Fact::MailRead { mail, text } => {
                self.read_mail(&mail);
                self.join(text, |history, text| history.push_mail(&mail, text));
            }
            Fact::AnswerReturned { text } => {
                self.deeds.answers_returned += 1;
                self.say(text);
            }
            Fact::Reminded { text, lost_shells, questions } => {
                if !questions.is_empty() {
                    // It had ended its turn, and is to go on.
                    self.last_word = None;
                }
                self.reminded_of.extend(questions);
                self.shells.tell(&lost_shells);
                self.remind(text);
            }
            Fact::QuestionAsked { call, to, text } => {
                self.questions.push(OpenQuestion { call, to, text, asked_at: self.n_messages });
            }
            Fact::CallFinished { output, refused } => self.take_output(output, refused),
            Fact::ModelCalled { input_tokens, reserved, .. } => self.deeds.call(input_tokens, reserved),
            Fact::ModelLost { usage, .. } => self.deeds.lose(usage),
            Fact::Compacted { compaction, usage } => {
                self.history.shorten(&compaction);
                self.deeds.shorten(usage);
            }
            Fact::ModelRetried { usage, .. } | Fact::Assisted { usage, .. } => self.deeds.pay(usage),
            Fact::Noticed { text } => self.deeds.notice(text),
            Fact::TaskEnded { outcome } => self.end_leg(*outcome),
            Fact::TaskStarted { .. }
            | Fact::ApprovalAsked { .. }
            | Fact::ApprovalAnswered { .. }
            | Fact::OutcomeGiven { .. }
            | Fact::NotePosted { .. }
            | Fact::TaskParked { .. }
            | Fact::TaskQueued { .. }
            | Fact::Unknown => {}
        }
    }

    /// The leg is over.
    fn end_leg(&mut self, outcome: TaskOutcome) {
        self.keepers.clear();
        self.shells.end_leg();
        self.questions.clear();
        // What was at work has been stopped, or is somebody else's now. So are reports that nobody read.
        let adopted = hands_over(self.is_alone, outcome.status);
        self.charges.retain(|charge| charge.ended_leg.is_some() && !adopted);
        // Commands that ended with the leg have changed files that no call tells of.
        self.deeds.files_changed.extend(outcome.files_changed.iter().cloned());
        self.ended = Some(outcome);
    }

    /// The limits of the leg that goes on now: what is left of them.
    pub(crate) fn limits_left(&self, now: Timestamp) -> Limits {
        let limits = self.job.config.limits;
        let worked = self.worked.possibly_in_last_process(now);
        let timeout = limits.timeout.map(|timeout| timeout.saturating_sub(worked).max(LEAST_TIME));
        Limits { timeout, ..limits }
    }

    /// What the outcome should say of commands and changes of files that were cut off: nobody knows what they did.
    pub(crate) fn unknown_effects(&self) -> Vec<String> {
        let open =
            self.open.iter().flat_map(|open| open.unanswered().map(move |call| (call, open.started.get(&call.id))));
        let cut_off = open.filter_map(|(call, started)| unanswered_calls::unknown_changes(call, started?));
        cut_off.chain(self.shells.notice()).collect()
    }

    /// The children that answer calls which have no output yet.
    pub(crate) fn attached(&self) -> HashMap<CallId, Attached> {
        let open = self.open.iter().flat_map(|open| open.started.iter().map(move |started| (open, started)));
        let unanswered = open.filter(|(open, (call, _))| !open.outputs.contains_key(*call));
        unanswered
            .filter_map(|(_, (call, started))| {
                let Started { child, ended_leg, is_released, .. } = *started;
                Some((call.clone(), Attached { child: child?, ended_leg, is_released }))
            })
            .collect()
    }

    /// The calls that were about to run.
    pub(crate) fn begun(&self) -> HashSet<CallId> {
        self.open.iter().flat_map(|open| open.started.keys().cloned()).collect()
    }

    /// What had come and was not read. Reports follow, once they have been read from their own logs.
    pub(crate) fn inbox(&self) -> Inbox {
        let restored = |&PastCharge { child, place, ended_leg }: &PastCharge| {
            // How it ended stands in its own log.
            Charge { child, place, ended_leg, report: None }
        };
        let charges = self.charges.iter().map(restored).collect();
        let messages = (self.messages.clone(), self.n_messages);
        Inbox::restored((charges, self.calls()), messages, Questions::restored(self.questions.clone()))
    }

    /// The calls of the turn that is open.
    fn calls(&self) -> TurnCalls {
        let Some(open) = &self.open else { return TurnCalls::default() };
        let mut calls = TurnCalls::of(self.deeds.turns, &open.reply);
        for answered in open.outputs.keys() {
            calls.has_asked(answered);
        }
        calls
    }

    /// Those of them that their calls wait for.
    pub(crate) fn awaited(&self) -> HashMap<CallId, Attached> {
        self.attached().into_iter().filter(|(_, attached)| !attached.is_released).collect()
    }

    /// The call with which it waits for a child that has not answered it; one in the background is waited for by none in
    /// particular.
    pub(crate) fn waits_for(&self, child: TaskId) -> Option<CallId> {
        let mut open = self.awaited().into_iter().filter(|_| self.ended.is_none());
        let by_call = open.find(|(_, attached)| attached.child == child && attached.ended_leg.is_none());
        let beside = || self.charges.iter().any(|charge| charge.is_at_work(child)).then(|| CallId::from(IN_BACKGROUND));
        by_call.map(|(call, _)| call).or_else(beside)
    }

    /// Forgets how the leg before was about to end, what it had written, and what was to be known of it.
    pub(crate) fn begin_leg(&mut self) {
        (self.last_word, self.limit) = (None, None);
        self.deeds.notices.clear();
        (self.deeds.answers_returned, self.deeds.believed) = (0, Believed::default());
        self.deeds.has_cut_answer = false;
        self.history.begin_leg();
    }

    /// Whoever asks for more has what was answered before, unless mail was waited for: then that belongs to the result.
    pub(crate) fn ask_more(&mut self, prompt: String) {
        if self.last_word.is_some() && self.charges.is_empty() && self.messages.is_empty() {
            self.history.begin_answers();
            self.deeds.has_cut_answer = false;
        }
        self.say(prompt);
    }

    /// Somebody says something: it joins the conversation, behind the outputs of calls that are open. Whoever is spoken to
    /// has not had its last word.
    pub(crate) fn say(&mut self, text: String) {
        self.join(text, History::push_user);
    }

    /// The engine itself says something.
    fn remind(&mut self, text: String) {
        if self.open.is_none() { self.history.push_reminder(&text) } else { self.say(text) }
    }

    /// The model is told what has become of its tools, unless its leg is over with the calls that it made at a limit: nobody
    /// asks it any more then.
    pub(crate) fn remind_of_tools(&mut self, note: Option<String>) {
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
            push(&mut self.history, &text);
        }
    }

    /// Whether somebody must say something before the model can be asked again.
    pub(crate) fn needs_word(&self) -> bool {
        self.open.is_none() && self.history.ends_with_a_reply()
    }

    fn take_reply(&mut self, reply: Reply) {
        // Logs of versions that ended legs without answering their calls.
        self.close_turn();
        self.deeds.hear(&reply);
        self.history.push_reply(&reply);
        let has_calls = reply.calls().next().is_some();
        self.last_word = (!has_calls || self.limit.is_some()).then(|| reply.clone());
        self.open = has_calls.then(|| OpenTurn { reply, outputs: HashMap::new(), started: HashMap::new() });
    }

    fn take_output(&mut self, output: CallOutput, refused: bool) {
        let Some(open) = &mut self.open else { return };
        if let Some(mark) = output.output.shell
            && let Some(call) = open.reply.calls().find(|call| call.id == output.call)
        {
            self.shells.see(mark, call);
        }
        if let Some(call) = open.reply.calls().find(|call| call.id == output.call)
            && !refused
            && !output.output.did_not_run
        {
            self.deeds.usage += Usage { tool_calls: 1, ..Usage::default() };
            *self.deeds.calls.entry(call.tool.clone()).or_default() += 1;
            self.deeds.files_changed.extend(output.output.files_changed.iter().cloned());
        }
        self.questions.retain(|question| question.call != output.call);
        let mail = output.output.mail.clone();
        open.outputs.insert(output.call.clone(), output);
        let is_whole = open.unanswered().next().is_none();
        self.read_mail(&mail);
        if is_whole {
            self.close_turn();
        }
    }

    /// Gives each call of the open turn its output, that of what nobody answered included.
    fn close_turn(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        // The log has them as they finished, the conversation in the order of the calls.
        let calls: Vec<_> = open.reply.calls().cloned().collect();
        let outputs = calls.iter().map(|call| {
            let answered = open.outputs.remove(&call.id);
            answered.unwrap_or_else(|| unanswered_calls::unanswered(call, open.started.get(&call.id)))
        });
        self.history.push_outputs(outputs.collect());
        for text in std::mem::take(&mut self.said) {
            self.say(text);
        }
    }

    /// A child works beside the task, or has ended and is not read.
    fn charge(&mut self, child: TaskId, place: Place, ended_leg: Option<u32>) {
        if ended_leg.is_some() || !self.charges.iter().any(|charge| charge.is_at_work(child)) {
            let at = self.charges.partition_point(|earlier| earlier.place <= place);
            self.charges.insert(at, PastCharge { child, place, ended_leg });
        }
    }

    fn read_mail(&mut self, read: &MailMark) {
        for &ReportMark { child, leg } in &read.reports {
            let told = |charge: &PastCharge| charge.child == child && charge.ended_leg == Some(leg);
            // Of one that somebody ended while nobody ran the task there is no word but this.
            let untold = |charge: &PastCharge| charge.is_at_work(child);
            let at = self.charges.iter().position(told).or_else(|| self.charges.iter().position(untold));
            at.map(|at| self.charges.remove(at));
        }
        self.messages.retain(|message| !read.messages.contains(&message.number));
    }

    fn start(&mut self, call: CallId, note: impl FnOnce(&mut Started)) {
        if let Some(open) = &mut self.open {
            note(open.started.entry(call).or_default());
        }
    }
}

impl OpenTurn {
    /// The calls that have no output yet.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &ToolCall> {
        self.reply.calls().filter(|call| !self.outputs.contains_key(&call.id))
    }
}

/// Whether the children of a task that has ended so go over to the one above it: it cannot use them any more, and nobody
/// has stopped it. Who is alone keeps them for its next leg.
pub(crate) fn hands_over(is_alone: bool, status: Status) -> bool {
    !is_alone && status == Status::Failed
}
