//! What a task does that has ended its turn: it has had its last word, or waits for those that work beside it.

use std::time::Duration;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_protocol::{Fact, Reply, StopReason, TaskId};

use crate::end::Ending;
use crate::run::Run;

/// How long the first report is kept for others to come with it, and how long at the most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What a task has done since its last call: nothing but to end its turns.
#[derive(Default)]
pub(crate) struct Rest {
    /// How often it was woken.
    wakes: u32,
    /// Whether it was told that all wait for it.
    is_reminded: bool,
}

impl Rest {
    /// How long reports are collected before it is woken with them. The first one wakes it at once; where that came to
    /// nothing, each further one alone would cost a turn for nothing, too.
    fn pause(&self) -> Duration {
        let doublings = self.wakes.checked_sub(1).map(|doublings| doublings.min(8));
        doublings.map_or(Duration::ZERO, |doublings| (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE))
    }
}

impl Run<'_> {
    /// A reply without calls ends the leg, unless there is mail to read, or to wait for, or it does not fit what was asked
    /// for. One that the provider withheld ends it in any case.
    pub(crate) async fn last_word(&mut self, reply: &Reply) -> Result<Option<Ending>, JournalError> {
        if reply.stop == StopReason::Refusal {
            return Ok(Some(self.final_answer(reply)));
        }
        loop {
            let says_something = !reply.parts.is_empty();
            if says_something && self.services.inbox.is_empty() && self.send_back(reply).await? {
                return Ok(None);
            }
            if self.services.inbox.close_if_empty() {
                return Ok(Some(self.final_answer(reply)));
            }
            if self.remind_of_questions().await? {
                return Ok(None);
            }
            if let Some(ending) = self.park().await? {
                return Ok(Some(ending));
            }
            if self.services.inbox.has_mail() {
                self.rest = Rest { wakes: self.rest.wakes + 1, is_reminded: false };
                return Ok(None);
            }
        }
    }

    /// Where all that it waits for wait for its answer, all would wait until that is no longer waited for. It is reminded of
    /// them, once. If it ends its turn all the same, it is left to a person to answer. True: it has been reminded.
    async fn remind_of_questions(&mut self) -> Result<bool, JournalError> {
        let may_remind = !self.rest.is_reminded && !self.services.inbox.has_mail();
        let Some(askers) = self.askers().filter(|_| may_remind) else { return Ok(false) };
        self.rest.is_reminded = true;
        let names: Vec<String> = askers.iter().map(ToString::to_string).collect();
        let text = format!(
            "You have ended your turn, and all that you wait for wait for your answer: {}. Answer with SendMessage.",
            names.join(", ")
        );
        self.sink.append(Fact::Reminded { text: text.clone(), lost_shells: Vec::new() }).await?;
        self.history.push_reminder(&text);
        Ok(true)
    }

    /// Those that work beside it, if each of them waits for its answer.
    fn askers(&self) -> Option<Vec<TaskId>> {
        let at_work = self.services.inbox.at_work();
        let asks = |task: &TaskId| {
            let asker = self.services.letterhead.present.find(*task);
            asker.is_some_and(|asker| asker.inbox.awaits_answer_of(self.job.task))
        };
        (!at_work.is_empty() && at_work.iter().all(asks)).then_some(at_work)
    }

    /// Waits, without a slot, until there is something to read, or nothing will come; or tells how the leg ends before
    /// that.
    async fn park(&mut self) -> Result<Option<Ending>, JournalError> {
        self.tell_for_whom().await?;
        let (inbox, pause) = (&self.services.inbox, self.rest.pause());
        let mail = async {
            inbox.something().await;
            if !pause.is_zero() {
                tokio::time::timeout(pause, inbox.all_reports_or_a_message()).await.ok();
            }
        };
        let over = self.services.gate.without_slot(mail, self.cancel).await;
        Ok(over.map(|over| over.ending(self.history.last_text())))
    }

    /// For whom it waits, if for anybody.
    async fn tell_for_whom(&self) -> Result<(), JournalError> {
        let waits_for = self.services.inbox.at_work();
        if !waits_for.is_empty() {
            self.sink.append(Fact::TaskParked { waits_for }).await?;
            point("task.parked");
        }
        Ok(())
    }

    /// Waits for the children that work beside the task, at a limit that leaves time: what they ask meanwhile it cannot
    /// answer. From there on it reads nothing more.
    pub(crate) async fn gather(&mut self) -> Result<Option<Ending>, JournalError> {
        let inbox = &self.services.inbox;
        inbox.fall_silent();
        self.tell_for_whom().await?;
        let over = self.services.gate.without_slot(inbox.all_home(), self.cancel).await;
        inbox.shut().await;
        while inbox.has_mail() {
            self.read_mail().await?;
        }
        Ok(over.map(|over| over.ending(self.history.last_text())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_report_wakes_at_once_and_later_ones_are_collected_for_a_while() {
        let pauses = [0, 1, 2, 3, 4, 5, 99].map(|wakes| Rest { wakes, is_reminded: false }.pause().as_millis());
        assert_eq!(pauses, [0, 250, 500, 1000, 2000, 2000, 2000]);
    }
}
