//! The notice about a task none of whose calls succeeded.

use sortie_protocol::{FailedCalls, Failure, FailureCode, ModelChoice, Status, TaskId, TaskOutcome, ToolCount};

fn counts(count: u64) -> Vec<FailedCalls> {
    let some = |tool: &str, count| FailedCalls { tool: tool.to_owned(), count, reason: "x".to_owned() };
    match count {
        0 => Vec::new(),
        1 => vec![some("Read", 1)],
        more => vec![some("Read", more - 1), some("Bash", 1)],
    }
}

/// Notice of a completed task with this many calls that ran, failed or were refused.
fn notice(ran: u64, failed: u64, refused: u64) -> Option<String> {
    notice_of(Status::Completed, ran, failed, refused)
}

fn notice_of(status: Status, ran: u64, failed: u64, refused: u64) -> Option<String> {
    let model = ModelChoice { route: "main".to_owned(), id: "m".to_owned() };
    let failure = Failure::new(FailureCode::Internal, "x");
    let outcome = TaskOutcome::failed(TaskId::from_random([0; 12]), "main".to_owned(), model, failure);
    let tool_summary = vec![ToolCount { tool: "Read".to_owned(), count: ran }];
    TaskOutcome { status, tool_summary, failed: counts(failed), refused: counts(refused), ..outcome }.fruitless()
}

#[test]
fn only_a_task_whose_calls_all_failed_or_were_refused_is_fruitless() {
    for (ran, failed, refused) in [(0, 0, 0), (1, 0, 0), (6, 5, 0), (1, 0, 3), (2, 1, 9)] {
        assert_eq!(notice(ran, failed, refused), None, "{ran} {failed} {refused}");
    }
    assert_eq!(notice_of(Status::Partial, 1, 1, 0), None, "it does not stand as completed");
    for (ran, failed, refused, expected) in [
        (1, 1, 0, "its only tool call failed"),
        (0, 0, 1, "its only tool call was refused"),
        (6, 6, 0, "none of its 6 tool calls succeeded: all failed"),
        (0, 0, 2, "none of its 2 tool calls succeeded: all were refused"),
        (3, 3, 2, "none of its 5 tool calls succeeded: 3 failed, 2 refused"),
    ] {
        assert_eq!(notice(ran, failed, refused).as_deref(), Some(expected));
    }
}
