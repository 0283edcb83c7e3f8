//! What a task does that has ended its turn: it has had its last word, or waits for those that work beside it.

use std::collections::BTreeSet;
use std::time::Duration;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_protocol::{Fact, QuestionMark, Reply, StopReason};
use tokio::time::Instant;

use crate::conversation::outcome::Ending;
use crate::conversation::replay::Past;
use crate::run::Run;

/// How long the first report is kept for others to come with it, and how long at the most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// After so long a time without a wake-up the next report wakes at once again.
const QUIET: Duration = Duration::from_secs(10);

/// How a task rests between its turns.
#[derive(Default)]
pub(crate) struct Rest {
    /// How often it was woken without much time between, and when it was last.
    wakes: u32,
    woken_at: Option<Instant>,
    /// The questions of others that it was reminded of.
    reminded_of: Vec<QuestionMark>,
}

impl Rest {
    /// Of a task that goes on.
    pub(crate) fn after(past: &Past) -> Self {
        Self { reminded_of: past.reminded_of.clone(), ..Self::default() }
    }

    /// How long reports are collected before it is woken with them, where so much time is left to it. The first one wakes it
    /// at once. If each further one did so alone, it would cost a turn, or several.
    fn pause(&self, left: Option<Duration>) -> Duration {
        if self.woken_at.is_none_or(|woken_at| woken_at.elapsed() > QUIET) {
            return Duration::ZERO;
        }
        let doublings = self.wakes.saturating_sub(1).min(8);
        let pause = (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE);
        left.map_or(pause, |left| pause.min(left / 8))
    }

    fn wake(&mut self) {
        let is_quiet = self.woken_at.is_none_or(|woken_at| woken_at.elapsed() > QUIET);
        self.wakes = if is_quiet { 1 } else { self.wakes + 1 };
        self.woken_at = Some(Instant::now());
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
                self.rest.wake();
                return Ok(None);
            }
        }
    }

    /// Where all that it waits for wait for its answer, all would wait until that is no longer waited for. It is reminded of
    /// each question once. If it ends its turn all the same, it is left to a person to answer. True: it has been reminded.
    async fn remind_of_questions(&mut self) -> Result<bool, JournalError> {
        let questions = if self.services.inbox.has_mail() { Vec::new() } else { self.open_questions() };
        if questions.iter().all(|question| self.rest.reminded_of.contains(question)) {
            return Ok(false);
        }
        let askers: BTreeSet<String> = questions.iter().map(|question| question.task.to_string()).collect();
        let text = format!(
            "You have ended your turn, and all that you wait for wait for your answer: {}. Answer with SendMessage.",
            Vec::from_iter(askers).join(", ")
        );
        self.rest.reminded_of.extend(questions.iter().cloned());
        self.sink.append(Fact::Reminded { text: text.clone(), lost_shells: Vec::new(), questions }).await?;
        self.history.push_reminder(&text);
        Ok(true)
    }

    /// What those that work beside it have asked it, if each of them waits for an answer; else nothing.
    fn open_questions(&self) -> Vec<QuestionMark> {
        let mut questions = Vec::new();
        for task in self.services.inbox.at_work() {
            let asker = self.services.letterhead.present.find(task);
            let calls = asker.map(|asker| asker.inbox.unanswered_by(self.job.task)).unwrap_or_default();
            if calls.is_empty() {
                return Vec::new();
            }
            questions.extend(calls.into_iter().map(|call| QuestionMark { task, call }));
        }
        questions
    }

    /// Waits, without a slot, until there is something to read, or nothing will come; or tells how the leg ends before
    /// that.
    async fn park(&mut self) -> Result<Option<Ending>, JournalError> {
        self.tell_for_whom().await?;
        let inbox = &self.services.inbox;
        let mail = async {
            inbox.something().await;
            let deadline = self.services.speaker.deadline.at();
            let pause = self.rest.pause(deadline.map(|at| at.saturating_duration_since(Instant::now())));
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

    #[tokio::test(start_paused = true)]
    async fn the_first_report_wakes_at_once_and_later_ones_are_collected_for_a_while() {
        let mut rest = Rest::default();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push(rest.pause(None).as_millis());
            rest.wake();
        }
        assert_eq!(pauses, [0, 250, 500, 1000, 2000, 2000]);
        assert_eq!(
            rest.pause(Some(Duration::from_secs(4))).as_millis(),
            500,
            "there is something left to do with them"
        );
        tokio::time::advance(QUIET + Duration::from_millis(1)).await;
        assert_eq!(rest.pause(None), Duration::ZERO);
        rest.wake();
        assert_eq!(rest.pause(None), FIRST_PAUSE);
    }
}
