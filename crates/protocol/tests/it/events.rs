//! Each event is written exactly as in its golden file, and the golden file reads back as that event.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use expect_test::expect_file;
use serde_json::json;
use sortie_protocol::{
    Addressee, AgentConfig, ApprovalAnswer, CallId, CallOutput, Compaction, Event, Fact, Failure, FailureCode, Grant,
    GrantLayer, Job, Limit, Limits, MailMark, ModelChoice, Money, Need, Part, QuestionMark, Reach, Reasoning, Reply,
    ReportMark, Sender, ServerTools, ShellMark, Status, StopReason, Stub, Summary, TaskId, TaskOutcome, Timestamp,
    ToolCall, ToolCount, ToolOutput, Usage, VERSION,
};

fn task(letter: u8) -> TaskId {
    TaskId::from_random([letter; 12])
}

fn event(fact: Fact) -> Event {
    Event {
        v: VERSION,
        seq: 7,
        task_id: task(1),
        parent_id: Some(task(0)),
        depth: 1,
        leg: 1,
        time: Timestamp(1_791_979_199_999),
        fact,
    }
}

fn job() -> Job {
    Job {
        task: task(1),
        parent: Some(task(0)),
        root: task(0),
        title: "Find the parser".to_owned(),
        prompt: "Where is the parser? Ä\n".to_owned(),
        workspace: "/project".to_owned(),
        contract: "sortie".to_owned(),
        report_cap_bytes: Some(8000),
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        counted_percent: None,
        fork: None,
        context_files: Vec::new(),
        reach: Reach::default(),
        notices: vec!["unknown key `x` was ignored".to_owned()],
        config: AgentConfig {
            agent: "explore".to_owned(),
            model: ModelChoice { route: "main".to_owned(), id: "some-model".to_owned() },
            system: "You find things.".to_owned(),
            tools: vec!["Read".to_owned(), "Grep".to_owned()],
            grant: Grant {
                layers: vec![
                    GrantLayer::new("agent main"),
                    GrantLayer { tools: Some(vec!["Read".to_owned()]), ..GrantLayer::new("agent explore") },
                ],
            },
            limits: Limits {
                max_turns: Some(30),
                max_tokens: None,
                max_cost: Money::from_dollars(0.25),
                timeout: Some(Duration::from_millis(2500)),
                idle: None,
                max_children: Some(3),
            },
            depth: 1,
            chain: vec!["main".to_owned(), "explore".to_owned()],
            output_schema: None,
            model_asked: None,
            server_tools: ServerTools::default(),
        },
    }
}

