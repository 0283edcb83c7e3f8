//! Equal answers in all contracts, in one file for reading.

use expect_test::expect_file;
use serde_json::Value;
use sortie_contract::{CONTRACTS, Contract, contract};
use sortie_protocol::{Failure, FailureCode, Limit, ModelChoice, TaskOutcome, Usage};

use crate::sample::{
    LIMITS, REJECTIONS, again, call, cancelled, completed, failed, failure, limited, timeout, truncated,
};

type Case = (String, Result<TaskOutcome, Failure>);

fn cases() -> Vec<Case> {
    let report = "Two files use it:\nsrc/a.rs:3\nsrc/b.rs:9";
    let named = |name: &str, outcome: TaskOutcome| (name.to_owned(), Ok(outcome));
    let fallback = TaskOutcome {
        model: ModelChoice { route: "main".to_owned(), id: "large-1".to_owned() },
        notices: vec!["`light` is served by large-1 (route main): no route `light` is set".to_owned()],
        ..completed(report)
    };
    let changed = TaskOutcome { files_changed: vec!["src/a.rs".to_owned()], ..completed(report) };
    let mut cases = vec![
        named("completed", completed(report)),
        named("completed, with files changed", changed),
        named("completed, the report was cut", truncated("Two files use it:\n[… the report was cut here]")),
        named("completed, main served for light", fallback),
        named("completed, given again", again(report)),
    ];
    let limits = LIMITS.into_iter().chain([Limit::Deadline, Limit::Stalled]);
    cases.extend(limits.map(|limit| named(&format!("partial, {limit}"), limited(limit, "So far: src/a.rs"))));
    let refused = Failure::new(FailureCode::ModelAuth, "the provider refused the key of route light (401)");
    let nothing_spent = Usage { duration_ms: 40, ..Usage::default() };
    let never_began = TaskOutcome { tool_summary: Vec::new(), usage: nothing_spent, ..failed(refused, "") };
    cases.extend([
        named("failed, no text in time", failed(timeout(), "")),
        named("failed, the key was refused", never_began),
        named("failed, nothing was written", failed(failure("empty_answer"), "")),
        named("failed, with some text", failed(failure("model_server_error"), "So far: src/a.rs")),
        named("cancelled", cancelled("So far: src/a.rs")),
    ]);
    cases.extend(REJECTIONS.map(|code| (format!("rejected, {code}"), Err(failure(code)))));
    cases
}

/// One call in each contract's format.
fn arguments(contract: &str) -> &'static str {
    match contract {
        "delegate" => r#"{"task":"Where is it used?"}"#,
        "typed" => r#"{"description":"Find uses","prompt":"Where is it used?","subagent_type":"Explore"}"#,
        _ => r#"{"description":"Find uses","prompt":"Where is it used?","subagent_type":"explore"}"#,
    }
}

fn render(contract: &dyn Contract, answer: Result<&TaskOutcome, &Failure>) -> String {
    let call = call(arguments(contract.name()));
    let value = contract.encode(&call, answer);
    let mut text = format!("{}{}\n", contract.name(), if contract.is_error(answer) { " (error)" } else { "" });
    for (key, field) in value.as_object().expect("an object") {
        text += &format!("    {key:<15} {field}\n");
    }
    let told = contract.encode_for_model(&call, answer, "mark");
    if serde_json::from_str::<Value>(&told).ok().as_ref() != Some(&value) {
        text += "    to the model:\n";
        told.lines().for_each(|line| text += &format!("        {line}\n"));
    }
    text
}

#[test]
fn c_07_one_outcome_reads_side_by_side_in_all_contracts() {
    let mut text = String::new();
    for (name, answer) in cases() {
        text += &format!("## {name}\n\n");
        for contract in CONTRACTS.iter().filter_map(|name| contract(name)) {
            text += &render(contract.as_ref(), answer.as_ref());
        }
        text += "\n";
    }
    expect_file!["golden/side_by_side.txt"].assert_eq(&text);
}
