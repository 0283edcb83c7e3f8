//! Outcomes and failures of every kind, sensible or not.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use sortie_protocol::{Failure, FailureCode, Limit, ModelChoice, Status, TaskOutcome, ToolCount, Usage};

use crate::sample::{FAILURES, REJECTIONS, completed};

pub(crate) fn failure() -> impl Strategy<Value = Failure> {
    let known: Vec<String> = REJECTIONS.into_iter().chain(FAILURES).map(str::to_owned).collect();
    let code = prop_oneof![3 => select(known), 1 => any::<String>()];
    (code, any::<String>(), vec(any::<String>(), 0..3))
        .prop_map(|(code, message, details)| Failure::new(FailureCode::read(&code), message).about(details))
}

fn status() -> impl Strategy<Value = Status> {
    use Status::{Cancelled, Completed, Failed, Partial, Rejected};
    select(vec![Completed, Partial, Failed, Cancelled, Rejected])
}

fn limit() -> impl Strategy<Value = Limit> {
    use Limit::{Context, Cost, Deadline, Output, Stalled, Tokens, Turns};
    select(vec![Turns, Tokens, Cost, Deadline, Stalled, Context, Output])
}

fn tools() -> impl Strategy<Value = Vec<ToolCount>> {
    vec((any::<String>(), any::<u64>()).prop_map(|(tool, count)| ToolCount { tool, count }), 0..3)
}

fn usage() -> impl Strategy<Value = Usage> {
    (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(input_tokens, output_tokens, turns, ms)| {
        Usage { input_tokens, output_tokens, turns, duration_ms: ms, ..Usage::default() }
    })
}

pub(crate) fn outcome() -> impl Strategy<Value = TaskOutcome> {
    let ending = (status(), option::of(limit()), option::of(failure()));
    let agent = prop_oneof![Just("explore".to_owned()), Just("general-purpose".to_owned()), any::<String>()];
    let route = prop_oneof![Just("main".to_owned()), Just("light".to_owned()), any::<String>()];
    let report = (any::<String>(), any::<bool>(), option::of(any::<String>()), vec(any::<String>(), 0..3));
    (ending, agent, route, report, tools(), usage()).prop_map(
        |((status, reason, error), agent, route, (text, truncated, full_text_path, names), tool_summary, usage)| {
            TaskOutcome {
                status,
                reason,
                error,
                agent,
                model: ModelChoice { route, id: "m".to_owned() },
                truncated,
                full_text_path,
                files_changed: names.clone(),
                notices: names,
                tool_summary,
                usage,
                ..completed(&text)
            }
        },
    )
}
