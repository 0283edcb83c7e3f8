//! The forms of `--show`, each as a person sees it.

use expect_test::expect;
use sortie_protocol::{Fact, Failure, FailureCode, Limit, Status, ToolOutput};

use super::tale::{Tale, outcome, two_explorers};
use super::{CALM, LOG, ROOT, VERBOSE, WIDE, check, drawn};
use crate::environment::Confinement;
use crate::render::choose_display::shell_mark;
use crate::render::progress::Interest;
use crate::render::progress_style::blocks::Blocks;
use crate::render::progress_style::boxes::Boxes;
use crate::render::progress_style::launches::Launches;
use crate::render::progress_style::one_line::OneLine;
use crate::render::progress_style::plain::Plain;
use crate::render::progress_style::{Extent, ProgressStyle};

const COLLAPSED: Blocks = Blocks { expanded: false };
const EXPANDED: Blocks = Blocks { expanded: true };

const CALLS: [&str; 3] = ["first", "second", "third"];

/// Main agent of `typed` that asks for agents of these types in one reply.
fn asking(types: &[&str]) -> Tale {
    let arguments =
        |kind: &str| serde_json::json!({"description": "Find it", "prompt": "p", "subagent_type": kind}).to_string();
    let calls: Vec<_> = CALLS.into_iter().zip(types).map(|(call, kind)| (call, arguments(kind))).collect();
    Tale::of("typed").started('m', "main", "Where?").admitted('m').delegated('m', &calls)
}

/// Main agent of [`asking`], whose agents all start and are admitted in order.
fn launching(types: &[&str]) -> Tale {
    let all = types.iter().zip('a'..).zip(CALLS).enumerate();
    all.fold(asking(types), |tale, (index, ((kind, letter), call))| {
        tale.started_by(call, letter, &kind.to_lowercase(), &format!("Find {index}")).admitted(letter)
    })
}

/// Titles in the upper edges of the boxes.
fn titles(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("┌─ ")?.split(" ──").next()).collect()
}

/// Explorer that made this many calls, each with an answer.
fn busy(calls: usize) -> Tale {
    let tale = Tale::of("result").started('m', "main", "x").admitted('m').started('a', "explore", "y").admitted('a');
    (1..=calls).fold(tale, |tale, number| {
        let tool = format!("Tool{number}");
        tale.called('a', &tool, "{}").answered('a', &tool, ToolOutput::done("…", "fine"))
    })
}

