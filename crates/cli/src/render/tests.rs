//! Displays as folds: event lists in, screens out.

mod failed_calls;
mod recalled;
mod styles;
mod tale;
mod terminal;

use expect_test::{Expect, expect};
use sortie_protocol::{Fact, Failure, FailureCode, Limit, Status, Timestamp, ToolOutput, Usage};

use super::json_display::StreamDisplay;
use super::outcome_tree::OutcomeTree;
use super::progress::{Happening, Interest, Progress};
use super::progress_area::screen::Screen;
use super::progress_style::blocks::Blocks;
use super::progress_style::boxes::Boxes;
use super::progress_style::launches::Launches;
use super::progress_style::one_line::OneLine;
use super::progress_style::plain::Plain;
use super::progress_style::{Extent, ProgressStyle};
use crate::text::Colour;
use tale::{Tale, id, outcome, two_explorers};
use terminal::Terminal;

const CALM: Interest = Interest { root: false, calls_of_main: false, calls_of_sub_agents: false, shell_mark: None };
const VERBOSE: Interest = Interest { calls_of_main: true, calls_of_sub_agents: true, ..CALM };
const ROOT: Interest = Interest { root: true, ..CALM };

/// Terminal content in boxes after all events came in one batch.
fn screen(interest: Interest, tale: &Tale, extent: Extent) -> String {
    drawn(&Boxes, interest, tale, extent)
}

/// Lines if nothing can be redrawn and nobody chose a form.
fn lines(interest: Interest, tale: &Tale) -> String {
    drawn(&Plain, interest, tale, LOG)
}

fn drawn(look: &dyn ProgressStyle, interest: Interest, tale: &Tale, extent: Extent) -> String {
    let (mut progress, mut screen, mut terminal) = (Progress::new(interest), Screen::default(), Terminal::default());
    let happenings: Vec<Happening> = tale.events.iter().flat_map(|event| progress.apply(event)).collect();
    terminal.write(&screen.draw(look, &happenings, &progress, Timestamp(tale.now), extent));
    terminal.text()
}

const WIDE: Extent = Extent { columns: 80, rows: 24, colour: Colour::Off, redraws: true };
const LOG: Extent = Extent { redraws: false, ..WIDE };

fn check(actual: &str, expected: &Expect) {
    expected.assert_eq(actual);
}

