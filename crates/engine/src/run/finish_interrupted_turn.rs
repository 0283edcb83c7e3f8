//! First step of a resumed task: a last word ends the leg at once, and interrupted calls are settled before the task
//! continues.

use sortie_journal::JournalError;

use crate::conversation::outcome::Ending;
use crate::conversation::task_record::TaskRecord;
use crate::run::Run;
use crate::run::final_report::{refuse_all, report_at_limit};
use crate::run::parked::last_word;
use crate::run::read_mail::room_for_reports;
use crate::run::reminders::tell_lost_shells;

/// Finishes an interrupted turn. `None` if the task continues; a new task has nothing to finish.
pub(crate) async fn pick_up(run: &mut Run<'_>) -> Result<Option<Ending>, JournalError> {
    let left = |record: &TaskRecord| (record.limit, record.open.clone(), record.last_word.clone());
    let (limit, open, reply) = run.record.look(left);
    match (limit, open, reply) {
        (Some(limit), Some(open), _) => {
            let is_spoken_to = run.record.look(|record| !record.said.is_empty());
            refuse_all(run, limit, open.unanswered()).await?;
            if !is_spoken_to {
                return Ok(Some(Ending::limited(limit, run.record.last_text())));
            }
        }
        (Some(limit), None, Some(_)) => return Ok(Some(Ending::limited(limit, run.record.last_text()))),
        (Some(limit), None, None) => {
            tell_lost_shells(run).await?;
            return report_at_limit(run, limit).await.map(Some);
        }
        (None, _, Some(reply)) => {
            if let Some(ending) = last_word(run, &reply).await? {
                return Ok(Some(ending));
            }
        }
        (None, Some(open), None) => {
            let answered = open.outputs.values().map(|output| output.output.for_model.len()).sum();
            run.services.gate.report_room.set(room_for_reports(run, answered));
            run.services.gate.settle_all(&open, run.cancel).await?;
        }
        (None, None, None) => {}
    }
    tell_lost_shells(run).await?;
    Ok(None)
}
