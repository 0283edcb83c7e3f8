//! The forms of `--show`, each as a person sees it.

use expect_test::expect;
use sortie_protocol::{Fact, Failure, Limit, Part, Reply, Status, StopReason, ToolCall, ToolOutput, Usage};

use super::tale::{Tale, id, outcome, two_explorers};
use super::{CALM, LOG, ROOT, VERBOSE, WIDE, check, drawn};
use crate::render::blocks::Blocks;
use crate::render::boxes::Boxes;
use crate::render::launches::Launches;
use crate::render::look::Extent;
use crate::render::one_line::OneLine;
use crate::render::progress::Interest;

const COLLAPSED: Blocks = Blocks { expanded: false };
const EXPANDED: Blocks = Blocks { expanded: true };

/// A main agent of `typed` that asks for agents of these types in one reply, who start and are admitted in order.
fn launching(types: &[&str]) -> Tale {
    let calls: Vec<(String, String)> = types
        .iter()
        .enumerate()
        .map(|(index, kind)| {
            let title = format!("Find {index}");
            let arguments = serde_json::json!({"description": title, "prompt": "p", "subagent_type": kind});
            ("Task".to_owned(), arguments.to_string())
        })
        .collect();
    let tale = Tale::of("typed").started('m', "main", "Where?").admitted('m').asked_all('m', &calls);
    types.iter().zip('a'..).enumerate().fold(tale, |tale, (index, (kind, letter))| {
        tale.started(letter, &kind.to_lowercase(), &format!("Find {index}")).admitted(letter)
    })
}

/// An explorer that made so many calls, each with an answer.
fn busy(calls: usize) -> Tale {
    let tale = Tale::of("result").started('m', "main", "x").admitted('m').started('a', "explore", "y").admitted('a');
    (1..=calls).fold(tale, |tale, number| {
        let tool = format!("Tool{number}");
        tale.called('a', &tool, "{}").answered('a', &tool, ToolOutput::done("…", "fine"), false)
    })
}