#[test]
fn a_box_in_a_narrow_terminal_still_names_its_agent() {
    let tale = Tale::default().started('m', "main", "x").admitted('m').started('a', "general-purpose", "Find it");
    let tale = tale.admitted('a').ended('a', outcome('a', "general-purpose", Status::Completed, "Found."));
    let interest = Interest { shell_mark: Some(shell_mark(Confinement::None)), ..CALM };
    check(
        &drawn(&Boxes, interest, &tale, Extent { columns: 38, ..WIDE }),
        &expect![[r#"
        ┌─ general-purpose ─────────────────┐
        │ agent-aaaaaaaaaaaa [unconfined]   │
        │ Task: Find it                     │
        │ Model: main (test-model)          │
        └───────────────────────────────────┘
        ┌─ completed · general-purpose ─────┐
        │ agent-aaaaaaaaaaaa [unconfined]   │
        │ Found.                            │
        │ 7 calls · 12.4k tokens · 3.2s     │
        └───────────────────────────────────┘
          main [unconfined] working… · 0.0s
    "#]],
    );
    check(
        &drawn(&Boxes, CALM, &tale, Extent { columns: 24, ..WIDE }),
        &expect![[r#"
        ┌─ general-purpose ───┐
        │ agent-aaaaaaaaaaaa  │
        │ Task: Find it       │
        │ Model: main (test-… │
        └─────────────────────┘
        ┌─ completed ─────────┐
        │ general-purpose     │
        │ agent-aaaaaaaaaaaa  │
        │ Found.              │
        │ 7 calls · 12.4k to… │
        └─────────────────────┘
          main working… · 0.0s
    "#]],
    );
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
fn s1_46_without_a_terminal_each_status_is_printed_in_order() {
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
    failed.error = Some(Failure::new(FailureCode::Internal, "it broke"));
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
fn s2_58_s2_59_one_line_shows_the_delegation_and_one_its_ending() {
    let mut failed = outcome('b', "explore", Status::Failed, "");
    failed.error = Some(Failure::new(FailureCode::Internal, "it broke"));
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
fn s2_60_calls_are_counted_and_listed_only_on_request() {
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
            ┌─ Launching Subagent ──────────────────────────┐
            │ Type: Explore                                 │
            │ Task: Find 0                                  │
            │ Model: main (test-model)                      │
            └───────────────────────────────────────────────┘
              [Explore agent working...] · 1.5s
        "#]],
    );
    let tale = tale.ended('a', outcome('a', "explore", Status::Completed, "Found 1 file:\nsrc/auth.rs"));
    check(
        &drawn(&Launches, CALM, &tale, LOG),
        &expect![[r#"
            ┌─ Launching Subagent ──────────────────────────┐
            │ Type: Explore                                 │
            │ Task: Find 0                                  │
            │ Model: main (test-model)                      │
            └───────────────────────────────────────────────┘
            [Explore agent working...]
            ┌─ Subagent Result ─────────────────────────────┐
            │ Found 1 file:                                 │
            │ src/auth.rs                                   │
            └───────────────────────────────────────────────┘
              7 calls · 12.4k tokens · 3.2s
        "#]],
    );
}

#[test]
fn s3_47_several_at_once_are_announced_and_have_a_box_each_with_status() {
    let mut failed = outcome('b', "explore", Status::Failed, "");
    failed.error = Some(Failure::new(FailureCode::Internal, "it broke"));
    let tale = launching(&["Explore", "Explore"]).ended('b', failed);
    let text = drawn(&Launches, CALM, &tale, WIDE);
    assert!(text.ends_with("\n  Agent 1: Find 0 [Explore agent working...] · 0.0s\n"), "{text}");
    let tale = tale.ended('a', outcome('a', "explore", Status::Completed, "5 files"));
    check(
        &drawn(&Launches, CALM, &tale, WIDE),
        &expect![[r#"
            [Launching 2 Explore agents in parallel...]
            ┌─ Agent 2: Find 1 ─────────────────────────────┐
            │ Status: Error                                 │
            │ internal: it broke                            │
            └───────────────────────────────────────────────┘
              7 calls · 12.4k tokens · 3.2s
            ┌─ Agent 1: Find 0 ─────────────────────────────┐
            │ Status: Completed                             │
            │ Found: 5 files                                │
            └───────────────────────────────────────────────┘
              7 calls · 12.4k tokens · 3.2s
              [main agent working...] · 0.0s
        "#]],
    );
}

#[test]
fn s3_47_agents_are_numbered_by_their_calls_not_by_their_start() {
    let tale = asking(&["Explore", "Explore"])
        .started_by("second", 'b', "explore", "of the second")
        .started_by("first", 'a', "explore", "of the first")
        .ended('b', outcome('b', "explore", Status::Completed, "b"))
        .ended('a', outcome('a', "explore", Status::Completed, "a"));
    let text = drawn(&Launches, CALM, &tale, LOG);
    assert_eq!(titles(&text), ["Agent 2: of the second", "Agent 1: of the first"]);
}

fn not_started() -> ToolOutput {
    ToolOutput {
        failed: true,
        did_not_run: true,
        essence: Some("cde0b18f8e9e1294".to_owned()),
        ..ToolOutput::done("{}", "not started: there is no `wizard`")
    }
}

#[test]
fn s3_47_calls_without_a_sub_agent_are_neither_announced_nor_numbered() {
    let tale = asking(&["Explore", "wizard", "Explore"])
        .started_by("first", 'a', "explore", "Find one")
        .admitted('a')
        .answered('m', "second", not_started())
        .started_by("third", 'b', "explore", "Find another")
        .ended('b', outcome('b', "explore", Status::Completed, "b"));
    let text = drawn(&Launches, CALM, &tale, LOG);
    assert!(text.starts_with("[Launching 2 Explore agents in parallel...]\n"), "{text}");
    assert!(text.contains("not started: there is no `wizard`"), "{text}");
    assert_eq!(titles(&text), ["Agent 2: Find another"]);
}

#[test]
fn s3_46_the_only_successful_start_of_several_calls_is_shown_alone() {
    let tale = asking(&["Explore", "wizard"])
        .started_by("first", 'a', "explore", "Find it")
        .admitted('a')
        .refused('m', "second", ToolOutput::failure("refused"))
        .ended('a', outcome('a', "explore", Status::Completed, "Found."));
    let text = drawn(&Launches, CALM, &tale, LOG);
    assert!(!text.contains("in parallel"), "{text}");
    assert_eq!(titles(&text), ["Launching Subagent", "Subagent Result"]);
}

#[test]
fn s3_47_an_agent_that_ends_before_the_last_one_starts_is_counted_too() {
    let tale = asking(&["Explore", "Plan"])
        .started_by("first", 'a', "explore", "Find it")
        .ended('a', outcome('a', "explore", Status::Completed, "a"));
    assert_eq!(drawn(&Launches, CALM, &tale, LOG), "", "nothing is known yet of the other one");
    let text = drawn(&Launches, CALM, &tale.started_by("second", 'b', "plan", "Plan it"), LOG);
    assert!(text.starts_with("[Launching 2 agents in parallel...]\n"), "{text}");
    assert_eq!(titles(&text), ["Agent 1: Find it"]);
}

#[test]
fn s3_46_held_back_lines_appear_before_a_question_or_the_end() {
    let tale = || asking(&["Explore", "Plan"]).started_by("first", 'a', "explore", "Find it");
    let asked = Fact::ApprovalAsked { call: "second".into(), rule: "Task(plan)".to_owned() };
    let cancelled = outcome('m', "main", Status::Cancelled, "");
    for tale in [tale().fact('m', asked), tale().ended('m', cancelled)] {
        let text = drawn(&Launches, CALM, &tale, LOG);
        assert_eq!(titles(&text), ["Launching Subagent"], "{text}");
    }
}

#[test]
fn s3_13_s3_47_an_incomplete_task_is_an_error_with_a_reason() {
    let mut limited = outcome('a', "explore", Status::Partial, "so far");
    limited.reason = Some(Limit::Turns);
    let cancelled = outcome('b', "explore", Status::Cancelled, "");
    let tale = launching(&["Explore", "Explore"]).ended('a', limited).ended('b', cancelled);
    let text = drawn(&Launches, CALM, &tale, LOG);
    for status in ["│ Status: Error (the limit of turns was reached) ", "│ Status: Error (cancelled) "] {
        assert!(text.contains(status), "{status}: {text}");
    }
}

#[test]
fn s3_47_agents_of_several_types_are_announced_without_a_type() {
    let text = drawn(&Launches, CALM, &launching(&["Explore", "Plan", "Plan"]), LOG);
    assert_eq!(text, "[Launching 3 agents in parallel...]\n");
}

#[test]
fn a_single_agent_after_several_is_shown_alone() {
    let tale = launching(&["Explore", "Explore"])
        .asked('m', "Task", r#"{"description": "d", "prompt": "p", "subagent_type": "Plan"}"#)
        .started('c', "plan", "Plan it");
    let text = drawn(&Launches, CALM, &tale, LOG);
    assert!(text.contains("┌─ Launching Subagent ─") && text.contains("│ Type: Plan "), "{text}");
}

#[test]
fn a_notice_shown_during_the_run_is_not_repeated_at_the_end() {
    let mut ending = outcome('m', "explore", Status::Completed, "done");
    ending.notices = vec!["`light` is served by main".to_owned(), "late".to_owned()];
    let told = Fact::Noticed { text: "`light` is served by main".to_owned() };
    let tale = Tale::default().started('m', "explore", "x").admitted('m').fact('m', told).ended('m', ending);
    let text = drawn(&Boxes, ROOT, &tale, WIDE);
    assert_eq!((text.matches("served by main").count(), text.matches("note: late").count()), (1, 1), "{text}");
}

#[test]
fn a_main_agents_calls_are_shown_where_sub_agents_have_blocks() {
    let interest = Interest { calls_of_sub_agents: false, ..VERBOSE };
    let tale =
        busy(1).called('m', "Read", r#"{"file_path":"a"}"#).answered('m', "Read", ToolOutput::done("", "1 line"));
    let text = drawn(&EXPANDED, interest, &tale, LOG);
    assert!(text.contains("  main: Read a → 1 line") && !text.contains(": Tool1"), "{text}");
}

#[test]
fn a_calls_progress_is_shown_behind_its_words() {
    let told = Fact::CallProgressed { call: "Bash".into(), text: "running 12\u{1b}[2J tests".to_owned() };
    let tale = Tale::default()
        .started('m', "main", "x")
        .admitted('m')
        .called('m', "Bash", r#"{"command":"cargo test","description":"Be nice"}"#)
        .fact('m', told);
    let text = drawn(&Boxes, CALM, &tale, WIDE);
    assert!(text.contains("Bash \"cargo test\": running 12␛[2J tests"), "{text}");
}

#[test]
fn agents_that_run_commands_without_walls_are_marked_in_every_line() {
    let interest = Interest { shell_mark: Some(shell_mark(Confinement::None)), ..ROOT };
    let ending = outcome('m', "main", Status::Completed, "done");
    let tale = Tale::default().started('m', "main", "x").admitted('m');
    for look in [&Boxes as &dyn ProgressStyle, &Plain, &OneLine] {
        assert!(drawn(look, interest, &tale, WIDE).contains("[unconfined]"), "while it works");
    }
    let text = drawn(&Plain, interest, &tale.ended('m', ending), LOG);
    assert!(text.lines().all(|line| line.contains("[unconfined]")), "{text}");
}
