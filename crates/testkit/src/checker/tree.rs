//! N1, N2 and N5: what was shown is in the journal, each leg ends once, each child reaches its parent once, and what a tree
//! has used is what its replies have.

use std::collections::HashMap;

use sortie_journal::TaskState;
use sortie_protocol::{Event, Fact, Status, TaskId};

use super::{Evidence, Findings, Stage, TaskLog};

pub(super) fn check(evidence: &Evidence, stage: Stage, findings: &mut Findings) {
    shown(evidence, findings);
    for task in &evidence.tasks {
        findings.count.tasks += 1;
        findings.count.events += task.events.len() as u64;
        legs(task, stage, findings);
        children(task, evidence, stage, findings);
    }
    if stage == Stage::Ended {
        figures(evidence, findings);
    }
}

/// N1: what somebody outside has seen must not be gone, nor be another.
fn shown(evidence: &Evidence, findings: &mut Findings) {
    let kept: HashMap<(TaskId, u64), &Event> =
        evidence.tasks.iter().flat_map(|task| &task.events).map(|event| ((event.task_id, event.seq), event)).collect();
    for event in &evidence.shown {
        findings.count.shown += 1;
        let found = kept.get(&(event.task_id, event.seq)).copied();
        let name = || format!("event {} of {} ({})", event.seq, event.task_id, event.fact.kind());
        match found {
            None => findings.breach(format!("N1 {} was shown and is not in the journal", name())),
            // As they are written: what is not stored is not compared.
            Some(found) if json(found) != json(event) => {
                findings.breach(format!("N1 {} was shown and is another in the journal", name()));
            }
            Some(_) => {}
        }
    }
}

fn json(event: &Event) -> serde_json::Value {
    serde_json::to_value(event).unwrap_or_default()
}

/// N2: a leg has one ending, and a run that is over has no open leg.
fn legs(task: &TaskLog, stage: Stage, findings: &mut Findings) {
    let mut endings: HashMap<u32, u32> = HashMap::new();
    for event in &task.events {
        match &event.fact {
            Fact::TaskEnded { outcome } => {
                *endings.entry(event.leg).or_default() += 1;
                findings.expect(matches!(outcome.status, Status::Completed | Status::Partial), || {
                    let error = outcome.error.as_ref().map(ToString::to_string).unwrap_or_default();
                    format!("N2 {} did not complete: {:?} {error}", event.task_id, outcome.status)
                });
            }
            Fact::TaskResumed { .. } => findings.count.takeovers += 1,
            _ => {}
        }
    }
    let Some(first) = task.events.first() else { return };
    for (leg, n_endings) in endings {
        findings.expect(n_endings == 1, || format!("N2 leg {leg} of {} has {n_endings} endings", first.task_id));
    }
    let is_over = matches!(task.state, TaskState::Ended(_));
    findings.expect(is_over || stage == Stage::Killed, || {
        format!("N2 {} has no ending although the run is over: {:?}", first.task_id, task.state)
    });
}

/// N2: what a child came to stands in its parent's log once, and in the output of the call that it answers.
fn children(task: &TaskLog, evidence: &Evidence, stage: Stage, findings: &mut Findings) {
    let started: Vec<_> = task
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::ChildStarted { call, child, .. } => Some((call, *child)),
            _ => None,
        })
        .collect();
    for (call, child) in &started {
        let same_call = started.iter().filter(|(other, _)| other == call).count();
        findings.expect(same_call == 1, || format!("N2 {call} was answered by {same_call} children"));
        let is_delivery = |fact: &Fact| matches!(fact, Fact::ChildEnded { child: ended, .. } if ended == child);
        let n_delivered = task.events.iter().filter(|event| is_delivery(&event.fact)).count();
        let endings = endings(evidence, *child);
        let n_endings = endings.len();
        findings.expect(n_delivered == n_endings, || {
            format!("N2 {child} ended {n_endings} times and was delivered {n_delivered} times")
        });
        let output = task.events.iter().find_map(|event| match &event.fact {
            Fact::CallFinished { output, .. } if output.call == **call => Some(&output.output.for_model),
            _ => None,
        });
        match (output, endings.first()) {
            (Some(output), Some(text)) => findings.expect(output.matches(*text).count() == 1, || {
                format!("N2 the output of {call} does not hold the report of {child} once: {output:?}")
            }),
            (Some(_), None) => findings.breach(format!("N2 {call} has an output before {child} has ended")),
            (None, _) => findings.expect(stage == Stage::Killed, || format!("N2 {call} has no output")),
        }
    }
}

/// What a task has reported, leg by leg.
fn endings(evidence: &Evidence, task: TaskId) -> Vec<&str> {
    let events = evidence.tasks.iter().flat_map(|log| &log.events).filter(|event| event.task_id == task);
    events
        .filter_map(|event| match &event.fact {
            Fact::TaskEnded { outcome } => Some(outcome.text.as_str()),
            _ => None,
        })
        .collect()
}

/// N5: a tree has used what its recorded replies have, no less and not twice.
fn figures(evidence: &Evidence, findings: &mut Findings) {
    let events = || evidence.tasks.iter().flat_map(|task| &task.events);
    let (mut tokens, mut turns, mut told) = (0, 0, None);
    for event in events() {
        match &event.fact {
            Fact::ModelReplied { reply, .. } => {
                tokens += reply.usage.total_tokens();
                turns += 1;
            }
            Fact::ModelRetried { usage, .. } => tokens += usage.total_tokens(),
            Fact::TaskEnded { outcome } if event.depth == 0 => {
                told = Some((outcome.usage.total_tokens(), outcome.usage.turns));
            }
            _ => {}
        }
    }
    findings.expect(told == Some((tokens, turns)), || {
        format!("N5 the tree says that it used {told:?} tokens and turns, its replies say {tokens} and {turns}")
    });
}
