//! The loop. There is one, for main agents and sub-agents alike.

pub(crate) mod allowance;
pub(crate) mod compaction;
pub(crate) mod model_call;
pub(crate) mod parked;

use std::sync::Arc;
use std::time::Duration;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::{Terms, ToolChoice};
use sortie_protocol::{CallOutput, Fact, Failure, FailureCode, Job, Limit, Reply, StopReason, TaskOutcome, ToolCall};
use tokio_util::sync::CancellationToken;

use crate::budget::account::{Bid, Lease};
use crate::budget::usage_trust::counted_input;
use crate::conversation::history::{History, with_unique_calls};
use crate::conversation::outcome::{Ending, Tally};
use crate::conversation::replay::Past;
use crate::conversation::request_size::Gauge;
use crate::conversation::schema_answer::value;
use crate::gate::Gate;
use crate::log::writer::Sink;
use crate::messages::inbox::Inbox;
use crate::messages::inbox_order::TurnCalls;
use crate::messages::mail_text::{Delivery, Letterhead};
use crate::run::allowance::Allowance;
use crate::run::compaction::ABRIDGED;
use crate::run::model_call::{Retry, Speaker, Turn, Unanswered};
use crate::run::parked::Rest;

/// One leg of a task, under way.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    pub(crate) history: History,
    /// What stands for it in the request for a report, where all of it cannot be paid for.
    pub(crate) abridged: Option<History>,
    pub(crate) gauge: Gauge,
    pub(crate) tally: Tally,
    pub(crate) rest: Rest,
    pub(crate) services: &'a Services,
    pub(crate) sink: &'a Sink,
    pub(crate) cancel: &'a CancellationToken,
}

/// What a task works with.
pub(crate) struct Services {
    pub(crate) speaker: Speaker,
    pub(crate) gate: Gate,
    pub(crate) allowance: Allowance,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) letterhead: Letterhead,
}

/// Why there is no next reply.
enum NoReply {
    /// It may not be asked for.
    Limit(Limit),
    /// None came, and the leg ends so.
    Over(Ending),
}

/// Asked for at a limit, as the one message that is appended to the conversation then.
const REPORT_NOW: &str = "You have reached a limit: no more tool calls are possible. Write your report now, from what \
                          you have found so far, and say what is missing.";

/// No cap is lower, for want of room in the window.
const LEAST_CAP: u64 = 256;

/// What a reply is given room for where a limit is to be kept and no cap is set.
const USUAL_OUTPUT: u64 = 16_384;

/// How often an answer is sent back in one leg: who has not managed by then will not.
const MOST_RETURNED: u32 = 3;

