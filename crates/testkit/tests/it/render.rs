//! Events as text.

use expect_test::expect;
use sortie_protocol::{
    AgentConfig, CallOutput, Event, Fact, Failure, FailureCode, Grant, Job, Limit, Limits, ModelChoice, Part, Reach,
    Reply, ServerTools, Status, StopReason, TaskId, TaskOutcome, Timestamp, ToolCall, ToolCount, ToolOutput, Usage,
    VERSION,
};
use sortie_testkit::render;

fn id(letter: u8) -> TaskId {
    TaskId::from_random([letter; 12])
}

/// Builds a task's log, with numbers and times filled in.
struct Log {
    task: TaskId,
    depth: u32,
    events: Vec<Event>,
}

impl Log {
    fn of(task: TaskId, depth: u32) -> Self {
        Self { task, depth, events: Vec::new() }
    }

    fn write(&mut self, fact: Fact) {
        let seq = self.events.len() as u64 + 1;
        let time = Timestamp(seq * 1000);
        let (task_id, depth) = (self.task, self.depth);
        self.events.push(Event { v: VERSION, seq, task_id, parent_id: None, depth, leg: 1, time, fact });
    }
}

fn job(task: TaskId, prompt: &str) -> Box<Job> {
    let config = AgentConfig {
        agent: "explore".to_owned(),
        model: ModelChoice { route: "main".to_owned(), id: "scripted".to_owned() },
        system: String::new(),
        tools: Vec::new(),
        grant: Grant::default(),
        limits: Limits::default(),
        depth: 0,
        chain: Vec::new(),
        output_schema: None,
        model_asked: None,
        server_tools: ServerTools::default(),
    };
    Box::new(Job {
        task,
        parent: None,
        root: task,
        title: "Look".to_owned(),
        prompt: prompt.to_owned(),
        workspace: "/w".to_owned(),
        contract: "sortie".to_owned(),
        report_cap_bytes: None,
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        counted_percent: None,
        fork: None,
        context_files: Vec::new(),
        reach: Reach::default(),
        notices: Vec::new(),
        config,
    })
}

fn outcome(task: TaskId, status: Status, text: String) -> TaskOutcome {
    TaskOutcome {
        task_id: task,
        agent: "explore".to_owned(),
        status,
        reason: None,
        text,
        structured: None,
        files_changed: Vec::new(),
        tool_summary: vec![ToolCount { tool: "Read".to_owned(), count: 2 }],
        model: ModelChoice { route: "main".to_owned(), id: "scripted".to_owned() },
        usage: Usage { duration_ms: 1234, ..Usage::default() },
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

fn replied(turn: u32, parts: Vec<Part>, stop: StopReason) -> Fact {
    Fact::ModelReplied {
        turn,
        reply: Reply {
            parts,
            stop,
            usage: Usage::default(),
            usage_doubted: false,
            usage_high: false,
            model: "scripted".to_owned(),
        },
    }
}

#[test]
fn every_fact_has_a_line_without_times_and_with_stable_names() {
    let (parent, child) = (id(1), id(2));
    let call = |name: &str| ToolCall { id: name.into(), tool: "Task".to_owned(), arguments: r#"{"a":1}"#.to_owned() };
    let mut log = Log::of(parent, 0);
    log.write(Fact::TaskStarted { job: job(parent, "Find it.") });
    log.write(Fact::TaskAdmitted);
    log.write(Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: Usage::default() });
    log.write(Fact::ModelRetried {
        turn: 1,
        attempt: 1,
        wait_ms: 7,
        error: Failure::new(FailureCode::RateLimited, "slow down"),
        usage: Usage::default(),
    });
    log.write(replied(1, vec![Part::Text { text: "So:".to_owned() }, Part::Call(call("c1"))], StopReason::Calls));
    log.write(Fact::CallStarted { call: call("c1"), idempotent: false });
    log.write(Fact::ChildStarted { call: "c1".into(), child, background: false });
    let mut below = Log::of(child, 1);
    below.write(Fact::TaskEnded {
        outcome: Box::new(TaskOutcome {
            reason: Some(Limit::Turns),
            truncated: true,
            notices: vec!["cut short".to_owned()],
            ..outcome(child, Status::Partial, "half".to_owned())
        }),
    });
    log.events.extend(below.events);
    log.write(Fact::ChildEnded { call: "c1".into(), child, child_leg: 1 });
    let output = CallOutput { call: "c1".into(), output: ToolOutput::done(format!("report of {child}"), "") };
    log.write(Fact::CallFinished { output, refused: false });
    let output = CallOutput { call: "c2".into(), output: ToolOutput::failure("no") };
    log.write(Fact::CallFinished { output: output.clone(), refused: false });
    log.write(Fact::CallFinished { output, refused: true });
    log.write(Fact::LimitReached { limit: Limit::Turns, text: "Report now.\nPlease.".to_owned() });
    log.write(Fact::Noticed { text: "agent-smith is not an id".to_owned() });
    log.write(replied(2, vec![], StopReason::End));
    log.write(replied(3, vec![Part::Text { text: "ha".to_owned() }], StopReason::Length));
    log.write(Fact::TaskEnded {
        outcome: Box::new(TaskOutcome {
            error: Some(Failure::new(FailureCode::ModelAuth, "set a key")),
            ..outcome(parent, Status::Failed, String::new())
        }),
    });
    let config = || Box::new(job(parent, "Find it.").config);
    let resumed = |prompt: Option<&str>| Fact::TaskResumed {
        prompt: prompt.map(str::to_owned),
        title: None,
        config: config(),
        notices: Vec::new(),
        alone: false,
    };
    log.write(resumed(None));
    log.write(resumed(Some("And then?")));
    log.write(Fact::ProcessStarted { call: "c3".into(), pid: std::process::id(), started: 7 });
    expect![[r#"
        task-1 #1 task_started explore "Look": "Find it."
        task-1 #2 task_admitted
        task-1 #3 model_called turn 1
        task-1 #4 model_retried turn 1 attempt 1: rate_limited
        task-1 #5 model_replied turn 1: "So:" + c1 Task {"a":1}
        task-1 #6 call_started c1: Task {"a":1} (once)
        task-1 #7 child_started c1: task-2
          task-2 #1 task_ended partial (turns): "half" Read×2 truncated notice "cut short"
        task-1 #9 child_ended c1: task-2 leg 1
        task-1 #10 call_finished c1: "report of task-2"
        task-1 #11 call_finished c2 failed: "no"
        task-1 #12 call_finished c2 refused: "no"
        task-1 #13 limit_reached turns: "Report now.\nPlease."
        task-1 #14 noticed "agent-smith is not an id"
        task-1 #15 model_replied turn 2: nothing
        task-1 #16 model_replied turn 3: "ha" + (cut at the output cap)
        task-1 #17 task_ended failed [model_auth: set a key]: "" Read×2
        task-1 #18 task_resumed explore
        task-1 #19 task_resumed explore: "And then?"
        task-1 #20 process_started c3
    "#]]
    .assert_eq(&render(&log.events));
}
