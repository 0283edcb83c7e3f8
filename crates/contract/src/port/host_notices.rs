//! Notices for a host's model: what its answer must say in any dialect.

use serde_json::Value;
use sortie_protocol::{FailedCalls, TaskId, TaskOutcome};

/// The call that returns a task's report, by the name of the tool for that.
pub(crate) fn output_of(task: TaskId, tool: &str) -> String {
    format!("{tool} with task_id {task}")
}

/// Notices about an outcome for which a dialect's object has no place. `pager` is the tool that returns reports.
pub(crate) fn notices_beside(object: &Value, outcome: &TaskOutcome, pager: Option<&str>) -> Vec<String> {
    let own = |key: &str| object.get(key).or_else(|| object.pointer(&format!("/data/{key}")));
    let is_new = |notice: &&String| own("notice").and_then(Value::as_str) != Some(notice.as_str());
    let mut notices: Vec<String> = outcome.notices.iter().filter(is_new).cloned().collect();
    for (key, calls) in [("failed", &outcome.failed), ("refused", &outcome.refused)] {
        if own(key).is_none() {
            notices.extend(call_lines(calls).iter().map(|line| format!("{key}: {line}")));
        }
    }
    notices.extend(pager.and_then(|pager| rest(outcome, pager)));
    notices
}

/// The place of the rest of a report that was cut. The file is for people.
pub(crate) fn rest(outcome: &TaskOutcome, pager: &str) -> Option<String> {
    let offset = kept_of(outcome)?.chars().count();
    Some(format!("the report was cut; {} and offset {offset} has the rest", output_of(outcome.task_id, pager)))
}

/// The beginning of a report that was cut, without the mark behind it.
pub fn kept_of(outcome: &TaskOutcome) -> Option<&str> {
    let truncation = outcome.truncation.filter(|_| outcome.truncated)?;
    outcome.text.get(..truncation.kept_bytes)
}

/// Calls that failed or were refused, one line for each tool.
pub(crate) fn call_lines(calls: &[FailedCalls]) -> Vec<String> {
    let line = |FailedCalls { tool, count, reason }: &FailedCalls| match count {
        1 => format!("{tool}: {reason}"),
        count => format!("{tool}, {count} times: {reason}"),
    };
    calls.iter().map(line).collect()
}
