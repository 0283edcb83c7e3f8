//! The answer to a Task call, in the words of its contract.

use rmcp::model::{CallToolResult, ContentBlock};
use sortie_contract::{Call, Contract};
use sortie_protocol::{Failure, TaskOutcome};
use sortie_tools::{AnswerParts, task_answer};

/// Builds the answer to a call, for the host's model and for programs.
pub(super) fn answer(
    contract: &dyn Contract,
    arguments: &str,
    parts: &AnswerParts<'_>,
    started: Result<TaskOutcome, Failure>,
) -> CallToolResult {
    let call = Call { arguments, cwd: parts.cwd, spare_id: parts.spare_id };
    let structured = contract.encode(&call, started.as_ref());
    let output = task_answer(contract, arguments, parts, started);
    let mut result = CallToolResult::success(vec![ContentBlock::text(output.for_model)]);
    result.structured_content = Some(structured);
    result.is_error = Some(output.failed);
    result
}
