//! Calls without success, as each form of `--show` marks and counts them.

use expect_test::expect;
use sortie_protocol::{FailedCalls, Status, TaskOutcome, ToolOutput, Usage};

use super::tale::{Tale, outcome};
use super::{CALM, LOG, WIDE, check, drawn};
use crate::render::progress_style::ProgressStyle;
use crate::render::progress_style::blocks::Blocks;
use crate::render::progress_style::boxes::Boxes;
use crate::render::progress_style::launches::Launches;
use crate::render::progress_style::one_line::OneLine;
use crate::render::progress_style::plain::Plain;

/// Explorer whose reads all fail, and whose write is refused.
fn failing() -> Tale {
    let read = |tale: Tale, tool: &str| {
        let tale = tale.called('a', tool, r#"{"file_path":"src/a.rs"}"#);
        tale.answered('a', tool, ToolOutput::failure("src/a.rs does not exist"))
    };
    let tale = Tale::default().started('m', "main", "x").admitted('m').started('a', "explore", "Find it").admitted('a');
    read(read(tale, "Read"), "Grep")
}

/// Its outcome: the calls of the journal, and a refused one.
fn fruitless() -> TaskOutcome {
    let outcome = outcome('a', "explore", Status::Completed, "I found nothing.");
    let usage = Usage { tool_calls: 2, failed_calls: 2, ..outcome.usage };
    let refused = vec![FailedCalls { tool: "Write".to_owned(), count: 1, reason: "no".to_owned() }];
    let notices = vec!["none of its 3 tool calls succeeded: 2 failed, 1 refused".to_owned()];
    TaskOutcome { usage, refused, notices, ..outcome }
}

#[test]
fn a_live_line_marks_the_last_call_if_it_failed_and_counts_failures() {
    let line = |tale: &Tale| drawn(&Boxes, CALM, tale, WIDE).lines().last().unwrap_or_default().to_owned();
    let failed = failing();
    assert_eq!(line(&failed), "  explore agent-aaaaaaaaaaaa working… ✗ Grep src/a… · 2 calls (2 failed) · 0.0s");
    let refused = failed.asked('a', "Write", r#"{"file_path":"x"}"#).refused('a', "Write", ToolOutput::failure("no"));
    assert_eq!(line(&refused), "  explore agent-aaaaaaaaaaaa working… ✗ Write x · 2 calls (2 failed) · 0.0s");
    let done = refused.called('a', "LS", "{}").answered('a', "LS", ToolOutput::done("…", "2 entries"));
    assert_eq!(line(&done), "  explore agent-aaaaaaaaaaaa working… LS · 3 calls (2 failed) · 0.0s");
    check(
        &drawn(&Blocks { expanded: false }, CALM, &failing(), WIDE),
        &expect![[r#"
            ◐ active · explore agent-aaaaaaaaaaaa · 2 calls (2 failed) · 0.0s
            │ Find it · main (test-model)
            │ … 1 earlier message
            │ ✗ Read src/a.rs failed: src/a.rs does not exist
            └ ✗ Grep src/a.rs failed: src/a.rs does not exist
        "#]],
    );
}

#[test]
fn every_form_closes_with_the_calls_that_failed_or_were_refused() {
    let tale = failing().ended('a', fruitless());
    let forms: [&dyn ProgressStyle; 5] = [&Blocks { expanded: false }, &Boxes, &Launches, &OneLine, &Plain];
    for form in forms {
        let shown = drawn(form, CALM, &tale, LOG);
        assert!(shown.contains("2 calls (2 failed) · 12.4k tokens · 3.2s · 1 call refused"), "{shown}");
    }
    check(
        &drawn(&Boxes, CALM, &tale, WIDE),
        &expect![[r#"
        ┌─ explore · agent-aaaaaaaaaaaa ────────────────┐
        │ Task: Find it                                 │
        │ Model: main (test-model)                      │
        └───────────────────────────────────────────────┘
        ┌─ completed · explore · agent-aaaaaaaaaaaa ────────────────────┐
        │ I found nothing.                                              │
        │ note: none of its 3 tool calls succeeded: 2 failed, 1 refused │
        │ 2 calls (2 failed) · 12.4k tokens · 3.2s · 1 call refused     │
        └───────────────────────────────────────────────────────────────┘
          main working… · 0.0s
    "#]],
    );
}