impl Run<'_> {
    /// Runs the task to its end. `Err` means that the journal is lost; everything else is an outcome.
    ///
    /// A task that goes on does first what its `past` left undone.
    pub(crate) async fn finish(mut self, past: Option<&Past>) -> Result<TaskOutcome, JournalError> {
        let ending = match past {
            Some(past) => self.go_on(past).await?,
            None => self.work().await?,
        };
        if matches!(ending, Ending::Limited { limit: Limit::Output, .. }) {
            self.tally.notice("the answer was cut by the cap on one reply; the route's `max_output` raises it");
        }
        self.services.gate.close(&mut self.tally).await;
        Ok(self.tally.outcome(self.job, ending))
    }

    async fn work(&mut self) -> Result<Ending, JournalError> {
        loop {
            self.name_circle().await?;
            self.read_mail().await?;
            let reply = match self.next_reply(ToolChoice::Auto).await? {
                Ok(reply) => reply,
                Err(NoReply::Limit(limit)) => return self.at_limit(limit).await,
                Err(NoReply::Over(ending)) => return Ok(ending),
            };
            if reply.calls().next().is_none() {
                match self.last_word(&reply).await? {
                    Some(ending) => return Ok(ending),
                    None => continue,
                }
            }
            self.services.inbox.begin_turn(TurnCalls::of(self.tally.turns(), &reply));
            self.services.gate.report_room.set(self.room_for_reports(0));
            let outputs = self.services.gate.run_all(&reply, &mut self.tally, self.sink, self.cancel).await?;
            self.history.push_outputs(outputs);
        }
    }

    /// An answer that was its last word ends the leg now; calls that were under way are settled before it works on.
    async fn go_on(&mut self, past: &Past) -> Result<Ending, JournalError> {
        match past {
            Past { limit: Some(limit), open: Some(open), .. } => {
                let refused = self.refuse_all(*limit, open.unanswered()).await?;
                if past.said.is_empty() {
                    return Ok(Ending::limited(*limit, self.history.last_text()));
                }
                let answered = |call: &ToolCall| open.outputs.get(&call.id).cloned();
                let refused = |call: &ToolCall| refused.iter().find(|output| output.call == call.id).cloned();
                let outputs = open.reply.calls().filter_map(|call| answered(call).or_else(|| refused(call)));
                self.history.push_outputs(outputs.collect());
            }
            Past { limit: Some(limit), last_word: Some(_), .. } => {
                return Ok(Ending::limited(*limit, self.history.last_text()));
            }
            Past { limit: Some(limit), .. } => {
                self.tell_lost_shells(past).await?;
                return self.report_at_limit(*limit).await;
            }
            Past { last_word: Some(reply), .. } => {
                if let Some(ending) = self.last_word(reply).await? {
                    return Ok(ending);
                }
            }
            Past { open: Some(open), .. } => {
                let answered = open.outputs.values().map(|output| output.output.for_model.len()).sum();
                self.services.gate.report_room.set(self.room_for_reports(answered));
                let outputs = self.services.gate.settle_all(open, &mut self.tally, self.sink, self.cancel).await?;
                self.history.push_outputs(outputs);
            }
            Past { open: None, .. } => {}
        }
        past.said.iter().for_each(|text| self.history.push_user(text));
        self.tell_lost_shells(past).await?;
        self.work().await
    }

    /// A model whose commands in the background were lost with their process is told so, once.
    async fn tell_lost_shells(&mut self, past: &Past) -> Result<(), JournalError> {
        if let Some(text) = past.shells.for_model() {
            let lost_shells = past.shells.untold();
            self.sink.append(Fact::Reminded { text: text.clone(), lost_shells, questions: Vec::new() }).await?;
            self.history.push_reminder(&text);
        }
        Ok(())
    }

    /// A model that goes round in a circle is told so.
    async fn name_circle(&mut self) -> Result<(), JournalError> {
        if let Some(text) = self.history.reminder() {
            let fact = Fact::Reminded { text: text.clone(), lost_shells: Vec::new(), questions: Vec::new() };
            self.sink.append(fact).await?;
            self.history.push_reminder(&text);
        }
        Ok(())
    }

    /// What has come joins the conversation, as one message; what is too much of it, at the next turn.
    pub(crate) async fn read_mail(&mut self) -> Result<(), JournalError> {
        let Services { inbox, letterhead, .. } = self.services;
        if !inbox.has_mail() {
            return Ok(());
        }
        let delivery = letterhead.deliver(&inbox.unread(), self.room_for_reports(0)).await;
        let Some(Delivery { mail, text }) = delivery else { return Ok(()) };
        self.sink.append(Fact::MailRead { mail: mail.clone(), text: text.clone() }).await?;
        point("mail.read");
        inbox.mark_read(&mail);
        self.history.push_mail(&mail, &text);
        Ok(())
    }

    /// The one place that decides whether a call is paid for: all that it may use is held back for it.
    async fn reserve(&self, tool_choice: ToolChoice) -> Result<Lease, Limit> {
        let Terms { output_cap, max_output, prices, window } = self.services.speaker.terms;
        let input_tokens = self.gauge.measure(self.reading());
        let usual = output_cap.or(max_output.map(|most| most.min(USUAL_OUTPUT))).unwrap_or(USUAL_OUTPUT);
        let bid = Bid {
            input_tokens,
            max_output: fitting_cap(window, input_tokens).min(usual),
            prices,
            is_report: tool_choice == ToolChoice::None,
        };
        self.services.allowance.reserve((&self.tally, &self.history), bid, self.sink).await
    }

    /// The same when a retry is due; nothing is held back while it is waited for.
    async fn reserve_after(&self, wait: Duration, tool_choice: ToolChoice) -> Result<Lease, Limit> {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        self.reserve(tool_choice).await
    }

    /// The next reply. A conversation that does not fit the model's window
    /// is shortened before it is asked, and once more if its provider says that it does not fit.
    async fn next_reply(&mut self, tool_choice: ToolChoice) -> Result<Result<Reply, NoReply>, JournalError> {
        self.make_room(tool_choice).await?;
        let (mut is_second, mut retry) = (false, Retry::default());
        loop {
            let lease = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    return Ok(Err(NoReply::Over(Ending::Cancelled { text: self.history.last_text() })));
                }
                lease = self.reserve_after(retry.wait, tool_choice) => lease,
            };
            let lease = match lease {
                Ok(lease) => lease,
                Err(limit) => return Ok(Err(NoReply::Limit(limit))),
            };
            let short_of = lease.short_of();
            let ending = match self.ask(tool_choice, retry.made, lease).await? {
                Ok(reply) => {
                    // The cap on the reply may be what a limit had left.
                    self.tally.see_cut(&reply, short_of.unwrap_or(Limit::Output));
                    return Ok(Ok(reply));
                }
                // Perhaps there is enough for another one with a lower cap.
                Err(Unanswered::Overdrawn(due)) => {
                    retry = due;
                    continue;
                }
                Err(Unanswered::Over(ending)) => ending,
            };
            if is_second || !ending.is_too_long() || !self.make_more_room(tool_choice).await? {
                return Ok(Err(NoReply::Over(ending)));
            }
            (is_second, retry) = (true, Retry::default());
        }
    }

    /// What the next request has.
    fn reading(&self) -> &History {
        self.abridged.as_ref().unwrap_or(&self.history)
    }

    /// One model call, recorded: a reply, or why none came.
    async fn ask(
        &mut self,
        tool_choice: ToolChoice,
        retries_made: u32,
        lease: Lease,
    ) -> Result<Result<Reply, Unanswered>, JournalError> {
        if self.abridged.is_some() {
            self.sink.append(Fact::Noticed { text: ABRIDGED.to_owned() }).await?;
            self.tally.notice(ABRIDGED);
        }
        let (number, input_tokens) = (self.tally.turns() + 1, self.gauge.measure(self.reading()));
        let Terms { window, output_cap, .. } = self.services.speaker.terms;
        let fitting = |cap: u64| Some(fitting_cap(window, input_tokens)).filter(|fitting| *fitting < cap);
        let max_output = lease.max_output().or_else(|| output_cap.and_then(fitting));
        let turn = Turn { number, is_beside: false, tool_choice, input_tokens, max_output, retries_made, lease };
        let speaker = &self.services.speaker;
        let reply = match speaker.call(self.job, self.reading(), turn, self.sink, self.cancel).await? {
            Ok(reply) => with_unique_calls(reply, &mut self.tally.call_ids),
            Err(unanswered) => return Ok(Err(unanswered)),
        };
        point("model.replied");
        self.tally.add_reply(&reply);
        let correction = self.gauge.correct(input_tokens, counted_input(&reply));
        self.services.speaker.counting.note(&self.job.config.model, correction);
        self.history.push_reply(&reply);
        self.sink.append(Fact::ModelReplied { turn: number, reply: reply.clone() }).await?;
        point("model.recorded");
        Ok(Ok(reply))
    }

    /// Sends an answer back that does not fit, and says what is wrong with it; whether it did. One that has been so often
    /// enough is left as it is.
    pub(crate) async fn send_back(&mut self, reply: &Reply) -> Result<bool, JournalError> {
        let is_whole = matches!(reply.stop, StopReason::End | StopReason::Calls) && !reply.text().trim().is_empty();
        if !is_whole || self.tally.answers_returned == MOST_RETURNED {
            return Ok(false);
        }
        let Some(Err(unfit)) = value(&self.job.config, &reply.text()) else { return Ok(false) };
        let text = format!(
            "Your answer does not fit the schema: {unfit}. Answer again with one JSON value that fits, and nothing else."
        );
        self.sink.append(Fact::AnswerReturned { text: text.clone() }).await?;
        self.tally.answers_returned += 1;
        self.history.push_user(&text);
        Ok(true)
    }

    /// What a reply without calls means.
    pub(crate) fn final_answer(&mut self, reply: &Reply) -> Ending {
        // What it had answered before mail woke it belongs to the result.
        let text = self.history.answers();
        let is_one_value = self.job.config.output_schema.is_some();
        let cut_by = self.tally.cut_by.filter(|_| !is_one_value || reply.stop == StopReason::Length);
        match reply.stop {
            StopReason::Refusal => {
                let failure =
                    Failure::new(FailureCode::Refusal, "the model's provider withheld the answer; ask in another way");
                Ending::Failed { failure, text }
            }
            // With nothing to add to what it has said, it is not without an answer.
            _ if reply.text().trim().is_empty() && text.trim().is_empty() => {
                let failure =
                    Failure::new(FailureCode::EmptyAnswer, "the model ended its turn without writing anything");
                Ending::Failed { failure, text: self.history.last_text() }
            }
            StopReason::End | StopReason::Calls | StopReason::Length => match cut_by {
                Some(limit) => Ending::limited(limit, text),
                None => Ending::Completed { text },
            },
        }
    }

    /// At a limit that leaves time, one more call asks for the report: the same tools in the request, none allowed.
    async fn at_limit(&mut self, limit: Limit) -> Result<Ending, JournalError> {
        if limit == Limit::Deadline {
            return Ok(Ending::limited(limit, self.history.last_text()));
        }
        if let Some(ending) = self.gather().await? {
            return Ok(ending);
        }
        self.history.push_user(REPORT_NOW);
        self.sink.append(Fact::LimitReached { limit, text: REPORT_NOW.to_owned() }).await?;
        self.report_at_limit(limit).await
    }

    async fn report_at_limit(&mut self, limit: Limit) -> Result<Ending, JournalError> {
        let mut answer = self.next_reply(ToolChoice::None).await?;
        if matches!(answer, Err(NoReply::Limit(_))) && self.abridge().await? {
            answer = self.next_reply(ToolChoice::None).await?;
        }
        let reply = match answer {
            Ok(reply) => reply,
            Err(NoReply::Limit(short)) => {
                self.tally.notice(format!("nothing was left for the report: the {short} limit was reached"));
                return Ok(Ending::limited(limit, self.history.last_text()));
            }
            Err(NoReply::Over(Ending::Cancelled { text })) => return Ok(Ending::Cancelled { text }),
            Err(NoReply::Over(Ending::Failed { failure, text })) => {
                self.tally.notice(format!("the report that was asked for at the limit did not come: {failure}"));
                return Ok(Ending::limited(limit, text));
            }
            Err(NoReply::Over(Ending::OutOfTime)) => {
                self.tally.notice("the time ran out before the report that was asked for at the limit");
                return Ok(Ending::limited(limit, self.history.last_text()));
            }
            Err(NoReply::Over(Ending::Limited { limit: Limit::Context, text })) => {
                self.tally.notice("the conversation did not fit the model's window any more: there is no report");
                return Ok(Ending::limited(limit, text));
            }
            Err(NoReply::Over(Ending::Completed { text } | Ending::Limited { text, .. })) => {
                self.tally.notice("the time ran out before the report that was asked for at the limit");
                return Ok(Ending::limited(limit, text));
            }
        };
        self.refuse_all(limit, reply.calls()).await?;
        Ok(Ending::limited(limit, self.history.last_text()))
    }

    /// Refuses the calls of a task that has no turn left to act in.
    async fn refuse_all(
        &self,
        limit: Limit,
        calls: impl Iterator<Item = &ToolCall>,
    ) -> Result<Vec<CallOutput>, JournalError> {
        let mut outputs = Vec::new();
        for call in calls {
            let refusal = format!("{} was not run: the {limit} limit was reached", call.tool);
            outputs.push(self.services.gate.refuse(call, refusal, self.sink).await?);
        }
        Ok(outputs)
    }
}

/// The cap that fits beside what the model reads: some servers refuse one that the window has no room for.
fn fitting_cap(window: Option<u64>, input_tokens: u64) -> u64 {
    window.map_or(u64::MAX, |window| (window - window / 20).saturating_sub(input_tokens).max(LEAST_CAP))
}
