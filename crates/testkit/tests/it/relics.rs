//! Invented logs of runs for the tests of the checker, and its findings.

use serde_json::Value;
use sortie_journal::TaskState;
use sortie_protocol::{
    AgentConfig, CallId, CallOutput, Event, Fact, Grant, Job, Limits, ModelChoice, Part, Reach, Reply, ServerTools,
    Status, StopReason, TaskId, TaskOutcome, Timestamp, ToolCall, ToolOutput, Usage, VERSION,
};
use sortie_testkit::checker::{Evidence, Stage, TaskLog, check};

pub(crate) fn id(letter: u8) -> TaskId {
    TaskId::from_random([letter; 12])
}

pub(crate) fn call(id: &str, tool: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: CallId(id.to_owned()), tool: tool.to_owned(), arguments: arguments.to_string() }
}

pub(crate) fn job(task: TaskId, parent: Option<TaskId>, prompt: &str) -> Fact {
    let config = AgentConfig {
        agent: "main".to_owned(),
        model: ModelChoice { route: "main".to_owned(), id: "scripted".to_owned() },
        system: String::new(),
        tools: Vec::new(),
        grant: Grant::default(),
        limits: Limits::default(),
        depth: u32::from(parent.is_some()),
        chain: Vec::new(),
        output_schema: None,
        model_asked: None,
        server_tools: ServerTools::default(),
    };
    let job = Job {
        task,
        parent,
        root: parent.unwrap_or(task),
        title: String::new(),
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
    };
    Fact::TaskStarted { job: Box::new(job) }
}

pub(crate) fn replied(turn: u32, parts: Vec<Part>) -> Fact {
    let usage = Usage { output_tokens: 10, turns: 1, ..Usage::default() };
    Fact::ModelReplied {
        turn,
        reply: Reply {
            parts,
            stop: StopReason::End,
            usage,
            usage_doubted: false,
            usage_high: false,
            model: "scripted".to_owned(),
        },
    }
}

pub(crate) fn finished(call: &ToolCall, output: ToolOutput) -> Fact {
    Fact::CallFinished { output: CallOutput { call: call.id.clone(), output }, refused: false }
}

pub(crate) fn ended(task: TaskId, text: &str, turns: u64) -> Fact {
    let outcome = TaskOutcome {
        task_id: task,
        agent: "main".to_owned(),
        status: Status::Completed,
        reason: None,
        text: text.to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: ModelChoice { route: "main".to_owned(), id: "scripted".to_owned() },
        usage: Usage { output_tokens: 10 * turns, turns, ..Usage::default() },
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: None,
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    };
    Fact::TaskEnded { outcome: Box::new(outcome) }
}

pub(crate) fn log(task: TaskId, depth: u32, facts: Vec<Fact>) -> TaskLog {
    let events = (1..).zip(facts).map(|(seq, fact)| {
        let time = Timestamp(seq * 1000);
        Event { v: VERSION, seq, task_id: task, parent_id: None, depth, leg: 1, time, fact }
    });
    TaskLog { state: TaskState::Ended(Status::Completed), events: events.collect() }
}

/// Invariants that a run breaks after this damage.
pub(crate) fn broken(mut run: Evidence, harm: impl FnOnce(&mut Evidence)) -> Vec<String> {
    harm(&mut run);
    let breaches = check(&run, Stage::Ended).breaches;
    breaches.iter().map(|breach| breach.split(' ').next().unwrap().to_owned()).collect()
}
