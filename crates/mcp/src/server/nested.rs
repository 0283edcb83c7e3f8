//! Calls of another Sortie, which works for a task of its own. They run within the limits that the call carries, and
//! the answer says what was used.
//!
//! A loan only narrows. Nothing outlives the call, so there are no background tasks and no companions.

use std::sync::Arc;

use rmcp::model::{CallToolResult, MetaObject};
use serde_json::{Map, Value};
use sortie_protocol::{Failure, FailureCode, Loan, Repayment, TaskOutcome, TaskRequest};

use crate::server::office::Office;
use crate::transport::{LOAN, REPAYMENT};

/// Reads the loan of a call.
pub(super) fn loan_in(meta: &Map<String, Value>) -> Option<Loan> {
    serde_json::from_value(meta.get(LOAN)?.clone()).ok()
}

/// Returns the request within the caller's limits.
pub(super) fn within(request: TaskRequest, loan: Option<Loan>) -> Result<TaskRequest, Failure> {
    let Some(Loan { levels, limits }) = loan else {
        let message = "this Sortie works for the agents of another one, and the call does not carry their limits";
        return Err(Failure::new(FailureCode::NotAllowed, message));
    };
    if request.background || request.resume.is_some() {
        let message = "this Sortie works for the agents of another one: nothing outlives a call, so there is no \
                       background work and nothing to resume";
        return Err(Failure::new(FailureCode::BackgroundOff, message));
    }
    Ok(TaskRequest { limits: request.limits.tighter(limits), levels: Some(levels), ..request })
}

/// Adds what a call has used to its answer.
pub(super) async fn repaid(
    office: &Office,
    mut answer: CallToolResult,
    outcome: Option<&TaskOutcome>,
) -> CallToolResult {
    let repayment = match outcome {
        None => Repayment::default(),
        Some(TaskOutcome { task_id, usage, .. }) => {
            let (journal, task) = (Arc::clone(&office.journal), *task_id);
            let tree = tokio::task::spawn_blocking(move || journal.tree(task).map_or(1, |tree| tree.len())).await;
            Repayment { usage: *usage, started: tree.map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX)) }
        }
    };
    let repayment = serde_json::to_value(repayment).unwrap_or_default();
    answer.meta.get_or_insert_with(|| MetaObject(Map::new())).insert(REPAYMENT.to_owned(), repayment);
    answer
}
