//! N7 and N2 at the model's side: every request sent was valid, and tells its task what the log says, once.

use std::collections::HashMap;

use serde_json::Value;
use sortie_protocol::{CallOutput, Fact};

use super::{Evidence, Findings, Stage, TaskLog};

pub(super) fn check(evidence: &Evidence, stage: Stage, findings: &mut Findings) {
    for status in &evidence.refusals {
        findings.breach(format!("N7 the server answered a request with status {status}"));
    }
    let mut last: HashMap<&str, &Value> = HashMap::new();
    for (index, body) in evidence.requests.iter().enumerate() {
        findings.count.requests += 1;
        if let Err(why) = pairing(body) {
            findings.breach(format!("N7 request {index}: {why}"));
        }
        last.insert(prompt(body), body);
    }
    if stage == Stage::Ended {
        for log in &evidence.tasks {
            if let Some(request) = log.job().and_then(|job| last.get(job.prompt.as_str())) {
                conversation(log, request, findings);
            }
        }
    }
}

/// Checks that each call of a conversation (in the form of Chat Completions) has one output, after it and in order.
fn pairing(body: &Value) -> Result<(), String> {
    let mut unanswered: Vec<&str> = Vec::new();
    let messages = body["messages"].as_array().ok_or("it has no messages")?;
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let answered = message["tool_call_id"].as_str().unwrap_or_default();
            if unanswered.first() != Some(&answered) {
                return Err(format!("message {index} answers {answered}, due are {unanswered:?}"));
            }
            unanswered.remove(0);
            continue;
        }
        if !unanswered.is_empty() {
            return Err(format!("message {index} ({role}) comes before the outputs of {unanswered:?}"));
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        unanswered = calls.filter_map(|call| call["id"].as_str()).collect();
    }
    let ends_well = messages.last().is_some_and(|last| last["role"] != "assistant");
    match unanswered.is_empty() {
        true if ends_well => Ok(()),
        true => Err("the model is asked for an answer to its own".to_owned()),
        false => Err(format!("{unanswered:?} have no output")),
    }
}

/// Returns the first user message, which identifies the task.
fn prompt(body: &Value) -> &str {
    let mut messages = body["messages"].as_array().into_iter().flatten();
    let first = messages.find(|message| message["role"] == "user");
    first.and_then(|message| message["content"].as_str()).unwrap_or_default()
}

/// Checks that the last request of each task contains everything that the task was told since the last compaction, once
/// and in place. The last items may have come too late for it.
fn conversation(log: &TaskLog, request: &Value, findings: &mut Findings) {
    let messages = || request["messages"].as_array().into_iter().flatten();
    let of = |role: &'static str| messages().filter(move |message| message["role"] == role);
    let content = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let last_reply = log.events.iter().rposition(|event| matches!(event.fact, Fact::ModelReplied { .. }));
    let told = &log.events[..last_reply.unwrap_or_default()];
    let shortened = told.iter().rposition(|event| matches!(event.fact, Fact::Compacted { .. }));
    for event in &told[shortened.unwrap_or_default()..] {
        let (what, n_told) = match &event.fact {
            Fact::MailRead { text, .. } => ("mail", of("user").filter(|one| content(one).contains(text)).count()),
            Fact::TaskResumed { prompt: Some(text), .. } => {
                ("follow-up", of("user").filter(|one| content(one).contains(text)).count())
            }
            Fact::CallFinished { output, .. } => {
                let CallOutput { call, output } = output;
                let is_it = |one: &&Value| one["tool_call_id"] == call.0 && content(one).contains(&output.for_model);
                ("output", of("tool").filter(is_it).count())
            }
            _ => continue,
        };
        findings.expect(n_told == 1, || {
            format!("N2 the {what} of event {} of {} is {n_told} times in its conversation", event.seq, event.task_id)
        });
    }
}
