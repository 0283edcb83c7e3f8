//! N7 and N2 at the model's side: every request that left the process was whole, and has each report once.

use std::collections::HashMap;

use serde_json::Value;
use sortie_protocol::Fact;

use super::{Evidence, Findings, Stage};

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
        reports(evidence, &last, findings);
    }
}

/// Whether each call of a conversation (in the form of Chat Completions) has one output, behind it and in its order.
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

/// The first thing that the user said, which tells tasks apart.
fn prompt(body: &Value) -> &str {
    let mut messages = body["messages"].as_array().into_iter().flatten();
    let first = messages.find(|message| message["role"] == "user");
    first.and_then(|message| message["content"].as_str()).unwrap_or_default()
}

/// The last request of each task has the reports of all its children once.
fn reports(evidence: &Evidence, last: &HashMap<&str, &Value>, findings: &mut Findings) {
    let jobs = evidence.tasks.iter().filter_map(|task| match task.events.first().map(|event| &event.fact) {
        Some(Fact::TaskStarted { job }) => Some((job, task)),
        _ => None,
    });
    let prompts: HashMap<_, _> = jobs.clone().map(|(job, _)| (job.task, job.prompt.as_str())).collect();
    for (job, task) in jobs {
        let Some(parents_prompt) = job.parent.and_then(|parent| prompts.get(&parent)) else { continue };
        let report = task.events.iter().rev().find_map(|event| match &event.fact {
            Fact::TaskEnded { outcome } => Some(outcome.text.as_str()),
            _ => None,
        });
        let (Some(report), Some(request)) = (report, last.get(parents_prompt)) else { continue };
        let outputs = request["messages"].as_array().into_iter().flatten().filter(|message| message["role"] == "tool");
        let n_told =
            outputs.filter(|output| output["content"].as_str().is_some_and(|text| text.contains(report))).count();
        findings.expect(n_told == 1, || {
            format!("N2 the report of {} is {n_told} times in its parent's conversation", job.task)
        });
    }
}
