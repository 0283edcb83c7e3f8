use expect_test::expect;
use sortie_protocol::{
    Addressee, AgentConfig, ApprovalAnswer, CallOutput, Compaction, Failure, FailureCode, Grant, Job, Limit, Limits,
    MailMark, ModelChoice, Part, Reply, Sender, ServerTools, Status, StopReason, Stub, TaskOutcome, ToolCall,
    ToolOutput, Usage,
};

use super::*;

fn task(letter: u8) -> TaskId {
    TaskId::from_random([letter; 12])
}

fn model() -> ModelChoice {
    ModelChoice { route: "main".to_owned(), id: "scripted".to_owned() }
}

pub(crate) fn job() -> Job {
    let config = AgentConfig {
        agent: "explore".to_owned(),
        model: model(),
        system: "You explore.".to_owned(),
        tools: Vec::new(),
        grant: Grant::default(),
        limits: Limits::default(),
        depth: 1,
        chain: vec!["main".to_owned(), "explore".to_owned()],
        output_schema: None,
        model_asked: None,
        server_tools: ServerTools::default(),
    };
    Job {
        reach: sortie_protocol::Reach::default(),
        task: task(0),
        parent: Some(task(1)),
        root: task(1),
        title: "Find the login".to_owned(),
        prompt: "Where is it?".to_owned(),
        workspace: "/w".to_owned(),
        contract: "sortie".to_owned(),
        report_cap_bytes: None,
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        counted_percent: None,
        fork: None,
        context_files: Vec::new(),
        notices: Vec::new(),
        config,
    }
}

fn outcome(text: &str) -> TaskOutcome {
    TaskOutcome {
        task_id: task(0),
        agent: "explore".to_owned(),
        status: Status::Completed,
        reason: None,
        text: text.to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: model(),
        usage: Usage { input_tokens: 1200, tool_calls: 1, duration_ms: 3400, ..Usage::default() },
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: None,
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    }
}

fn ended(outcome: TaskOutcome) -> Fact {
    Fact::TaskEnded { outcome: Box::new(outcome) }
}

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "1".into(), tool: tool.to_owned(), arguments: arguments.to_owned() }
}

fn replied(text: &str, calls: &[ToolCall]) -> Fact {
    let calls = calls.iter().cloned().map(Part::Call);
    let parts = [Part::Text { text: text.to_owned() }].into_iter().chain(calls).collect();
    let reply = Reply {
        parts,
        stop: StopReason::End,
        usage: Usage::default(),
        usage_doubted: false,
        usage_high: false,
        model: "scripted".to_owned(),
    };
    Fact::ModelReplied { turn: 1, reply }
}

fn returned(output: ToolOutput, refused: bool) -> Fact {
    Fact::CallFinished { output: CallOutput { call: "1".into(), output }, refused }
}

fn told(facts: &[Fact]) -> String {
    let mut narrator = Narrator::default();
    facts.iter().map(|fact| narrator.tell(fact, Timestamp(1_700_000_000_000))).collect()
}

