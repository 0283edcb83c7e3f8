//! The next reply of the model: paid for, recorded, and requested once more if the conversation was too long.

use std::sync::Arc;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::{Terms, ToolChoice};
use sortie_protocol::{Fact, Limit, Reply};

use crate::budget::account::Lease;
use crate::conversation::history::with_unique_calls;
use crate::conversation::task_record::{TaskRecord, is_cut_answer};
use crate::run::Run;
use crate::run::allowance::reserve_after;
use crate::run::compaction::{ABRIDGED, make_more_room, make_room};
use crate::run::context_window::fitting_cap;
use crate::run::model_call::{CallEnd, ModelCall, NoReply, Retry};

/// Result of asking the model.
pub(crate) enum Response {
    Reply(Arc<Reply>),
    None(NoReply),
}

/// Asks for the next reply. A conversation that does not fit the model's window is shortened first, and once more if
/// the provider refuses it.
pub(crate) async fn next_reply(run: &mut Run<'_>, tool_choice: ToolChoice) -> Result<Response, JournalError> {
    make_room(run, tool_choice).await?;
    let (mut is_second, mut retry) = (false, Retry::default());
    loop {
        let lease = tokio::select! {
            biased;
            () = run.cancel.cancelled() => {
                return Ok(Response::None(NoReply::Cancelled { text: run.record.last_text() }));
            }
            lease = reserve_after(retry.wait, run, tool_choice) => lease,
        };
        let lease = match lease {
            Ok(lease) => lease,
            Err(limit) => return Ok(Response::None(NoReply::Limit(limit))),
        };
        let short_of = lease.short_of();
        let no_reply = match ask(run, tool_choice, retry.made, lease).await? {
            CallEnd::Reply(()) => return Ok(Response::Reply(recorded(run, short_of))),
            // There may be enough for another call with a lower cap.
            CallEnd::Overdrawn(due) => {
                retry = due;
                continue;
            }
            CallEnd::NoReply(no_reply) => no_reply,
        };
        if is_second || !no_reply.is_too_long() || !make_more_room(run, tool_choice).await? {
            return Ok(Response::None(no_reply));
        }
        (is_second, retry) = (true, Retry::default());
    }
}

/// Returns the reply that was just recorded. This limit may have lowered its cap.
#[expect(clippy::expect_used, reason = "the record follows the log, which has just taken the reply")]
fn recorded(run: &mut Run<'_>, short_of: Option<Limit>) -> Arc<Reply> {
    let reply = run.record.look(TaskRecord::newest_reply).expect("a reply that was recorded");
    if is_cut_answer(&reply) {
        run.cut_by.get_or_insert(short_of.unwrap_or(Limit::Output));
    }
    reply
}

/// Makes one model call, and records the reply.
async fn ask(
    run: &mut Run<'_>,
    tool_choice: ToolChoice,
    retries_made: u32,
    lease: Lease,
) -> Result<CallEnd<()>, JournalError> {
    if run.abridged.is_some() {
        run.sink.append(Fact::Noticed { text: ABRIDGED.to_owned() }).await?;
    }
    let history = run.reading();
    let input_tokens = run.request_size().measure(&history);
    let number = run.record.look(|record| record.totals.turns) + 1;
    let Terms { window, output_cap, .. } = run.services.model_caller.terms;
    let fitting = |cap: u64| Some(fitting_cap(window, input_tokens)).filter(|fitting| *fitting < cap);
    let max_output = lease.max_output().or_else(|| output_cap.and_then(fitting));
    let turn = ModelCall { number, is_beside: false, tool_choice, input_tokens, max_output, retries_made, lease };
    let model_caller = &run.services.model_caller;
    let reply = match model_caller.call(run.job, &history, turn, run.sink, run.cancel).await? {
        CallEnd::Reply(reply) => run.record.look(|record| with_unique_calls(reply, &record.totals.call_ids)),
        CallEnd::Overdrawn(retry) => return Ok(CallEnd::Overdrawn(retry)),
        CallEnd::NoReply(no_reply) => return Ok(CallEnd::NoReply(no_reply)),
    };
    // Dropped so that the history grows by the reply without being copied.
    drop(history);
    point("model.replied");
    run.sink.append(Fact::ModelReplied { turn: number, reply }).await?;
    model_caller.counting.note(&run.job.config.model, run.record.look(|record| record.totals.correction));
    point("model.recorded");
    Ok(CallEnd::Reply(()))
}
