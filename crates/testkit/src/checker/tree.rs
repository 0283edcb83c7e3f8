//! N1, N2 and N5: shown events are in the journal, each leg ends once and rightly, and a tree's usage is that of its
//! replies.

use std::collections::HashMap;

use sortie_journal::TaskState;
use sortie_protocol::{Event, Fact, FailureCode, Limit, Status, TaskId};

use super::index::Index;
use super::{Evidence, Findings, Stage, TaskLog};

/// Failures that the scripts provoke: a withheld reply, and a limit without a report.
const ASKED_FOR: [FailureCode; 2] = [FailureCode::Refusal, FailureCode::Limit(Limit::Turns)];

pub(super) fn check(evidence: &Evidence, index: &Index<'_>, stage: Stage, findings: &mut Findings) {
    shown(evidence, findings);
    for task in &evidence.tasks {
        findings.count.tasks += 1;
        findings.count.events += task.events.len() as u64;
        legs(task, index, stage, findings);
    }
    if stage == Stage::Ended {
        figures(evidence, findings);
    }
}

/// N1: an event seen outside must be in the journal, unchanged.
fn shown(evidence: &Evidence, findings: &mut Findings) {
    let kept: HashMap<(TaskId, u64), &Event> =
        evidence.tasks.iter().flat_map(|task| &task.events).map(|event| ((event.task_id, event.seq), event)).collect();
    for event in &evidence.shown {
        findings.count.shown += 1;
        let found = kept.get(&(event.task_id, event.seq)).copied();
        let name = || format!("event {} of {} ({})", event.seq, event.task_id, event.fact.kind());
        match found {
            None => findings.breach(format!("N1 {} was shown and is not in the journal", name())),
            // Compared in serialised form, because only that is stored.
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

/// N2: a leg has one ending, and a finished run has no open leg. Only stopped tasks are cancelled, and tasks fail only
/// if the script provokes it.
fn legs(task: &TaskLog, index: &Index<'_>, stage: Stage, findings: &mut Findings) {
    let mut endings: HashMap<u32, u32> = HashMap::new();
    for event in &task.events {
        let count = &mut findings.count;
        match &event.fact {
            Fact::TaskEnded { outcome } => {
                *endings.entry(event.leg).or_default() += 1;
                count.stops += u64::from(outcome.status == Status::Cancelled);
                let is_right = match outcome.status {
                    Status::Completed | Status::Partial => true,
                    Status::Cancelled => index.is_stopped(task),
                    Status::Failed => outcome.error.as_ref().is_some_and(|error| ASKED_FOR.contains(&error.code)),
                    // Neither is ever the ending of a task that has run.
                    Status::Interrupted | Status::Rejected => false,
                };
                findings.expect(is_right, || {
                    let error = outcome.error.as_ref().map(ToString::to_string).unwrap_or_default();
                    format!("N2 {} did not complete: {:?} {error}", event.task_id, outcome.status)
                });
            }
            Fact::TaskResumed { prompt, .. } => {
                count.takeovers += 1;
                count.follow_ups += u64::from(prompt.is_some());
            }
            Fact::ChildReleased { .. } => count.releases += 1,
            Fact::ChildAdopted { .. } => count.adoptions += 1,
            Fact::TaskParked { .. } => count.parked += 1,
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

/// N5: a tree's usage is that of the calls in its log, no less and not twice. A lost call has used its reservation.
fn figures(evidence: &Evidence, findings: &mut Findings) {
    let mut used: HashMap<TaskId, (u64, u64)> = HashMap::new();
    for log in &evidence.tasks {
        let Some(root) = log.job().map(|job| job.root) else { continue };
        let (tokens, turns) = used.entry(root).or_default();
        let mut held = 0;
        for event in &log.events {
            match &event.fact {
                Fact::ModelCalled { reserved, .. } => *tokens += std::mem::replace(&mut held, reserved.total_tokens()),
                Fact::ModelReplied { reply, .. } => {
                    *tokens += reply.usage.total_tokens();
                    *turns += 1;
                    held = 0;
                }
                Fact::Compacted { usage, .. } if usage.is_nothing() => {}
                Fact::ModelLost { usage, .. } | Fact::Compacted { usage, .. } => {
                    *tokens += usage.total_tokens();
                    held = 0;
                }
                Fact::ModelRetried { usage, .. } | Fact::Assisted { usage, .. } => *tokens += usage.total_tokens(),
                _ => {}
            }
        }
        *tokens += held;
    }
    for log in &evidence.tasks {
        let Some((root, (_, outcome))) = log.task().zip(log.endings().last()) else { continue };
        let Some(used) = used.get(&root) else { continue };
        let told = (outcome.usage.total_tokens(), outcome.usage.turns);
        findings.expect(told == *used, || {
            format!("N5 a tree says that it used {told:?} tokens and turns, its log says {used:?}")
        });
    }
}
