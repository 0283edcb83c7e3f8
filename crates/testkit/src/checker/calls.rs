//! N3 and N9: no effect happens twice or after a refusal, and every success is in the files.
//!
//! By agreement with the script, a command appends the id of its call to `effects.log`. No two calls write to one path,
//! and no two edits insert the same text.

use std::collections::HashMap;

use serde_json::Value;
use sortie_protocol::{CallId, CallOutput, Fact, ToolCall, ToolOutput};

use super::{Evidence, Findings, Stage, TaskLog};

/// Phrases of an output for a call of unknown result: its process was killed, or it was stopped.
const UNKNOWN: [&str; 3] = ["unknown: ", "whether it had an effect is not known", "cancelled before it finished"];
/// Phrases of an answer to a call that came after the last turn, or after the task's end.
const TOO_LATE: [&str; 2] = ["limit was reached", "the task ended before"];
/// Mark of a command that leaves a trace.
const TRACE: &str = ">> effects.log";
/// Tools whose calls must not run twice, because they cannot detect their own effect.
const ONCE: &[&str] = &["Bash", "BashOutput", "Edit", "KillShell", "MultiEdit", "Note", "Write"];

/// The log's facts about one call.
#[derive(Default)]
struct Seen<'a> {
    n_started: u32,
    outputs: Vec<(&'a CallOutput, bool)>,
}

/// Result of a call, as its task was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    Success,
    Failure,
    Unknown,
}

impl Told {
    pub(super) fn of(output: &ToolOutput) -> Self {
        match output {
            output if !output.failed => Self::Success,
            output if UNKNOWN.iter().any(|words| output.for_model.contains(words)) => Self::Unknown,
            _ => Self::Failure,
        }
    }
}

pub(super) fn check(evidence: &Evidence, stage: Stage, findings: &mut Findings) {
    let mut effects: HashMap<&str, u64> = HashMap::new();
    for line in &evidence.effects {
        *effects.entry(line).or_default() += 1;
        findings.count.effects += 1;
    }
    for task in &evidence.tasks {
        let seen = seen(task);
        for call in calls(task) {
            findings.count.calls += 1;
            let seen = seen.get(&call.id);
            let told = told(call, seen, stage, findings);
            findings.count.unknown += u64::from(told == Told::Unknown);
            let n_effects = effects.remove(call.id.0.as_str()).unwrap_or_default();
            let is_traced = call.tool == "Bash" && call.arguments.contains(TRACE);
            if is_traced || n_effects > 0 {
                command(call, seen, (told, n_effects), findings);
            }
            changes(call, told, evidence, findings);
        }
    }
    for (id, n_effects) in effects {
        findings.breach(format!("N1 {id} had its effect {n_effects} times, and the journal does not know the call"));
    }
}

pub(super) fn calls(task: &TaskLog) -> impl Iterator<Item = &ToolCall> {
    task.events.iter().flat_map(|event| match &event.fact {
        Fact::ModelReplied { reply, .. } => reply.calls().collect(),
        _ => Vec::new(),
    })
}

fn seen(task: &TaskLog) -> HashMap<CallId, Seen<'_>> {
    let mut seen: HashMap<CallId, Seen<'_>> = HashMap::new();
    for event in &task.events {
        match &event.fact {
            Fact::CallStarted { call, .. } => seen.entry(call.id.clone()).or_default().n_started += 1,
            Fact::CallFinished { output, refused } => {
                seen.entry(output.call.clone()).or_default().outputs.push((output, *refused));
            }
            _ => {}
        }
    }
    seen
}

fn told(call: &ToolCall, seen: Option<&Seen<'_>>, stage: Stage, findings: &mut Findings) -> Told {
    let n_started = seen.map_or(0, |seen| seen.n_started);
    let outputs = seen.map_or(&[][..], |seen| &seen.outputs);
    findings.expect(n_started <= 1 || !ONCE.contains(&call.tool.as_str()), || {
        format!("N3 {} ({}) was started {n_started} times", call.id, call.tool)
    });
    findings.expect(outputs.len() <= 1, || format!("N7 {} has {} outputs", call.id, outputs.len()));
    match outputs {
        [] => {
            findings.expect(stage == Stage::Killed, || format!("N7 {} has no output", call.id));
            Told::Nothing
        }
        [(output, refused), ..] => {
            // The scripts request only permitted actions, except for those that come too late.
            let is_due = TOO_LATE.iter().any(|words| output.output.for_model.contains(words));
            findings.expect(!refused || is_due, || format!("N3 {} was refused: {}", call.id, output.output.for_model));
            Told::of(&output.output)
        }
    }
}

/// A command has its effect at most once. Reported as done, it has the effect; reported as failed, it does not.
fn command(call: &ToolCall, seen: Option<&Seen<'_>>, (told, n_effects): (Told, u64), findings: &mut Findings) {
    let id = &call.id;
    findings.expect(n_effects <= 1, || format!("N3 {id} had its effect {n_effects} times"));
    findings.expect(n_effects == 0 || seen.is_some_and(|seen| seen.n_started > 0), || {
        format!("N1 {id} had its effect, and its start is not in the journal")
    });
    // A background command may not have got there yet.
    let is_certain = told == Told::Success && !call.arguments.contains("run_in_background");
    findings.expect(!is_certain || n_effects > 0, || format!("N3 {id} was told as done and had no effect"));
    findings
        .expect(told != Told::Failure || n_effects == 0, || format!("N3 {id} was told as failed and had its effect"));
}

/// A change to files is complete if it was reported as done, and absent if it was reported as failed.
fn changes(call: &ToolCall, told: Told, evidence: &Evidence, findings: &mut Findings) {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let new: Vec<&str> = match call.tool.as_str() {
        "Write" => arguments["content"].as_str().into_iter().collect(),
        "Edit" => arguments["new_string"].as_str().into_iter().collect(),
        "MultiEdit" => {
            let edits = arguments["edits"].as_array().into_iter().flatten();
            edits.filter_map(|edit| edit["new_string"].as_str()).collect()
        }
        _ => return,
    };
    let path = arguments["file_path"].as_str().unwrap_or_default();
    let text = evidence.files.get(path).map_or("", String::as_str);
    // A written file holds nothing else.
    let is_there = |new: &&&str| if call.tool == "Write" { text == **new } else { text.contains(**new) };
    let n_there = new.iter().filter(is_there).count();
    let (id, n_new) = (&call.id, new.len());
    findings.expect(n_there == 0 || n_there == n_new, || format!("N9 {id} is in {path} by half: {n_there} of {n_new}"));
    findings
        .expect(told != Told::Success || n_there == n_new, || format!("N9 {id} was told as done and is not in {path}"));
    findings.count.changes += u64::from(told == Told::Success && n_there == n_new);
    findings.expect(told != Told::Failure || n_there == 0, || format!("N9 {id} was told as failed and is in {path}"));
}
