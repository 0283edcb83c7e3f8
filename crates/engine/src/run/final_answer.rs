//! The meaning of a reply without calls: the answer of the leg, or one that is sent back because it does not fit its
//! schema.

use sortie_journal::JournalError;
use sortie_protocol::{Fact, Failure, FailureCode, Limit, Reply, StopReason};

use crate::conversation::outcome::Ending;
use crate::conversation::schema_answer::value;
use crate::conversation::task_record::TaskRecord;
use crate::run::Run;

/// How often an answer is sent back in one leg: who has not managed by then will not.
const MOST_RETURNED: u32 = 3;

/// The ending that a reply without calls means, where this limit has cut an answer of the leg.
pub(crate) fn final_answer(record: &TaskRecord, reply: &Reply, cut_by: Option<Limit>) -> Ending {
    // What it had answered before mail woke it belongs to the result.
    let text = record.history.answers();
    let is_one_value = record.job.config.output_schema.is_some();
    let cut_by = cut_by.filter(|_| !is_one_value || reply.stop == StopReason::Length);
    match reply.stop {
        StopReason::Refusal => {
            let failure =
                Failure::new(FailureCode::Refusal, "the model's provider withheld the answer; ask in another way");
            Ending::Failed { failure, text }
        }
        // With nothing to add to what it has said, it is not without an answer.
        _ if reply.text().trim().is_empty() && text.trim().is_empty() => {
            let failure = Failure::new(FailureCode::EmptyAnswer, "the model ended its turn without writing anything");
            Ending::Failed { failure, text: record.history.last_text() }
        }
        StopReason::End | StopReason::Calls | StopReason::Length => match cut_by {
            Some(limit) => Ending::limited(limit, text),
            None => Ending::Completed { text },
        },
    }
}

/// Sends an answer back that does not fit, and says what is wrong with it; tells whether it did. An answer that has
/// been sent back often enough is left as it is.
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
