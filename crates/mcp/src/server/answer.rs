//! The answer to a Task call, in the words of its contract.
//!
//! Some hosts give their model the text alone, some the object alone. Each form has everything that a model needs; the
//! full outcome is for programs.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::Value;
use sortie_contract::{Call, Contract, HostAnswer, kept_of, outcome_object};
use sortie_protocol::{Failure, Launched, TaskOutcome};
use sortie_tools::AnswerParts;

/// Place of the full outcome, which no host shows to its model.
const OUTCOME: &str = "sortie/outcome";

/// Builds the answer to a call, for the host's model and for programs.
pub(super) fn answer(
    contract: &dyn Contract,
    arguments: &str,
    parts: &AnswerParts<'_>,
    started: Result<TaskOutcome, Failure>,
) -> CallToolResult {
    let call = Call { arguments, cwd: parts.cwd, spare_id: parts.spare_id };
    let answer = contract.encode_for_host(&call, started.as_ref(), &parts.mark);
    let rest = started.as_ref().ok().filter(|_| !contract.defaults().companions.allow_background()).and_then(rest);
    let mut result = result(answer.noting(rest));
    result.is_error = Some(contract.is_error(started.as_ref()));
    result.meta = started.ok().map(|outcome| full(&outcome));
    result
}

/// Builds the answer to a call whose task works in the background.
pub(super) fn launched(contract: &dyn Contract, launched: &Launched) -> CallToolResult {
    let mut result = result(contract.encode_launched_for_host(launched));
    result.meta = Some(meta(serde_json::to_value(launched).unwrap_or_default()));
    result
}

fn result(HostAnswer { text, object, notices }: HostAnswer) -> CallToolResult {
    let notices = notices.into_iter().map(|notice| ContentBlock::text(format!("notice: {notice}")));
    let mut result = CallToolResult::success([ContentBlock::text(text)].into_iter().chain(notices).collect());
    result.structured_content = Some(object);
    result
}

/// The place of a whole report that was cut, in contracts without a tool that returns it.
fn rest(outcome: &TaskOutcome) -> Option<String> {
    kept_of(outcome)?;
    Some(format!("the report was cut; the resource sortie://tasks/{}/report has all of it", outcome.task_id))
}

/// The whole outcome but the report, which the answer has.
fn full(outcome: &TaskOutcome) -> MetaObject {
    let mut object = outcome_object(outcome);
    if let Some(fields) = object.as_object_mut() {
        fields.shift_remove("text");
        fields.shift_remove("structured");
    }
    meta(object)
}

fn meta(outcome: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([(OUTCOME.to_owned(), outcome)]))
}
