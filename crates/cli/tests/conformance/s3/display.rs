//! Display for a person: a box when a sub-agent is launched, and one with its result.

use expect_test::expect;
use serde_json::json;
use sortie_testkit::{reply, when};

use crate::world::{Run, World, main_agent_calls};

/// The design's own report.
const REPORT: &str = "Found 3 relevant files:\n• src/auth/errors.ts (AuthError class)\n\
    • src/middleware/auth.ts (error handler)\n• src/utils/auth-helpers.ts (validation)";

/// Stderr without the final figures.
fn shown(transcript: &str) -> String {
    let (_, stderr) = transcript.split_once("--- stderr\n").unwrap();
    let (boxes, _figures) = stderr.trim_end().rsplit_once('\n').unwrap();
    boxes.to_owned() + "\n"
}

#[test]
fn s3_46_a_launch_and_a_result_have_a_box_each_with_the_designs_words() {
    let call = json!({"description": "Find auth error handling", "prompt": "CHILD looks", "subagent_type": "Explore"});
    let script = main_agent_calls([reply::call("Task", call)])
        .on(when::turn(0), reply::calls([reply::call("Grep", json!({"pattern": "AuthError"}))]))
        .otherwise(reply::text(REPORT));
    let run = Run::with(&World::new(), "typed", "anthropic", script, &["--show", "boxes"]);
    expect![[r#"
        ┌─ Launching Subagent ──────────────────────────┐
        │ Type: Explore                                 │
        │ Task: Find auth error handling                │
        │ Model: haiku (claude-haiku-4)                 │
        └───────────────────────────────────────────────┘
        [Explore agent working...]
        ┌─ Subagent Result ─────────────────────────────┐
        │ Found 3 relevant files:                       │
        │ • src/auth/errors.ts (AuthError class)        │
        │ • src/middleware/auth.ts (error handler)      │
        │ • src/utils/auth-helpers.ts (validation)      │
        └───────────────────────────────────────────────┘
          1 call · <n>k tokens · <t>s
    "#]]
    .assert_eq(&shown(&run.ended.transcript()));
    let boxes: Vec<usize> = run
        .ended
        .stderr
        .lines()
        .filter(|row| row.starts_with(['┌', '│', '└']))
        .map(|row| row.chars().count())
        .collect();
    assert_eq!(boxes, [49; 11], "as wide as the design draws them: {}", run.ended.stderr);
}

#[test]
fn s3_46_the_box_names_the_model_asked_for_and_the_one_that_serves() {
    for (wire, model, shown) in [
        ("anthropic", json!(null), "haiku (claude-haiku-4)"),
        ("anthropic", json!("opus"), "opus (claude-opus-4)"),
        ("openai-chat", json!("opus"), "opus (test-model)"),
    ] {
        let mut call = json!({"description": "Find it", "prompt": "CHILD looks", "subagent_type": "Explore"});
        if !model.is_null() {
            call["model"] = model;
        }
        let script = main_agent_calls([reply::call("Task", call)]).otherwise(reply::text("Found."));
        let stderr = Run::with(&World::new(), "typed", wire, script, &["--show", "boxes"]).ended.stderr;
        let named: Vec<&str> = stderr.lines().filter_map(|row| row.strip_prefix("│ Model: ")).collect();
        assert_eq!(named.iter().map(|row| row.trim_end_matches([' ', '│'])).collect::<Vec<_>>(), [shown], "{wire}");
    }
}

#[test]
fn s3_47_several_are_announced_with_their_number_and_have_a_box_each() {
    let call = |title: &str| {
        reply::call(
            "Task",
            json!({"description": title, "prompt": format!("{title} code"), "subagent_type": "Explore"}),
        )
    };
    let script = main_agent_calls([call("Auth"), call("Authorization")])
        .on(when::prompt_contains("Authorization code"), reply::text("Found: 3 files"))
        .otherwise(reply::text("Found: 5 files"));
    let run = Run::with(&World::new(), "typed", "anthropic", script, &["--show", "boxes"]);
    let shown = shown(&run.ended.transcript());
    let (announced, boxes) = shown.split_once("┌─ ").unwrap();
    assert_eq!(announced, "[Launching 2 Explore agents in parallel...]\n");
    // They work in parallel; either may end first.
    let mut boxes: Vec<Vec<&str>> = boxes.split("┌─ ").map(|text| text.lines().take(3).collect()).collect();
    boxes.sort_unstable();
    let inner = |line: &str| line.trim_matches(['│', '┐', '─', ' ']).to_owned();
    let boxes: Vec<Vec<String>> = boxes.into_iter().map(|lines| lines.into_iter().map(inner).collect()).collect();
    assert_eq!(
        boxes,
        [
            ["Agent 1: Auth", "Status: Completed", "Found: 5 files"],
            ["Agent 2: Authorization", "Status: Completed", "Found: 3 files"],
        ]
    );
}

#[test]
fn s3_46_s3_47_a_call_without_a_sub_agent_is_not_announced() {
    let call = |kind: &str| {
        let arguments = json!({"description": format!("Ask {kind}"), "prompt": "CHILD looks", "subagent_type": kind});
        reply::call("Task", arguments)
    };
    for (types, announced) in [
        (&["Explore", "wizard", "Explore"][..], "[Launching 2 Explore agents in parallel...]\n"),
        (&["wizard", "Explore"][..], "┌─ Launching Subagent ─"),
    ] {
        let script = main_agent_calls(types.iter().map(|kind| call(kind))).otherwise(reply::text("Found: 3 files"));
        let run = Run::with(&World::new(), "typed", "anthropic", script, &["--show", "boxes"]);
        let shown = shown(&run.ended.transcript());
        assert_eq!(shown.matches("Launching ").count(), 1, "{shown}");
        assert!(shown.contains(announced) && shown.contains("not started: "), "{announced}: {shown}");
    }
}