#[test]
fn a_terminal_shows_a_box_for_each_launch_a_line_for_each_worker_and_a_box_for_each_result() {
    check(
        &screen(CALM, &two_explorers(), WIDE),
        &expect![[r#"
            ┌─ explore · agent-aaaaaaaaaaaa ────────────────┐
            │ Task: Find auth error handling                │
            │ Model: main (test-model)                      │
            └───────────────────────────────────────────────┘
            ┌─ explore · agent-bbbbbbbbbbbb ────────────────┐
            │ Task: Find its tests                          │
            │ Model: main (test-model)                      │
            └───────────────────────────────────────────────┘
            ┌─ completed · explore · agent-aaaaaaaaaaaa ────┐
            │ # Found                                       │
            │ src/auth.rs:12                                │
            │ src/b.rs                                      │
            │ … 2 more lines                                │
            │ 7 calls · 12.4k tokens · 3.2s                 │
            └───────────────────────────────────────────────┘
              explore agent-bbbbbbbbbbbb working… · 2.1s
        "#]],
    );
}

#[test]
fn the_main_agent_has_a_line_only_while_it_works_alone() {
    let tale = Tale::default().started('m', "main", "Where?").admitted('m').wait(1_500);
    assert_eq!(screen(CALM, &tale, WIDE), "  main working… · 1.5s\n");
    let tale = tale.started('a', "explore", "Find it");
    assert!(!screen(CALM, &tale, WIDE).contains("main working"));
}

#[test]
fn a_task_shown_as_ended_is_not_shown_as_awaited() {
    let parked = |waits_for: &[char]| Fact::TaskParked { waits_for: waits_for.iter().copied().map(id).collect() };
    let found = |task| outcome(task, "explore", Status::Completed, "Found.");
    let tale = Tale::default().started('m', "main", "Where?").started('a', "explore", "A").started('b', "explore", "B");
    let tale = tale.ended('a', found('a')).fact('m', parked(&['a', 'b']));
    let text = screen(CALM, &tale, WIDE);
    assert!(text.contains("main: waiting for a background task: agent-bbbbbbbbbbbb explore “B”\n"), "{text}");
    let tale = tale.ended('b', found('b')).fact('m', parked(&['b']));
    assert_eq!(screen(CALM, &tale, WIDE).matches("main: waiting for").count(), 1);
}

#[test]
fn the_end_of_a_run_names_tasks_that_another_process_continues() {
    let found = |task, agent| outcome(task, agent, Status::Completed, "Found.");
    let tale = || Tale::default().started('m', "main", "Where?").started('a', "explore", "A");
    let whole = lines(CALM, &tale().ended('a', found('a', "explore")).ended('m', found('m', "main")));
    assert!(!whole.contains("has not ended"), "{whole}");
    let left = lines(CALM, &tale().ended('m', found('m', "main")));
    let said =
        "explore agent-aaaaaaaaaaaa has not ended here: `sortie task-status agent-aaaaaaaaaaaa` shows its status";
    assert_eq!(left.lines().last(), Some(said), "{left}");
}

#[test]
fn redrawing_replaces_the_working_lines_and_keeps_everything_else() {
    let (mut progress, mut screen, mut terminal) = (Progress::new(CALM), Screen::default(), Terminal::default());
    let mut draws = Vec::new();
    for event in &two_explorers().events {
        let happenings = progress.apply(event);
        draws.push(screen.draw(&Boxes, &happenings, &progress, event.time, WIDE));
    }
    for draw in &draws {
        terminal.write(draw);
    }
    let whole = self::screen(CALM, &two_explorers(), WIDE);
    assert_eq!(terminal.text(), whole, "many small draws look like one");
    terminal.write(&screen.erase(WIDE.columns));
    let (kept, _working) = whole.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(terminal.text().trim_end(), kept, "erasing leaves the boxes alone");
}

#[test]
fn a_terminal_made_narrower_is_still_erased_whole() {
    let tale = Tale::default().started('m', "main", "x").started('a', "explore", "y").admitted('a').called(
        'a',
        "Grep",
        r#"{"pattern":"a long pattern that makes a long working line"}"#,
    );
    let (mut progress, mut screen) = (Progress::new(CALM), Screen::default());
    let happenings: Vec<Happening> = tale.events.iter().flat_map(|event| progress.apply(event)).collect();
    screen.draw(&Boxes, &happenings, &progress, Timestamp(0), Extent { columns: 120, ..WIDE });
    assert_eq!(screen.erase(30), "\x1b[4A\r\x1b[J", "one line of 100 columns is four rows of 30");
    assert_eq!(screen.erase(30), "", "there is nothing left to erase");
}

#[test]
fn a_long_call_gives_way_to_the_count_and_the_time() {
    let tale = Tale::default().started('m', "main", "x").started('a', "explore", "y").admitted('a').called(
        'a',
        "Grep",
        r#"{"pattern":"a long pattern that makes a long working line"}"#,
    );
    let text = screen(CALM, &tale, Extent { columns: 70, ..WIDE });
    let working = text.lines().find(|line| line.contains("working")).unwrap();
    assert_eq!(working, r#"  explore agent-aaaaaaaaaaaa working… Grep "a long p… · 1 call · 0.0s"#);
}

#[test]
fn more_workers_than_rows_are_counted_instead_of_shown() {
    let mut tale = Tale::default().started('m', "main", "x");
    for letter in 'a'..='h' {
        tale = tale.started(letter, "explore", "y").admitted(letter);
    }
    let text = screen(CALM, &tale, Extent { rows: 5, ..WIDE });
    let live: Vec<&str> = text.lines().filter(|line| line.contains("work")).collect();
    assert_eq!(
        live,
        [
            "  explore agent-aaaaaaaaaaaa working… · 0.0s",
            "  explore agent-bbbbbbbbbbbb working… · 0.0s",
            "  explore agent-cccccccccccc working… · 0.0s",
            "  … and 5 more working",
        ]
    );
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let looks: [&dyn ProgressStyle; 4] = [&Boxes, &Launches, &OneLine, &Blocks { expanded: true }];
    for (look, columns) in looks.into_iter().flat_map(|look| [20, 41, 60, 200].map(|columns| (look, columns))) {
        let text = drawn(look, VERBOSE, &two_explorers(), Extent { columns, ..WIDE });
        for line in text.lines() {
            assert!(crate::text::width::of(line) < columns, "{columns}: {line}");
        }
    }
}

#[test]
fn without_a_terminal_there_are_plain_lines() {
    let text = lines(CALM, &two_explorers());
    assert!(!text.contains('\x1b'));
    check(
        &text,
        &expect![[r#"
        explore agent-aaaaaaaaaaaa started: Find auth error handling · main (test-model)
        explore agent-bbbbbbbbbbbb started: Find its tests · main (test-model)
        explore agent-aaaaaaaaaaaa completed · 7 calls · 12.4k tokens · 3.2s
    "#]],
    );
}

#[test]
fn verbose_shows_each_call() {
    let tale = two_explorers().called('b', "Read", r#"{"file_path":"src/a.rs"}"#).answered(
        'b',
        "Read",
        ToolOutput::failure("no such file"),
    );
    let calls = |interest| lines(interest, &tale).lines().filter(|line| line.contains(": ")).count();
    assert!(calls(CALM) < calls(VERBOSE));
    let shown: String =
        lines(VERBOSE, &tale).lines().filter(|line| line.contains("Grep") || line.contains("Read")).collect();
    check(
        &shown.replace("explore", "\nexplore"),
        &expect![[r#"

            explore agent-aaaaaaaaaaaa: Grep "auth" → 12 matches in 3 files
            explore agent-bbbbbbbbbbbb: ✗ Read src/a.rs failed: no such file"#]],
    );
}

#[test]
fn retries_refusals_notices_and_limits_are_never_silent() {
    let error = Failure::new(FailureCode::RateLimited, "429 from the server");
    let mut partial = outcome('a', "explore", Status::Partial, "so far");
    partial.reason = Some(Limit::Turns);
    let mut failed = outcome('b', "explore", Status::Failed, "");
    failed.error = Some(Failure::new(FailureCode::ModelAuth, "the key was refused; check ANTHROPIC_API_KEY"));
    failed.notices = vec!["unknown key `x` was ignored".to_owned()];
    let tale = Tale::default()
        .started('m', "main", "x")
        .started('a', "explore", "first")
        .started('b', "plan", "second")
        .admitted('a')
        .fact('a', Fact::ModelRetried { turn: 1, attempt: 1, wait_ms: 1_500, error, usage: Usage::default() })
        .asked('a', "Write", r#"{"file_path":"x"}"#)
        .refused('a', "Write", ToolOutput::failure("Write is not allowed: agent explore admits only Read"))
        .fact('a', Fact::Noticed { text: "the context was shortened".to_owned() })
        .ended('a', partial)
        .ended('b', failed);
    check(
        &lines(CALM, &tale),
        &expect![[r#"
            explore agent-aaaaaaaaaaaa started: first · main (test-model)
            plan agent-bbbbbbbbbbbb started: second · main (test-model)
            explore agent-aaaaaaaaaaaa: retrying in 1.5s: rate limited
            explore agent-aaaaaaaaaaaa: ✗ Write x refused: Write is not allowed: agent explore admits only Read
            explore agent-aaaaaaaaaaaa: note: the context was shortened
            explore agent-aaaaaaaaaaaa partial (turns) · 7 calls · 12.4k tokens · 3.2s
            plan agent-bbbbbbbbbbbb failed: model_auth: the key was refused; check ANTHROPIC_API_KEY · 7 calls · 12.4k tokens · 3.2s
        "#]],
    );
    check(
        &screen(CALM, &tale, WIDE),
        &expect![[r#"
            ┌─ explore · agent-aaaaaaaaaaaa ────────────────┐
            │ Task: first                                   │
            │ Model: main (test-model)                      │
            └───────────────────────────────────────────────┘
            ┌─ plan · agent-bbbbbbbbbbbb ───────────────────┐
            │ Task: second                                  │
            │ Model: main (test-model)                      │
            └───────────────────────────────────────────────┘
              explore agent-aaaaaaaaaaaa: retrying in 1.5s: rate limited
              explore agent-aaaaaaaaaaaa: ✗ Write x refused: Write is not allowed: agent
                explore admits only Read
              explore agent-aaaaaaaaaaaa: note: the context was shortened
            ┌─ partial (turns) · explore · agent-aaaaaaaaaaaa ─┐
            │ so far                                           │
            │ 7 calls · 12.4k tokens · 3.2s                    │
            └──────────────────────────────────────────────────┘
            ┌─ failed · plan · agent-bbbbbbbbbbbb ─────────────────────┐
            │ model_auth: the key was refused; check ANTHROPIC_API_KEY │
            │ note: unknown key `x` was ignored                        │
            │ 7 calls · 12.4k tokens · 3.2s                            │
            └──────────────────────────────────────────────────────────┘
              main waiting for a slot · 0.0s
        "#]],
    );
}

#[test]
fn text_from_models_and_tools_cannot_drive_the_terminal() {
    let evil = "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\r\u{9b}1mname\u{202e}";
    let mut ending = outcome('a', "explore", Status::Failed, &format!("{evil}\n{evil}"));
    ending.error = Some(Failure::new(FailureCode::read(evil), evil));
    ending.notices = vec![evil.to_owned()];
    let tale = Tale::default()
        .started('m', "main", evil)
        .started('a', evil, evil)
        .admitted('a')
        .called('a', evil, &serde_json::json!({ "pattern": evil }).to_string())
        .refused('a', evil, ToolOutput::done("", evil))
        .fact('a', Fact::Noticed { text: evil.to_owned() })
        .fact(
            'a',
            Fact::ModelRetried {
                turn: 1,
                attempt: 1,
                wait_ms: 1,
                error: Failure::new(FailureCode::read(evil), evil),
                usage: Usage::default(),
            },
        )
        .ended('a', ending);
    let obeyed =
        |text: &str| text.chars().any(|letter| letter != '\n' && (letter.is_control() || letter == '\u{202e}'));
    let huge = Extent { columns: 500, ..WIDE };
    let looks: [&dyn ProgressStyle; 5] = [&Plain, &Boxes, &Launches, &OneLine, &Blocks { expanded: true }];
    let texts = looks.iter().flat_map(|look| [huge, LOG].map(|extent| drawn(*look, VERBOSE, &tale, extent)));
    for text in texts {
        assert!(!obeyed(&text), "{text:?}");
        assert!(text.contains("␛[2J"), "what was there stays visible: {text}");
    }
}

#[test]
fn a_notice_shared_by_children_is_shown_once_and_stays_in_each_outcome() {
    let shared = || "`haiku` is served by test-model".to_owned();
    let noticing = |task, text: &str| {
        let mut outcome = outcome(task, "explore", Status::Completed, "found");
        outcome.notices = vec![shared(), text.to_owned()];
        outcome
    };
    let tale = Tale::default()
        .started('m', "main", "x")
        .started('a', "explore", "first")
        .started('b', "explore", "second")
        .fact('a', Fact::Noticed { text: shared() })
        .fact('b', Fact::Noticed { text: shared() })
        .ended('a', noticing('a', "only the first"))
        .ended('b', noticing('b', "only the second"));
    assert_eq!(lines(CALM, &tale).matches("is served by").count(), 1, "{}", lines(CALM, &tale));
    let shown = screen(CALM, &tale, WIDE);
    for notice in ["is served by", "only the first", "only the second"] {
        assert_eq!(shown.matches(notice).count(), 1, "{notice}: {shown}");
    }
    let mut tree = OutcomeTree::default();
    tale.events.iter().for_each(|event| tree.take(event));
    let object = tree.object(id('m'));
    for child in [0, 1] {
        assert_eq!(object["children"][child]["notices"][0], shared(), "{object}");
    }
}

#[test]
fn colour_is_used_only_where_it_is_wanted() {
    let draw = |colour| {
        let mut progress = Progress::new(CALM);
        let happenings: Vec<Happening> =
            two_explorers().events.iter().flat_map(|event| progress.apply(event)).collect();
        Screen::default().draw(&Boxes, &happenings, &progress, Timestamp(0), Extent { colour, ..WIDE })
    };
    assert!(draw(Colour::On).contains("\x1b[3"));
    assert!(!draw(Colour::Off).contains('\x1b'));
}

#[test]
fn a_delegation_of_its_own_is_shown_like_a_sub_agent() {
    let tale = Tale::default()
        .started('m', "explore", "Find it")
        .admitted('m')
        .ended('m', outcome('m', "explore", Status::Completed, "src/a.rs:1"));
    check(
        &lines(ROOT, &tale),
        &expect![[r#"
        explore agent-mmmmmmmmmmmm started: Find it · main (test-model)
        explore agent-mmmmmmmmmmmm completed · 7 calls · 12.4k tokens · 3.2s
    "#]],
    );
}

#[test]
fn outcomes_stand_below_their_parents_in_order_of_starting_and_none_is_missing() {
    let tale = Tale::default()
        .started('m', "main", "x")
        .started('a', "explore", "first")
        .started('b', "plan", "second")
        .started('c', "plan", "third")
        .ended('b', outcome('b', "plan", Status::Completed, "two"))
        .ended('a', outcome('a', "explore", Status::Completed, "one"))
        .ended('m', outcome('m', "main", Status::Completed, "all"));
    let mut tree = OutcomeTree::default();
    for event in &tale.events {
        tree.take(event);
    }
    let object = tree.object(id('m'));
    assert_eq!(object["text"], "all");
    let children: Vec<String> = object["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| format!("{} {}", child["task_id"].as_str().unwrap(), child["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        children,
        ["agent-aaaaaaaaaaaa completed", "agent-bbbbbbbbbbbb completed", "agent-cccccccccccc running"]
    );
}

#[test]
fn an_unrecorded_run_has_a_complete_last_line() {
    let line = StreamDisplay::default().last_line(&outcome('m', "main", Status::Failed, ""));
    assert_eq!((&line["type"], &line["status"]), (&"outcome".into(), &"failed".into()));
    assert_eq!((&line["v"], &line["seq"], &line["depth"]), (&1.into(), &0.into(), &0.into()));
    assert!(line["time"].is_string(), "{line}");
}

#[test]
fn a_child_without_an_ending_was_interrupted_when_its_root_has_one() {
    let tale = Tale::default().started('m', "main", "x").started('a', "explore", "first");
    let mut tree = OutcomeTree::default();
    for event in &tale.events {
        tree.take(event);
    }
    let object = tree.finish(&outcome('m', "main", Status::Failed, ""));
    assert_eq!((&object["status"], &object["children"][0]["status"]), (&"failed".into(), &"interrupted".into()));
}
