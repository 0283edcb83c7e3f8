//! Parking: after its turn a task finishes, or parks until its background children report.

use std::time::Duration;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_protocol::{Fact, Reply, StopReason};
use tokio::time::Instant;

use crate::conversation::outcome::Ending;
use crate::run::Run;
use crate::run::final_answer::{final_answer, send_back};
use crate::run::read_mail::read_mail;
use crate::run::reminders::remind_of_questions;

/// First and longest time for which a report waits, so that others can come with it.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// After this long without a wake-up, the next report wakes the task at once.
const QUIET: Duration = Duration::from_secs(10);

/// Wake-ups of a task that is parked between its turns.
#[derive(Default)]
pub(crate) struct WakeUps {
    /// Number of wake-ups in quick succession, and the time of the last.
    wakes: u32,
    woken_at: Option<Instant>,
}

impl WakeUps {
    /// Returns how long to collect reports before a wake-up, given the remaining time. The first report wakes the task
    /// at once. If each further one did so, each would cost at least one turn.
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

/// Handles a reply without calls. It ends the leg, unless there is mail to read or to wait for, or the reply does not
/// fit its schema. A reply that the provider withheld always ends it.
pub(crate) async fn last_word(run: &mut Run<'_>, reply: &Reply) -> Result<Option<Ending>, JournalError> {
    let answer = |run: &Run<'_>| Ok(Some(run.record.look(|record| final_answer(record, reply, run.cut_by))));
    if reply.stop == StopReason::Refusal {
        return answer(run);
    }
    loop {
        let says_something = !reply.parts.is_empty();
        if says_something && run.services.inbox.is_empty() && send_back(run, reply).await? {
            return Ok(None);
        }
        if run.services.inbox.close_if_empty() {
            return answer(run);
        }
        if remind_of_questions(run).await? {
            return Ok(None);
        }
        if let Some(ending) = park(run).await? {
            return Ok(Some(ending));
        }
        if run.services.inbox.has_mail() {
            run.wake_ups.wake();
            return Ok(None);
        }
    }
}

/// Waits, without a slot, until there is mail to read or none can come. Returns an ending if that comes first.
async fn park(run: &Run<'_>) -> Result<Option<Ending>, JournalError> {
    tell_for_whom(run).await?;
    let inbox = &run.services.inbox;
    let mail = async {
        inbox.something().await;
        let deadline = run.services.model_caller.deadline.at();
        let pause = run.wake_ups.pause(deadline.map(|at| at.saturating_duration_since(Instant::now())));
        if !pause.is_zero() {
            tokio::time::timeout(pause, inbox.all_reports_or_a_message()).await.ok();
        }
    };
    let over = run.services.gate.without_slot(mail, run.cancel).await;
    Ok(over.map(|over| over.ending(run.record.last_text())))
}

/// Records the tasks that it waits for, if any.
async fn tell_for_whom(run: &Run<'_>) -> Result<(), JournalError> {
    let waits_for = run.services.inbox.at_work();
    if !waits_for.is_empty() {
        run.sink.append(Fact::TaskParked { waits_for }).await?;
        point("task.parked");
    }
    Ok(())
}

/// Waits for the background children, at a limit that leaves time. The task cannot answer their questions any more, and
/// reads nothing after that.
pub(crate) async fn gather(run: &Run<'_>) -> Result<Option<Ending>, JournalError> {
    let inbox = &run.services.inbox;
    inbox.fall_silent();
    tell_for_whom(run).await?;
    let over = run.services.gate.without_slot(inbox.all_home(), run.cancel).await;
    inbox.shut().await;
    while inbox.has_mail() {
        read_mail(run).await?;
    }
    Ok(over.map(|over| over.ending(run.record.last_text())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_report_wakes_at_once_and_later_ones_are_collected() {
        let mut wake_ups = WakeUps::default();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push(wake_ups.pause(None).as_millis());
            wake_ups.wake();
        }
        assert_eq!(pauses, [0, 250, 500, 1000, 2000, 2000]);
        assert_eq!(
            wake_ups.pause(Some(Duration::from_secs(4))).as_millis(),
            500,
            "there is something left to do with them"
        );
        tokio::time::advance(QUIET + Duration::from_millis(1)).await;
        assert_eq!(wake_ups.pause(None), Duration::ZERO);
        wake_ups.wake();
        assert_eq!(wake_ups.pause(None), FIRST_PAUSE);
    }
}
