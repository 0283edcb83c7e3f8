//! N2: every acknowledged message is read once, each answer comes after its question, and nothing is read before it
//! arrived.
//!
//! By agreement with the script, a note contains the id of the call that posts it. No two messages of the person are
//! the same.

use std::collections::HashMap;

use sortie_protocol::{Command, Fact, TaskId, ToolCall};

use super::calls::{Told, calls};
use super::index::{Index, mail_of};
use super::{Evidence, Findings, Stage, TaskLog};

pub(super) fn check(evidence: &Evidence, index: &Index<'_>, stage: Stage, findings: &mut Findings) {
    for log in &evidence.tasks {
        messages(log, stage, findings);
        answers(log, findings);
        for call in calls(log) {
            match call.tool.as_str() {
                "SendMessage" => sent(log, call, index, findings),
                "Note" => posted(log, call, index, findings),
                _ => {}
            }
        }
    }
    commands(evidence, findings);
    for (text, state) in &evidence.receipts {
        let n_arrived = index.said.get(text.as_str()).copied().unwrap_or_default();
        let is_due = match state.as_str() {
            "delivered" => true,
            "kept" => stage == Stage::Ended && goes_on(evidence, index, text),
            _ => false,
        };
        findings.count.receipts += 1;
        findings.expect(!is_due || n_arrived == 1, || {
            format!("N2 the person was told `{state}` of {text:?}, which has arrived {n_arrived} times")
        });
    }
}

/// Each message arrived once, was read once, and not before it arrived.
fn messages(log: &TaskLog, stage: Stage, findings: &mut Findings) {
    let Some(task) = log.task() else { return };
    let mut arrived = HashMap::new();
    let mut read: HashMap<u32, u64> = HashMap::new();
    for event in &log.events {
        if let Fact::MessageArrived { number, text, .. } = &event.fact {
            findings.count.messages += 1;
            let before = arrived.insert(*number, text.lines().next().unwrap_or_default());
            findings.expect(before.is_none(), || format!("N2 message {number} of {task} has come twice"));
        }
        let Some((mail, text)) = mail_of(&event.fact) else { continue };
        for number in &mail.messages {
            *read.entry(*number).or_default() += 1;
            let words = arrived.get(number);
            findings.expect(words.is_some_and(|words| text.contains(words)), || {
                format!("N2 message {number} of {task}, {words:?}, was read as {text:?}")
            });
        }
    }
    for number in arrived.keys() {
        let n_read = read.get(number).copied().unwrap_or_default();
        findings.expect(n_read <= 1, || format!("N2 message {number} of {task} was read {n_read} times"));
        let is_due = stage == Stage::Ended && log.has_read_its_mail();
        findings.expect(n_read > 0 || !is_due, || format!("N2 message {number} of {task} was never read"));
    }
}

/// The answer to a question arrived after it.
fn answers(log: &TaskLog, findings: &mut Findings) {
    let mut asked = HashMap::new();
    let mut came = HashMap::new();
    for event in &log.events {
        match &event.fact {
            Fact::MessageArrived { number, .. } => {
                came.insert(*number, event.seq);
            }
            Fact::QuestionAsked { call, .. } => {
                findings.count.questions += 1;
                let before = asked.insert(call, event.seq);
                findings.expect(before.is_none(), || format!("N2 {call} has asked twice"));
            }
            Fact::CallFinished { output, .. } => {
                let Some(asked_at) = asked.get(&output.call) else { continue };
                for number in &output.output.mail.messages {
                    findings.count.answers += 1;
                    findings.expect(came.get(number).is_some_and(|came_at| came_at > asked_at), || {
                        format!("N2 {} is answered by message {number}, which had come before", output.call)
                    });
                }
            }
            _ => {}
        }
    }
}

/// An agent's message arrives, or resumes its recipient.
fn sent(log: &TaskLog, call: &ToolCall, index: &Index<'_>, findings: &mut Findings) {
    let Some(task) = log.task() else { return };
    let by = |counted: &HashMap<_, u64>| counted.get(&(task, &call.id)).copied().unwrap_or_default();
    // A message may be reported as failed if its recipient got it and was stopped before reading it.
    let told_as_failed = index.output(task, &call.id).map(Told::of) == Some(Told::Failure);
    let n_missed = u64::from(told_as_failed && index.was_missed(task, &call.id));
    let n_sent = by(&index.started) + by(&index.sent);
    once((task, call, "sent"), n_sent.saturating_sub(n_missed), index, findings);
}

fn posted(log: &TaskLog, call: &ToolCall, index: &Index<'_>, findings: &mut Findings) {
    let Some(task) = log.task() else { return };
    let has_id = |fact: &Fact| matches!(fact, Fact::NotePosted { text } if text.contains(&call.id.0));
    let n_posted = log.events.iter().filter(|event| has_id(&event.fact)).count() as u64;
    once((task, call, "posted"), n_posted, index, findings);
}

/// A call has its effect at most once. Reported as done, it had the effect; reported as failed, it did not.
fn once((task, call, done): (TaskId, &ToolCall, &str), times: u64, index: &Index<'_>, findings: &mut Findings) {
    let id = &call.id;
    let told = index.output(task, id).map(Told::of);
    findings.expect(times <= 1, || format!("N3 {id} was {done} {times} times"));
    findings.expect(told != Some(Told::Success) || times > 0, || format!("N3 {id} was told as {done} and was not"));
    findings.expect(told != Some(Told::Failure) || times == 0, || format!("N3 {id} was told as failed and was {done}"));
}

/// A command of another process arrives at most once.
fn commands(evidence: &Evidence, findings: &mut Findings) {
    let mut arrived: HashMap<i64, u64> = HashMap::new();
    for event in evidence.tasks.iter().flat_map(|log| &log.events) {
        if let Fact::MessageArrived { command: Some(command), .. } = &event.fact {
            *arrived.entry(*command).or_default() += 1;
        }
    }
    for (command, n_arrived) in arrived {
        findings.expect(n_arrived == 1, || format!("N3 command {command} has arrived {n_arrived} times"));
    }
}

/// True if the recipient of the person's message ended by its own last reply, and so has received the kept message.
fn goes_on(evidence: &Evidence, index: &Index<'_>, words: &str) -> bool {
    evidence.commands.iter().any(|(_, command)| match command {
        Command::Send { task, text, .. } if text == words => index.log(*task).is_some_and(TaskLog::has_read_its_mail),
        _ => false,
    })
}
