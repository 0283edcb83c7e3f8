//! The loop of a task, and everything that it does between two turns.
//!
//! There is one loop, for main agents and sub-agents alike: check the limits, ask the model, run its calls, repeat.

pub(crate) mod allowance;
pub(crate) mod compaction;
pub(crate) mod context_window;
pub(crate) mod final_answer;
pub(crate) mod final_report;
pub(crate) mod finish_interrupted_turn;
pub(crate) mod model_call;
pub(crate) mod next_reply;
pub(crate) mod parked;
pub(crate) mod read_mail;
pub(crate) mod reminders;

use std::sync::Arc;

use sortie_journal::JournalError;
use sortie_llm::ToolChoice;
use sortie_protocol::{Job, Limit, TaskOutcome};
use tokio_util::sync::CancellationToken;

use crate::conversation::history::History;
use crate::conversation::live_record::LiveRecord;
use crate::conversation::outcome::{Ending, Unrecorded};
use crate::conversation::request_size::RequestSize;
use crate::gate::Gate;
use crate::log::writer::FactWriter;
use crate::messages::inbox::Inbox;
use crate::messages::mail_text::MailWriter;
use crate::run::allowance::Allowance;
use crate::run::final_report::at_limit;
use crate::run::finish_interrupted_turn::pick_up;
use crate::run::model_call::{ModelCaller, NoReply};
use crate::run::next_reply::{Response, next_reply};
use crate::run::parked::{WakeUps, last_word};
use crate::run::read_mail::{read_mail, room_for_reports};
use crate::run::reminders::remind_of_loop;

/// One leg of a task in progress. Its state is in the record; the rest here is not recorded.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    pub(crate) record: &'a LiveRecord,
    pub(crate) unrecorded: Unrecorded,
    /// The conversation in the request for a report, if the task cannot pay for all of it.
    pub(crate) abridged: Option<Arc<History>>,
    /// The limit that cut the first incomplete answer of this leg.
    pub(crate) cut_by: Option<Limit>,
    pub(crate) request_size: RequestSize,
    pub(crate) wake_ups: WakeUps,
    pub(crate) services: &'a Services,
    pub(crate) sink: &'a FactWriter,
    pub(crate) cancel: &'a CancellationToken,
}

/// Services of a task's loop.
pub(crate) struct Services {
    pub(crate) model_caller: ModelCaller,
    pub(crate) gate: Gate,
    pub(crate) allowance: Allowance,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) mail_writer: MailWriter,
}

impl Run<'_> {
    /// Runs the task to its end. `Err` means that the journal is lost; everything else is an outcome.
    ///
    /// A resumed task first finishes its interrupted turn.
    pub(crate) async fn finish(mut self) -> Result<TaskOutcome, JournalError> {
        let ending = match pick_up(&mut self).await? {
            Some(ending) => ending,
            None => self.work().await?,
        };
        if matches!(ending, Ending::Limited { limit: Limit::Output, .. }) {
            self.unrecorded.notice("the answer was cut by the cap on one reply; the route's `max_output` raises it");
        }
        self.services.gate.close(&mut self.unrecorded).await;
        Ok(self.record.look(|record| ending.outcome(record, self.unrecorded)))
    }

    async fn work(&mut self) -> Result<Ending, JournalError> {
        loop {
            remind_of_loop(self).await?;
            read_mail(self).await?;
            let reply = match next_reply(self, ToolChoice::Auto).await? {
                Response::Reply(reply) => reply,
                Response::None(NoReply::Limit(limit)) => return at_limit(self, limit).await,
                Response::None(no_reply) => return Ok(no_reply.ending()),
            };
            if reply.calls().next().is_none() {
                match last_word(self, &reply).await? {
                    Some(ending) => return Ok(ending),
                    None => continue,
                }
            }
            self.services.gate.report_room.set(room_for_reports(self, 0));
            self.services.gate.run_all(&reply, self.cancel).await?;
        }
    }

    /// Returns the conversation of the next request.
    pub(crate) fn reading(&self) -> Arc<History> {
        self.abridged.clone().unwrap_or_else(|| self.record.history())
    }

    /// Returns the size of its requests, corrected by the provider's last count.
    pub(crate) fn request_size(&self) -> RequestSize {
        self.request_size.corrected(self.record.look(|record| record.totals.correction))
    }
}
