//! Display for a person: a block for each sub-agent.

use expect_test::expect;
use serde_json::json;
use sortie_testkit::{Script, reply, when};

use super::{REVIEWER, task, with_agents};
use crate::world::{Run, main_agent_calls};

/// Reviewer with six turns, of which five are a remark with a call.
fn talkative() -> Script {
    let remark = |turn: u32| {
        let read = json!({"file_path": "src/main.rs", "limit": 100 + turn});
        reply::text(format!("Remark {turn}.")).calls([reply::call("Read", read)])
    };
    let script = main_agent_calls([task(REVIEWER, "CHILD works")]);
    (0..5).fold(script, |script, turn| script.on(when::turn(turn), remark(turn))).otherwise(reply::text("One bug."))
}

/// Lines about sub-agents, without the figures that differ between runs.
fn shown(run: &Run) -> String {
    let transcript = run.ended.transcript();
    let (_, stderr) = transcript.split_once("--- stderr\n").unwrap();
    let (blocks, _figures) = stderr.trim_end().rsplit_once('\n').unwrap();
    blocks.to_owned() + "\n"
}

#[test]
fn k18_s1_33_s1_46_a_block_shows_name_status_and_the_last_two_messages() {
    let run = Run::of(&with_agents(), "result", "anthropic", talkative());
    expect![[r#"
        ○ initializing · code-reviewer agent-1___________
        ◐ active · code-reviewer agent-1___________
        ● completed · code-reviewer agent-1___________
        │ Review the code · main (test-model)
        │ … 10 earlier messages
        │ Read src/main.rs → src/main.rs: lines 1-3 of 3
        │ One bug.
        └ 5 calls · <n>k tokens · <t>s
    "#]]
    .assert_eq(&shown(&run));
}

#[test]
fn s1_46_expanded_a_block_has_ten_messages() {
    let run = Run::with(&with_agents(), "result", "anthropic", talkative(), &["--verbose"]);
    expect![[r#"
        ○ initializing · code-reviewer agent-1___________
        ◐ active · code-reviewer agent-1___________
        ● completed · code-reviewer agent-1___________
        │ Review the code · main (test-model)
        │ … 2 earlier messages
        │ Read src/main.rs → src/main.rs: lines 1-3 of 3
        │ Remark 1.
        │ Read src/main.rs → src/main.rs: lines 1-3 of 3
        │ Remark 2.
        │ Read src/main.rs → src/main.rs: lines 1-3 of 3
        │ Remark 3.
        │ Read src/main.rs → src/main.rs: lines 1-3 of 3
        │ Remark 4.
        │ Read src/main.rs → src/main.rs: lines 1-3 of 3
        │ One bug.
        └ 5 calls · <n>k tokens · <t>s
          main: Task "Review the code" → agent-1___________ completed
    "#]]
    .assert_eq(&shown(&run));
}

#[test]
fn s1_33_s1_46_a_block_of_a_failed_task_ends_in_error() {
    let script = main_agent_calls([task(REVIEWER, "CHILD works")]).otherwise(reply::status(400));
    let run = Run::of(&with_agents(), "result", "anthropic", script);
    expect![[r#"
        ○ initializing · code-reviewer agent-1___________
        ◐ active · code-reviewer agent-1___________
        ✗ error · code-reviewer agent-1___________
        │ Review the code · main (test-model)
        │ CHILD works
        │ model_bad_request: http://127.0.0.1:<port>/v1/messages answered 400: Invalid request
        └ 0 calls · 0 tokens · <t>s
        note: its only tool call failed
    "#]]
    .assert_eq(&shown(&run));
}