fn call() -> ToolCall {
    ToolCall { id: CallId::from("call_1"), tool: "Read".to_owned(), arguments: r#"{"file_path":"a.rs"}"#.to_owned() }
}

fn usage() -> Usage {
    Usage {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_tokens: 100,
        cache_write_tokens: 20,
        cost: Money::from_nanos(1_234_500),
        priced_tokens: 130,
        turns: 2,
        tool_calls: 3,
        failed_calls: 0,
        duration_ms: 1234,
    }
}

fn reply() -> Reply {
    Reply {
        parts: vec![
            Part::Reasoning(Reasoning {
                wire: "anthropic".to_owned(),
                item: json!({"type": "thinking", "signature": "c2ln"}),
            }),
            Part::Text { text: "I will look.".to_owned() },
            Part::Call(call()),
        ],
        stop: StopReason::Calls,
        usage: usage(),
        usage_doubted: false,
        usage_high: false,
        model: "some-model-2026".to_owned(),
    }
}

fn outcome() -> TaskOutcome {
    TaskOutcome {
        task_id: task(1),
        agent: "explore".to_owned(),
        status: Status::Partial,
        reason: Some(Limit::Turns),
        text: "In src/parse.rs:12".to_owned(),
        structured: None,
        files_changed: vec!["notes.md".to_owned()],
        tool_summary: vec![ToolCount { tool: "Read".to_owned(), count: 3 }],
        model: ModelChoice { route: "main".to_owned(), id: "some-model".to_owned() },
        usage: usage(),
        truncated: true,
        full_text_path: Some("/state/reports/x.md".to_owned()),
        truncation: None,
        deadline_ms: None,
        notices: vec!["unknown key `x` was ignored".to_owned()],
        error: Some(Failure::new(FailureCode::read("a_code"), "a message")),
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    }
}

fn facts() -> Vec<Fact> {
    let output = ToolOutput {
        mail: MailMark { reports: vec![ReportMark { child: task(3), leg: 1 }], ..MailMark::default() },
        for_model: "1\tfn main() {}".to_owned(),
        for_people: "1 line".to_owned(),
        failed: true,
        verbatim: false,
        did_not_run: false,
        waited: true,
        essence: Some("0123456789abcdef".to_owned()),
        files_changed: vec!["a.rs".to_owned()],
        diff: Some("-a\n+b\n".to_owned()),
        attachments: Vec::new(),
        code: None,
        shell: Some(ShellMark::Ended(2)),
        fault: None,
        payload: None,
    };
    vec![
        Fact::TaskStarted { job: Box::new(job()) },
        Fact::TaskResumed {
            prompt: Some("And who calls it?".to_owned()),
            title: None,
            config: Box::new(job().config),
            notices: vec!["the tool `Bash` is not granted any more".to_owned()],
            alone: true,
        },
        Fact::TaskAdmitted,
        Fact::ModelCalled {
            turn: 1,
            input_tokens: 2000,
            reserved: Usage { input_tokens: 2000, output_tokens: 4096, ..Usage::default() },
        },
        Fact::ModelLost { turn: 1, usage: Usage { input_tokens: 2000, ..Usage::default() } },
        Fact::ModelRetried {
            turn: 1,
            attempt: 2,
            wait_ms: 1500,
            error: Failure::new(FailureCode::RateLimited, "429"),
            usage: Usage::default(),
        },
        Fact::ModelReplied { turn: 1, reply: reply() },
        Fact::Compacted {
            compaction: Compaction {
                stubs: vec![Stub { call: CallId::from("call_1"), text: "[1 line left out]".to_owned() }],
                summary: Some(Summary { messages: 4, turns: 2, text: "It was found in a.rs.".to_owned() }),
            },
            usage: Usage { input_tokens: 3000, output_tokens: 200, ..Usage::default() },
        },
        Fact::LimitReached { limit: Limit::Turns, text: "Write your report now.".to_owned() },
        Fact::AnswerReturned { text: "Your answer does not fit the schema.".to_owned() },
        Fact::CallStarted { call: call(), idempotent: true },
        Fact::ProcessStarted { call: CallId::from("call_1"), pid: 4321, started: 987_654_321 },
        Fact::CallProgressed { call: CallId::from("call_1"), text: "running 12 tests".to_owned() },
        Fact::ApprovalAsked { call: CallId::from("call_1"), rule: "Edit(a.rs)".to_owned() },
        Fact::ApprovalAnswered { call: CallId::from("call_1"), answer: ApprovalAnswer::Once },
        Fact::Assisted {
            model: ModelChoice { route: "light".to_owned(), id: "small".to_owned() },
            usage: Usage { input_tokens: 900, output_tokens: 60, ..Usage::default() },
        },
        Fact::ChildStarted { call: CallId::from("call_2"), child: task(2), background: false },
        Fact::ChildReleased { call: CallId::from("call_2"), child: task(2) },
        Fact::ChildAdopted { child: task(3), ended_leg: Some(2) },
        Fact::ChildEnded { call: CallId::from("call_2"), child: task(2), child_leg: 1 },
        Fact::OutcomeGiven { call: CallId::from("call_2"), from: task(3) },
        Fact::CallFinished { output: CallOutput { call: CallId::from("call_1"), output }, refused: true },
        Fact::MessageArrived {
            number: 1,
            from: Sender::Task { task: task(2), agent: "explore".to_owned() },
            text: "Look at b.rs, too.".to_owned(),
            command: Some(12),
            call: Some(CallId("call_2".to_owned())),
        },
        Fact::MailRead {
            mail: MailMark {
                reports: vec![ReportMark { child: task(2), leg: 1 }],
                messages: vec![1],
                essences: vec!["0123456789abcdef".to_owned()],
            },
            text: "agent-… has ended.".to_owned(),
        },
        Fact::QuestionAsked { call: CallId::from("call_1"), to: Addressee::Parent, text: "Which one?".to_owned() },
        Fact::NotePosted { text: "The parser is in a.rs.".to_owned() },
        Fact::TaskParked { waits_for: vec![task(2)] },
        Fact::TaskQueued { needs: Need::Tokens },
        Fact::Reminded {
            text: "bash_1 does not run any more.".to_owned(),
            lost_shells: vec![1],
            questions: Vec::new(),
        },
        Fact::Noticed { text: "something odd".to_owned() },
        Fact::TaskEnded { outcome: Box::new(outcome()) },
    ]
}

#[test]
fn every_event_is_written_as_its_golden_file_says_and_reads_back() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let mut written = BTreeSet::new();
    for fact in facts() {
        let event = event(fact);
        let file = directory.join(format!("{}.json", event.fact.kind()));
        let text = serde_json::to_string_pretty(&event).expect("events are plain data") + "\n";
        expect_file![&file].assert_eq(&text);
        assert_eq!(serde_json::from_str::<Event>(&text).expect("a golden file reads back"), event);
        written.insert(file);
    }
    let on_disk: BTreeSet<_> = std::fs::read_dir(&directory)
        .expect("there are golden files")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert_eq!(on_disk, written, "each kind of event has its golden file, and no other file lies there");
}