#[test]
fn s1_33_s1_46_a_block_changes_in_place_until_its_end() {
    check(
        &drawn(&COLLAPSED, CALM, &two_explorers(), WIDE),
        &expect![[r#"
        ● completed · explore agent-aaaaaaaaaaaa
        │ Find auth error handling · main (test-model)
        │ Please: Find auth error handling
        │ Grep "auth" → 12 matches in 3 files
        └ 7 calls · 12.4k tokens · 3.2s
        ◐ active · explore agent-bbbbbbbbbbbb · 0 calls · 2.1s
        │ Find its tests · main (test-model)
        └ Please: Find its tests
    "#]],
    );
    let waiting = Tale::of("result").started('m', "main", "x").started('a', "explore", "Find it");
    check(
        &drawn(&COLLAPSED, CALM, &waiting, WIDE),
        &expect![[r#"
        ○ initializing · explore agent-aaaaaaaaaaaa · 0 calls · 0.0s
        │ Find it · main (test-model)
        └ Please: Find it
    "#]],
    );
}

#[test]
fn s1_46_without_a_terminal_each_status_is_told_in_order() {
    let tale = busy(1).ended('a', outcome('a', "explore", Status::Completed, "Found."));
    check(
        &drawn(&COLLAPSED, CALM, &tale, LOG),
        &expect![[r#"
        ○ initializing · explore agent-aaaaaaaaaaaa
        ◐ active · explore agent-aaaaaaaaaaaa
        ● completed · explore agent-aaaaaaaaaaaa
        │ y · main (test-model)
        │ Please: y
        │ Tool1 → fine
        └ 7 calls · 12.4k tokens · 3.2s
    "#]],
    );
}

#[test]
fn s1_46_a_block_has_two_messages_collapsed_and_ten_expanded() {
    let shown = |look: &Blocks| {
        let text = drawn(look, CALM, &busy(12), WIDE);
        text.lines().filter(|line| line.contains("Tool")).map(|line| line[4..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&COLLAPSED), ["Tool11 → fine", "Tool12 → fine"]);
    let ten: Vec<String> = (3..=12).map(|number| format!("Tool{number} → fine")).collect();
    assert_eq!(shown(&EXPANDED), ten);
    assert!(drawn(&COLLAPSED, CALM, &busy(12), WIDE).contains("│ … 11 earlier messages"), "the brief and ten calls");
}

#[test]
fn s1_46_a_failure_or_a_limit_is_an_error_and_a_stop_is_aborted() {
    let mut limited = outcome('a', "explore", Status::Partial, "so far");
    limited.reason = Some(Limit::Turns);
    let mut failed = outcome('a', "explore", Status::Failed, "");
    failed.error = Some(Failure::new("internal", "it broke"));
    let cancelled = outcome('a', "explore", Status::Cancelled, "");
    for (ending, expected) in [
        (limited, "✗ error: the limit of turns was reached · explore agent-aaaaaaaaaaaa"),
        (failed, "✗ error · explore agent-aaaaaaaaaaaa"),
        (cancelled, "⊘ aborted · explore agent-aaaaaaaaaaaa"),
    ] {
        let text = drawn(&COLLAPSED, CALM, &busy(0).ended('a', ending), WIDE);
        assert_eq!(text.lines().next(), Some(expected), "{text}");
    }
}

#[test]
fn blocks_that_do_not_fit_shrink_to_their_first_lines() {
    let text = drawn(&EXPANDED, CALM, &busy(12), Extent { rows: 6, ..WIDE });
    assert_eq!(text, "◐ active · explore agent-aaaaaaaaaaaa · 12 calls · 0.0s\n");
}

#[test]
fn s2_58_s2_59_a_line_says_that_a_task_is_delegated_and_one_how_it_ended() {
    let mut failed = outcome('b', "explore", Status::Failed, "");
    failed.error = Some(Failure::new("internal", "it broke"));
    let tale = two_explorers().ended('b', failed);
    check(
        &drawn(&OneLine, CALM, &tale, LOG),
        &expect![[r#"
        ○ Delegating task to sub-agent... Find auth error handling · explore agent-aaaaaaaaaaaa · main (test-model)
        ○ Delegating task to sub-agent... Find its tests · explore agent-bbbbbbbbbbbb · main (test-model)
        ● Sub-agent completed: Find auth error handling · explore agent-aaaaaaaaaaaa · 7 calls · 12.4k tokens · 3.2s
        ✗ Sub-agent failed: Find its tests · explore agent-bbbbbbbbbbbb · internal: it broke · 7 calls · 12.4k tokens · 3.2s
    "#]],
    );
}

#[test]
fn s2_60_calls_are_counted_and_listed_only_for_who_asks() {
    let call = "explore agent-aaaaaaaaaaaa: Tool1 → fine";
    assert!(drawn(&OneLine, CALM, &busy(3), WIDE).contains(" · 3 calls · "));
    assert!(!drawn(&OneLine, CALM, &busy(3), WIDE).contains(call));
    assert!(drawn(&OneLine, VERBOSE, &busy(3), WIDE).contains(call));
}

#[test]
fn s3_46_one_agent_has_a_launch_box_a_working_line_and_a_result_box() {
    let tale = launching(&["Explore"]).wait(1_500);
    check(
        &drawn(&Launches, CALM, &tale, WIDE),
        &expect![[r#"
        ┌─ Launching Subagent ───────────────────────────┐
        │ Type: Explore                                  │
        │ Task: Find 0                                   │
        │ Model: main (test-model)                       │
        └────────────────────────────────────────────────┘
          [Explore agent working...] · 1.5s
    "#]],
    );
    let tale = tale.ended('a', outcome('a', "explore", Status::Completed, "Found 1 file:\nsrc/auth.rs"));
    check(
        &drawn(&Launches, CALM, &tale, LOG),
        &expect![[r#"
        ┌─ Launching Subagent ───────────────────────────┐
        │ Type: Explore                                  │
        │ Task: Find 0                                   │
        │ Model: main (test-model)                       │
        └────────────────────────────────────────────────┘
        [Explore agent working...]
        ┌─ Subagent Result ──────────────────────────────┐
        │ Found 1 file:                                  │
        │ src/auth.rs                                    │
        │ 7 calls · 12.4k tokens · 3.2s                  │
        └────────────────────────────────────────────────┘
    "#]],
    );
}

#[test]
fn s3_47_several_at_once_are_announced_and_have_a_box_each_with_status() {
    let mut failed = outcome('b', "explore", Status::Failed, "");
    failed.error = Some(Failure::new("internal", "it broke"));
    let tale = launching(&["Explore", "Explore"]).ended('b', failed);
    let text = drawn(&Launches, CALM, &tale, WIDE);
    assert!(text.ends_with("\n  Agent 1: Find 0 [Explore agent working...] · 0.0s\n"), "{text}");
    let tale = tale.ended('a', outcome('a', "explore", Status::Completed, "5 files"));
    check(
        &drawn(&Launches, CALM, &tale, WIDE),
        &expect![[r#"
        [Launching 2 Explore agents in parallel...]
        ┌─ Agent 2: Find 1 ──────────────────────────────┐
        │ Status: Failed                                 │
        │ internal: it broke                             │
        │ 7 calls · 12.4k tokens · 3.2s                  │
        └────────────────────────────────────────────────┘
        ┌─ Agent 1: Find 0 ──────────────────────────────┐
        │ Status: Completed                              │
        │ Found: 5 files                                 │
        │ 7 calls · 12.4k tokens · 3.2s                  │
        └────────────────────────────────────────────────┘
          [main agent working...] · 0.0s
    "#]],
    );
}

#[test]
fn s3_47_agents_are_numbered_as_their_calls_are_whoever_starts_first() {
    let arguments = r#"{"description": "d", "prompt": "p", "subagent_type": "Explore"}"#.to_owned();
    let reply = Reply {
        parts: ["first", "second"]
            .map(|id| Part::Call(ToolCall { id: id.into(), tool: "Task".to_owned(), arguments: arguments.clone() }))
            .into(),
        stop: StopReason::Calls,
        usage: Usage::default(),
        model: "test-model".to_owned(),
    };
    let child = |call: &str, letter| Fact::ChildStarted { call: call.into(), child: id(letter) };
    let tale = Tale::of("typed")
        .started('m', "main", "x")
        .fact('m', Fact::ModelReplied { turn: 1, reply })
        .started('b', "explore", "of the second")
        .fact('m', child("second", 'b'))
        .started('a', "explore", "of the first")
        .fact('m', child("first", 'a'))
        .ended('b', outcome('b', "explore", Status::Completed, "b"))
        .ended('a', outcome('a', "explore", Status::Completed, "a"));
    let text = drawn(&Launches, CALM, &tale, LOG);
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("┌─ ")?.split(" ──").next()).collect();
    assert_eq!(titles, ["Agent 2: of the second", "Agent 1: of the first"]);
}

#[test]
fn s3_47_agents_of_several_types_are_announced_without_one() {
    let text = drawn(&Launches, CALM, &launching(&["Explore", "Plan", "Plan"]), LOG);
    assert_eq!(text, "[Launching 3 agents in parallel...]\n");
}

#[test]
fn one_agent_after_several_is_one_again() {
    let tale = launching(&["Explore", "Explore"])
        .asked('m', "Task", r#"{"description": "d", "prompt": "p", "subagent_type": "Plan"}"#)
        .started('c', "plan", "Plan it");
    let text = drawn(&Launches, CALM, &tale, LOG);
    assert!(text.contains("┌─ Launching Subagent ─") && text.contains("│ Type: Plan "), "{text}");
}

#[test]
fn a_notice_that_was_told_is_not_told_again_at_the_end() {
    let mut ending = outcome('m', "explore", Status::Completed, "done");
    ending.notices = vec!["`light` is served by main".to_owned(), "late".to_owned()];
    let told = Fact::Noticed { text: "`light` is served by main".to_owned() };
    let tale = Tale::default().started('m', "explore", "x").admitted('m').fact('m', told).ended('m', ending);
    let text = drawn(&Boxes, ROOT, &tale, WIDE);
    assert_eq!((text.matches("served by main").count(), text.matches("note: late").count()), (1, 1), "{text}");
}

#[test]
fn a_main_agents_calls_are_told_where_sub_agents_have_theirs_in_blocks() {
    let interest = Interest { calls_of_sub_agents: false, ..VERBOSE };
    let tale = busy(1).called('m', "Read", r#"{"file_path":"a"}"#).answered(
        'm',
        "Read",
        ToolOutput::done("", "1 line"),
        false,
    );
    let text = drawn(&EXPANDED, interest, &tale, LOG);
    assert!(text.contains("  main: Read a → 1 line") && !text.contains(": Tool1"), "{text}");
}
