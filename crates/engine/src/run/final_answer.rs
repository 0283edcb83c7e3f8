//! A reply without calls: the answer of the leg, or one that is sent back because it does not fit its schema.

use sortie_journal::JournalError;
use sortie_protocol::{Fact, Failure, FailureCode, Limit, Reply, StopReason};

use crate::conversation::outcome::Ending;
use crate::conversation::schema_answer::value;
use crate::conversation::task_record::TaskRecord;
use crate::run::Run;

/// Most answers that are sent back in one leg: a model that has failed so often will not succeed.
const MOST_RETURNED: u32 = 3;

/// Returns the ending for a reply without calls; `cut_by` is a limit that has cut an answer of the leg.
pub(crate) fn final_answer(record: &TaskRecord, reply: &Reply, cut_by: Option<Limit>) -> Ending {
    // Answers before mail woke the task belong to the result.
    let text = record.history.answers();
    let is_one_value = record.job.config.output_schema.is_some();
    let cut_by = cut_by.filter(|_| !is_one_value || reply.stop == StopReason::Length);
    match reply.stop {
        StopReason::Refusal => {
            let failure =
                Failure::new(FailureCode::Refusal, "the model's provider withheld the answer; ask in another way");
            Ending::Failed { failure, text }
        }
        // An empty reply after earlier answers just adds nothing.
        _ if reply.text().trim().is_empty() && text.trim().is_empty() => {
            let failure = Failure::new(FailureCode::EmptyAnswer, "the model ended its turn without writing anything");
            Ending::Failed { failure, text: record.history.last_text() }
        }
        StopReason::End | StopReason::Calls | StopReason::Length | StopReason::NoAnswer => match cut_by {
            Some(limit) => Ending::limited(limit, text),
            None if reply.stop == StopReason::NoAnswer => Ending::limited(Limit::NoAnswer, text),
            None => Ending::Completed { text },
        },
    }
}

/// Sends an unfitting answer back with the reason. Returns false if it fits, or if too many were sent back already.
pub(crate) async fn send_back(run: &Run<'_>, reply: &Reply) -> Result<bool, JournalError> {
    let is_whole = matches!(reply.stop, StopReason::End | StopReason::Calls) && !reply.text().trim().is_empty();
    if !is_whole || run.record.look(|record| record.totals.answers_returned) == MOST_RETURNED {
        return Ok(false);
    }
    let Some(Err(unfit)) = value(&run.job.config, &reply.text()) else { return Ok(false) };
    let text = format!(
        "Your answer does not fit the schema: {unfit}. Answer again with one JSON value that fits, and nothing else."
    );
    run.sink.append(Fact::AnswerReturned { text }).await?;
    Ok(true)
}