#[test]
fn a_task_is_shown_from_its_start_to_its_report() {
    let grep = call("Grep", r#"{"pattern": "login",  "path": "src"}"#);
    let facts = [
        Fact::TaskStarted { job: Box::new(job()) },
        Fact::TaskAdmitted,
        Fact::Noticed { text: "`light` is not set; `main` serves".to_owned() },
        Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: Usage::default() },
        replied("I look for it.\n", &[grep.clone(), call("LS", "{}")]),
        Fact::CallStarted { call: grep, idempotent: true },
        returned(ToolOutput::done("src/login.rs:1: …", "1 match in 1 file"), false),
        Fact::CallStarted { call: call("LS", "{}"), idempotent: true },
        returned(ToolOutput::failure("`x` does not exist\nlook elsewhere"), false),
        Fact::ModelCalled { turn: 2, input_tokens: 0, reserved: Usage::default() },
        replied("It is in src/login.rs.\n\nNothing else is.", &[]),
        ended(TaskOutcome {
            notices: vec!["`light` is not set; `main` serves".to_owned(), "one more".to_owned()],
            ..outcome("It is in src/login.rs.\n\nNothing else is.")
        }),
    ];
    expect![[r#"
        agent-aaaaaaaaaaaa explore on main (scripted), 2023-11-14T22:13:20.000Z
        Find the login

        note: `light` is not set; `main` serves
        I look for it.
        > Grep {"pattern": "login", "path": "src"}
          1 match in 1 file
        > LS
          failed: `x` does not exist

        agent-aaaaaaaaaaaa explore completed, 1 call, 1200 tokens, 3.4 s, 2023-11-14T22:13:20.000Z
        note: one more

        It is in src/login.rs.

        Nothing else is.
    "#]]
    .assert_eq(&told(&facts));
}

#[test]
fn a_call_that_never_ran_is_shown_with_its_output() {
    let bash = ToolCall { id: "2".into(), ..call("Bash", r#"{"command": "make"}"#) };
    let refused = ToolOutput::failure("Bash was not run: nobody can be asked here");
    let facts = [
        replied("", &[call("LS", "{}"), bash.clone()]),
        Fact::CallStarted { call: call("LS", "{}"), idempotent: true },
        Fact::CallFinished { output: CallOutput { call: bash.id, output: refused }, refused: true },
        returned(ToolOutput::done("a.rs", "1 entry"), false),
    ];
    expect![[r#"
        > LS
        > Bash {"command": "make"}
          refused: Bash was not run: nobody can be asked here
          1 entry
    "#]]
    .assert_eq(&told(&facts));
}

#[test]
fn a_reply_that_does_not_end_the_task_is_shown_before_the_next_fact() {
    let waits = Fact::TaskParked { waits_for: vec![task(2), task(3)] };
    let mail = Fact::MailRead { mail: MailMark::default(), text: "a report".to_owned() };
    let text = told(&[replied("I wait for them.", &[]), waits, mail, replied("All is well.", &[])]);
    assert_eq!(text, "I wait for them.\n… waits for agent-cccccccccccc, agent-dddddddddddd\n");
}

#[test]
fn a_report_that_differs_from_the_last_reply_is_shown_as_well() {
    let text = told(&[replied("half a sen", &[]), ended(outcome("An earlier text."))]);
    assert!(text.starts_with("half a sen\n\nagent-"), "{text}");
    assert!(text.ends_with("\n\nAn earlier text.\n"), "{text}");
}

#[test]
fn a_cut_report_is_shown_once_with_the_name_of_its_file() {
    let cut = "It is\n[… the report was cut here; the whole is in /r/x.txt]";
    let text = told(&[
        replied("It is in src/login.rs.", &[]),
        ended(TaskOutcome { truncated: true, full_text_path: Some("/r/x.txt".to_owned()), ..outcome(cut) }),
    ]);
    assert!(!text.contains("src/login.rs") && text.ends_with("the whole is in /r/x.txt]\n"), "{text}");
}

#[test]
fn an_unsuccessful_ending_says_why() {
    let failed = TaskOutcome {
        status: Status::Failed,
        text: String::new(),
        error: Some(Failure::new(FailureCode::ModelAuth, "the key was refused")),
        files_changed: vec!["a.rs".to_owned(), "b.rs".to_owned()],
        ..outcome("")
    };
    let text = told(&[ended(failed)]);
    let (_, rest) = text.split_once("Z\n").expect("a line with the time");
    assert_eq!(rest, "model_auth: the key was refused\nchanged: a.rs, b.rs\n\n");
    assert!(told(&[ended(outcome(" "))]).ends_with("\n\n(no report)\n"));
}

#[test]
fn every_fact_that_is_useful_to_a_person_has_its_line() {
    let error = Failure::new(FailureCode::RateLimited, "slow\ndown");
    let retried = Fact::ModelRetried { turn: 1, attempt: 1, wait_ms: 1, error, usage: Usage::default() };
    let from = Sender::Task { task: task(1), agent: "main".to_owned() };
    let asked = |to| Fact::QuestionAsked { call: "1".into(), to, text: "Which one?".to_owned() };
    let config = Box::new(job().config);
    let text = |text: &str| text.to_owned();
    let table: Vec<(Fact, &str)> = vec![
        (
            Fact::TaskResumed { prompt: None, title: None, config: config.clone(), notices: Vec::new(), alone: false },
            "resumed, 2023-11-14T22:13:20.000Z",
        ),
        (
            Fact::TaskResumed {
                prompt: Some(text("and\nnow")),
                title: None,
                config,
                notices: Vec::new(),
                alone: false,
            },
            "resumed, 2023-11-14T22:13:20.000Z: and now",
        ),
        (retried, "! retrying the model call: slow down"),
        (Fact::LimitReached { limit: Limit::Turns, text: text("Report now.") }, "! limit reached: turns"),
        (Fact::CallProgressed { call: "1".into(), text: text("50 %") }, "  … 50 %"),
        (returned(ToolOutput::failure("Bash was not run: no"), true), "  refused: Bash was not run: no"),
        (Fact::ApprovalAsked { call: "1".into(), rule: text("Bash(ls)") }, "? approval needed: Bash(ls)"),
        (Fact::ApprovalAnswered { call: "1".into(), answer: ApprovalAnswer::Tree }, "? yes, for this run"),
        (Fact::ApprovalAnswered { call: "1".into(), answer: ApprovalAnswer::No }, "? no"),
        (asked(Addressee::Parent), "? asks its parent: Which one?"),
        (asked(Addressee::Person), "? asks the person: Which one?"),
        (
            Fact::MessageArrived { number: 1, from, text: text("look\nthere"), command: None, call: None },
            "@ main agent-bbbbbbbbbbbb: look there",
        ),
        (
            Fact::MessageArrived { number: 2, from: Sender::Person, text: text("stop"), command: None, call: None },
            "@ the person: stop",
        ),
        (Fact::NotePosted { text: text("a finding") }, "# a finding"),
        (
            Fact::Compacted {
                compaction: Compaction {
                    stubs: vec![Stub { call: "1".into(), text: text("[left out]") }],
                    summary: None,
                },
                usage: Usage::default(),
            },
            "… conversation shortened: 1 output",
        ),
        (Fact::ChildStarted { call: "1".into(), child: task(2), background: false }, "+ agent-cccccccccccc"),
        (
            Fact::ChildStarted { call: "1".into(), child: task(2), background: true },
            "+ agent-cccccccccccc, in the background",
        ),
        (Fact::ChildReleased { call: "1".into(), child: task(2) }, "+ agent-cccccccccccc continues in the background"),
        (Fact::ChildAdopted { child: task(2), ended_leg: None }, "+ agent-cccccccccccc adopted"),
        (Fact::ChildEnded { call: "1".into(), child: task(2), child_leg: 1 }, "- agent-cccccccccccc has ended"),
    ];
    for (fact, expected) in table {
        assert_eq!(told(&[fact]), format!("{expected}\n"));
    }
    assert_eq!(
        told(&[
            Fact::TaskAdmitted,
            Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: Usage::default() },
            Fact::Unknown
        ]),
        ""
    );
}

#[test]
fn no_terminal_control_and_no_endless_line_is_shown() {
    let evil = "\u{1b}[2J\u{202e}\u{9b}31m";
    let mut job = job();
    job.title = evil.to_owned();
    job.config.agent = evil.to_owned();
    let text = told(&[
        Fact::TaskStarted { job: Box::new(job) },
        replied(evil, &[call(evil, evil)]),
        Fact::CallStarted { call: call(evil, &"x".repeat(100_000)), idempotent: true },
        returned(ToolOutput::done("", evil), false),
        Fact::Noticed { text: evil.to_owned() },
        Fact::MessageArrived { number: 1, from: Sender::Person, text: evil.to_owned(), command: None, call: None },
        replied(evil, &[]),
        ended(TaskOutcome { notices: vec![format!("2{evil}")], ..outcome(evil) }),
    ]);
    let obeyed = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
    assert!(!text.contains(obeyed), "{text:?}");
    assert!(text.lines().all(|line| line.chars().count() < 250), "{text}");
}

/// A directory for progress files.
fn reports() -> (tempfile::TempDir, SpillDir) {
    let home = tempfile::tempdir().unwrap();
    let directory = SpillDir::open(&home.path().join("reports")).unwrap();
    (home, directory)
}

#[test]
fn facts_are_in_the_tasks_file_at_once_and_after_a_takeover() {
    let (_home, directory) = reports();
    let first = ProgressFile::open(&directory, task(0)).unwrap();
    assert_eq!(first.path().file_name().unwrap(), "agent-aaaaaaaaaaaa-output.log");
    first.see(&Fact::Noticed { text: "slow today".to_owned() }, Timestamp(0));
    assert_eq!(std::fs::read_to_string(first.path()).unwrap(), "note: slow today\n");
    let second = ProgressFile::open(&directory, task(0)).unwrap();
    second.see(&Fact::CallProgressed { call: "1".into(), text: "50 %".to_owned() }, Timestamp(0));
    assert_eq!(std::fs::read_to_string(first.path()).unwrap(), "note: slow today\n  … 50 %\n");
    assert_eq!((first.failure(), second.failure()), (None, None));
}

#[test]
fn the_ending_has_room_in_a_full_file() {
    let (_home, directory) = reports();
    let file = ProgressFile::open(&directory, task(0)).unwrap();
    file.see(&replied(&"long\n".repeat(300_000), &[call("LS", "{}")]), Timestamp(0));
    file.see(&Fact::Noticed { text: "a late notice".to_owned() }, Timestamp(0));
    file.see(&ended(outcome("The report.")), Timestamp(0));
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.contains("this file is full") && !text.contains("a late notice"), "{}", text.len());
    assert!(text.ends_with("\n\nThe report.\n") && text.len() < (1 << 20) + 1000, "{}", text.len());
}