#[test]
fn a_retry_records_the_known_usage_of_the_failed_call() {
    let retried = |usage| Fact::ModelRetried {
        turn: 1,
        attempt: 1,
        wait_ms: 500,
        error: Failure::new(FailureCode::ModelStreamCut, "cut"),
        usage,
    };
    let known = Usage { input_tokens: 100, output_tokens: 1, ..Usage::default() };
    let written = |usage| serde_json::to_value(retried(usage)).expect("facts are plain data");
    assert_eq!(written(known)["usage"]["total_tokens"], 101);
    assert_eq!(written(Usage::default()).get("usage"), None);
    for usage in [known, Usage::default()] {
        assert_eq!(serde_json::from_value::<Fact>(written(usage)).expect("it reads back"), retried(usage));
    }
}

#[test]
fn the_name_of_an_asked_model_reads_back_and_is_omitted_if_nothing_names_one() {
    let started = |model_asked| {
        let job = job();
        Fact::TaskStarted { job: Box::new(Job { config: AgentConfig { model_asked, ..job.config.clone() }, ..job }) }
    };
    for asked in [Some("haiku".to_owned()), None] {
        let written = serde_json::to_value(started(asked.clone())).expect("facts are plain data");
        assert_eq!(written["job"]["config"].get("model_asked"), asked.as_ref().map(|name| json!(name)).as_ref());
        assert_eq!(serde_json::from_value::<Fact>(written).expect("it reads back"), started(asked));
    }
}

#[test]
fn server_tools_read_back_and_are_omitted_if_empty() {
    let started = |server_tools| {
        let job = job();
        Fact::TaskStarted { job: Box::new(Job { config: AgentConfig { server_tools, ..job.config.clone() }, ..job }) }
    };
    let written = |kept: &ServerTools| serde_json::to_value(started(kept.clone())).expect("facts are plain data");
    let pins = [("mcp__shop__buy".to_owned(), "6f1e".to_owned())].into();
    let kept = ServerTools { pins, note: Some("The bakery is closed.".to_owned()) };
    let expected = json!({ "pins": { "mcp__shop__buy": "6f1e" }, "note": "The bakery is closed." });
    assert_eq!(written(&kept)["job"]["config"]["server_tools"], expected);
    assert_eq!(written(&ServerTools::default())["job"]["config"].get("server_tools"), None);
    for kept in [kept, ServerTools::default()] {
        assert_eq!(serde_json::from_value::<Fact>(written(&kept)).expect("it reads back"), started(kept));
    }
}

#[test]
fn reminded_questions_read_back() {
    let questions = vec![QuestionMark { task: task(1), call: CallId::from("call_1") }];
    let reminded = Fact::Reminded { text: "They wait.".to_owned(), lost_shells: Vec::new(), questions };
    let written = serde_json::to_value(&reminded).expect("facts are plain data");
    assert_eq!(written["questions"], json!([{ "task": task(1), "call": "call_1" }]));
    assert_eq!(serde_json::from_value::<Fact>(written).expect("it reads back"), reminded);
}

#[test]
fn the_counted_percentage_reads_back_and_is_omitted_if_unknown() {
    let started = |counted_percent| Fact::TaskStarted { job: Box::new(Job { counted_percent, ..job() }) };
    let written = |known| serde_json::to_value(started(known)).expect("facts are plain data");
    assert_eq!(written(Some(280))["job"]["counted_percent"], 280);
    assert_eq!(written(None)["job"].get("counted_percent"), None);
    for known in [Some(280), None] {
        assert_eq!(serde_json::from_value::<Fact>(written(known)).expect("it reads back"), started(known));
    }
}

#[test]
fn the_stored_kind_is_the_type_that_readers_see() {
    for fact in facts() {
        let value = serde_json::to_value(&fact).expect("facts are plain data");
        assert_eq!(value["type"], fact.kind());
    }
}

#[test]
fn an_unknown_event_is_skipped_not_an_error() {
    let text = r#"{"v":2,"seq":1,"task_id":"agent-bbbbbbbbbbbb","depth":0,"leg":1,
        "time":"2026-01-31T12:00:00.000Z","type":"moon_landed","where":"mare"}"#;
    let event: Event = serde_json::from_str(text).expect("a newer event still has its frame");
    assert_eq!(event.fact, Fact::Unknown);
}
