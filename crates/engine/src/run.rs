//! The loop. There is one, for main agents and sub-agents alike.

use std::sync::Arc;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::ToolChoice;
use sortie_protocol::{CallOutput, Fact, Failure, Job, Limit, Reply, StopReason, TaskOutcome, ToolCall};
use tokio_util::sync::CancellationToken;

use crate::end::{Ending, Tally};
use crate::gate::Gate;
use crate::history::{History, with_unique_calls};
use crate::inbox::Inbox;
use crate::limits::Allowance;
use crate::mail::{Delivery, Letterhead};
use crate::place::TurnCalls;
use crate::replay::Past;
use crate::sink::Sink;
use crate::turn::Speaker;

/// One leg of a task, under way.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    pub(crate) history: History,
    pub(crate) tally: Tally,
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

/// Asked for at a limit, as the one message that is appended to the conversation then.
const REPORT_NOW: &str = "You have reached a limit: no more tool calls are possible. Write your report now, from what \
                          you have found so far, and say what is missing.";

impl Run<'_> {
    /// Runs the task to its end. `Err` means that the journal is lost; everything else is an outcome.
    ///
    /// A task that goes on does first what its `past` left undone.
    pub(crate) async fn finish(mut self, past: Option<&Past>) -> Result<TaskOutcome, JournalError> {
        let ending = match past {
            Some(past) => self.go_on(past).await?,
            None => self.work().await?,
        };
        self.services.gate.close(&mut self.tally).await;
        Ok(self.tally.outcome(self.job, ending))
    }

    async fn work(&mut self) -> Result<Ending, JournalError> {
        loop {
            self.read_mail().await?;
            if let Err(limit) = self.services.allowance.check(&self.tally) {
                return self.at_limit(limit).await;
            }
            let reply = match self.ask(ToolChoice::Auto).await? {
                Ok(reply) => reply,
                Err(ending) => return Ok(ending),
            };
            if reply.calls().next().is_none() {
                match self.last_word(&reply).await? {
                    Some(ending) => return Ok(ending),
                    None => continue,
                }
            }
            self.services.inbox.begin_turn(TurnCalls::of(self.tally.turns(), &reply));
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
            Past { limit: Some(limit), .. } => return self.report_at_limit(*limit).await,
            Past { last_word: Some(reply), .. } => {
                if let Some(ending) = self.last_word(reply).await? {
                    return Ok(ending);
                }
            }
            Past { open: Some(open), .. } => {
                let outputs = self.services.gate.settle_all(open, &mut self.tally, self.sink, self.cancel).await?;
                self.history.push_outputs(outputs);
            }
            Past { open: None, .. } => {}
        }
        past.said.iter().for_each(|text| self.history.push_user(text));
        self.work().await
    }

    /// What has come joins the conversation, as one message; what is too much of it, at the next turn.
    async fn read_mail(&mut self) -> Result<(), JournalError> {
        let Services { inbox, letterhead, .. } = self.services;
        let Some(Delivery { mail, text }) = letterhead.deliver(&inbox.unread()) else { return Ok(()) };
        self.sink.append(Fact::MailRead { mail: mail.clone(), text: text.clone() }).await?;
        point("mail.read");
        inbox.mark_read(&mail);
        self.history.push_user(&text);
        Ok(())
    }

    /// A reply without calls ends the leg, unless there is mail to read, or to wait for. A reply that is no answer ends it
    /// in any case.
    async fn last_word(&mut self, reply: &Reply) -> Result<Option<Ending>, JournalError> {
        let is_answer = reply.stop != StopReason::Refusal && !reply.parts.is_empty();
        while is_answer && !self.services.inbox.close_if_empty() {
            if let Some(ending) = self.park().await? {
                return Ok(Some(ending));
            }
            if self.services.inbox.has_mail() {
                return Ok(None);
            }
        }
        Ok(Some(self.final_answer(reply)))
    }

    /// Waits, without a slot, until there is something to read, or nothing will come; or tells how the leg ends before
    /// that.
    async fn park(&mut self) -> Result<Option<Ending>, JournalError> {
        let inbox = &self.services.inbox;
        let waits_for = inbox.at_work();
        if !waits_for.is_empty() {
            self.sink.append(Fact::TaskParked { waits_for }).await?;
            point("task.parked");
        }
        let over = self.services.gate.without_slot(inbox.something(), self.cancel).await;
        Ok(over.map(|over| over.ending(self.history.last_text())))
    }

    /// Waits for the children that work beside the task, at a limit that leaves time: what they ask meanwhile it cannot
    /// answer. From there on it reads nothing more.
    async fn gather(&mut self) -> Result<Option<Ending>, JournalError> {
        let inbox = &self.services.inbox;
        inbox.fall_silent();
        let waits_for = inbox.at_work();
        if !waits_for.is_empty() {
            self.sink.append(Fact::TaskParked { waits_for }).await?;
            point("task.parked");
        }
        let over = self.services.gate.without_slot(inbox.all_home(), self.cancel).await;
        inbox.shut().await;
        while inbox.has_mail() {
            self.read_mail().await?;
        }
        Ok(over.map(|over| over.ending(self.history.last_text())))
    }

    /// One model call, recorded: a reply, or the ending because none came.
    async fn ask(&mut self, tool_choice: ToolChoice) -> Result<Result<Reply, Ending>, JournalError> {
        let turn = self.tally.turns() + 1;
        let speaker = &self.services.speaker;
        let reply = match speaker.call(self.job, &self.history, (turn, tool_choice), self.sink, self.cancel).await? {
            Ok(reply) => with_unique_calls(reply, &mut self.tally.call_ids),
            Err(ending) => return Ok(Err(ending)),
        };
        point("model.replied");
        self.tally.add_reply(reply.usage);
        self.history.push_reply(&reply);
        self.sink.append(Fact::ModelReplied { turn, reply: reply.clone() }).await?;
        point("model.recorded");
        Ok(Ok(reply))
    }

    /// What a reply without calls means.
    fn final_answer(&mut self, reply: &Reply) -> Ending {
        // What it had answered before mail woke it belongs to the result.
        let text = self.history.answers();
        match reply.stop {
            StopReason::Refusal => {
                let failure = Failure::new("refusal", "the model's provider withheld the answer; ask in another way");
                Ending::Failed { failure, text }
            }
            _ if reply.text().trim().is_empty() => {
                let failure = Failure::new("empty_answer", "the model ended its turn without writing anything");
                Ending::Failed { failure, text: self.history.last_text() }
            }
            StopReason::Length => {
                self.tally.notice("the answer was cut by the cap on one reply; the route's `max_output` raises it");
                Ending::Limited { limit: Limit::Output, text }
            }
            StopReason::End | StopReason::Calls => Ending::Completed { text },
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
        let reply = match self.ask(ToolChoice::None).await? {
            Ok(reply) => reply,
            Err(Ending::Cancelled { text }) => return Ok(Ending::Cancelled { text }),
            Err(Ending::Failed { failure, text }) => {
                self.tally.notice(format!("the report that was asked for at the limit did not come: {failure}"));
                return Ok(Ending::limited(limit, text));
            }
            Err(Ending::OutOfTime) => {
                self.tally.notice("the time ran out before the report that was asked for at the limit");
                return Ok(Ending::limited(limit, self.history.last_text()));
            }
            Err(Ending::Completed { text } | Ending::Limited { text, .. }) => {
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
