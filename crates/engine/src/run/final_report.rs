//! The report of a task that has reached a limit: one more call asks for it, with no tools allowed.

use sortie_journal::JournalError;
use sortie_llm::{ErrorKind, ToolChoice};
use sortie_protocol::{Fact, Limit, ToolCall};

use crate::conversation::outcome::Ending;
use crate::run::Run;
use crate::run::compaction::abridge;
use crate::run::model_call::NoReply;
use crate::run::next_reply::{Response, next_reply};
use crate::run::parked::gather;

/// Request for the report at a limit: the one message added to the conversation then.
const REPORT_NOW: &str = "You have reached a limit: no more tool calls are possible. Write your report now, from what \
                          you have found so far, and say what is missing.";

/// Notice if the remaining time was too short.
const TOO_LATE: &str = "the time ran out before the report requested at the limit";

/// Ends the leg at a limit. If time is left, it asks for the report: with the same tools in the request, but none
/// allowed.
pub(crate) async fn at_limit(run: &mut Run<'_>, limit: Limit) -> Result<Ending, JournalError> {
    if limit == Limit::Deadline {
        return Ok(Ending::limited(limit, run.record.last_text()));
    }
    if let Some(ending) = gather(run).await? {
        return Ok(ending);
    }
    run.sink.append(Fact::LimitReached { limit, text: REPORT_NOW.to_owned() }).await?;
    report_at_limit(run, limit).await
}

/// Asks the model for the requested report.
pub(crate) async fn report_at_limit(run: &mut Run<'_>, limit: Limit) -> Result<Ending, JournalError> {
    let mut response = next_reply(run, ToolChoice::None).await?;
    if matches!(response, Response::None(NoReply::Limit(_))) && abridge(run).await? {
        response = next_reply(run, ToolChoice::None).await?;
    }
    let (text, notice) = match response {
        Response::Reply(reply) => {
            refuse_all(run, limit, reply.calls()).await?;
            return Ok(Ending::limited(limit, run.record.last_text()));
        }
        Response::None(NoReply::Cancelled { text }) => return Ok(Ending::Cancelled { text }),
        Response::None(NoReply::Limit(short)) => {
            (run.record.last_text(), format!("nothing was left for the report: the {short} limit was reached"))
        }
        Response::None(NoReply::OutOfTime { text }) => (text, TOO_LATE.to_owned()),
        Response::None(NoReply::Failed { kind, message, text }) => {
            let has_text = !text.trim().is_empty();
            let notice = match kind {
                ErrorKind::Stalled if has_text => TOO_LATE.to_owned(),
                ErrorKind::ContextLength if has_text => {
                    "there is no report: the conversation no longer fits the model's window".to_owned()
                }
                kind => {
                    let failure = Ending::failure_of_model(kind, message);
                    format!("the report requested at the limit failed: {failure}")
                }
            };
            (text, notice)
        }
    };
    run.unrecorded.notice(notice);
    Ok(Ending::limited(limit, text))
}

/// Refuses the calls of a task that has no turn left.
pub(crate) async fn refuse_all(
    run: &Run<'_>,
    limit: Limit,
    calls: impl Iterator<Item = &ToolCall>,
) -> Result<(), JournalError> {
    for call in calls {
        let refusal = format!("{} was not run: the {limit} limit was reached", call.tool);
        run.services.gate.refuse(call, refusal).await?;
    }
    Ok(())
}
