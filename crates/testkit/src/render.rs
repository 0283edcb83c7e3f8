//! Events as text for snapshots: one line each, reproducible.
//!
//! Task ids become `task-1`, `task-2` in order of appearance, everywhere; times and durations are left out.

use sortie_protocol::{Event, Fact, Reply, Sender, StopReason, TaskId, TaskOutcome};

/// Renders events in the order given.
pub fn render(events: &[Event]) -> String {
    let mut names = Names::default();
    events.iter().map(|event| names.rename(&render_event(event))).collect()
}

fn render_event(event: &Event) -> String {
    let indent = "  ".repeat(event.depth as usize);
    let leg = if event.leg == 1 { String::new() } else { format!(" leg {}", event.leg) };
    format!("{indent}{}{leg} #{} {}\n", event.task_id, event.seq, render_fact(&event.fact))
}

fn render_fact(fact: &Fact) -> String {
    let kind = fact.kind();
    match fact {
        Fact::TaskStarted { job } => format!("{kind} {} {:?}: {:?}", job.config.agent, job.title, job.prompt),
        Fact::TaskResumed { prompt: Some(prompt), config, .. } => format!("{kind} {}: {prompt:?}", config.agent),
        Fact::TaskResumed { prompt: None, config, .. } => format!("{kind} {}", config.agent),
        Fact::TaskAdmitted | Fact::Unknown => kind.to_owned(),
        Fact::ModelCalled { turn, reserved, .. } => {
            let held = reserved.total_tokens();
            format!("{kind} turn {turn}{}", if held == 0 { String::new() } else { format!(" holding {held} tokens") })
        }
        Fact::ModelLost { turn, usage } => format!("{kind} turn {turn}: {} tokens", usage.total_tokens()),
        Fact::ModelRetried { turn, attempt, error, .. } => {
            format!("{kind} turn {turn} attempt {attempt}: {}", error.code)
        }
        Fact::ModelReplied { turn, reply } => format!("{kind} turn {turn}: {}", render_reply(reply)),
        Fact::Compacted { compaction, usage } => {
            let paid = usage.total_tokens();
            format!("{kind} {compaction}{}", if paid == 0 { String::new() } else { format!(" for {paid} tokens") })
        }
        Fact::LimitReached { limit, text } => format!("{kind} {limit}: {text:?}"),
        Fact::Noticed { text }
        | Fact::Reminded { text, .. }
        | Fact::AnswerReturned { text }
        | Fact::MailRead { text, .. }
        | Fact::NotePosted { text } => format!("{kind} {text:?}"),
        Fact::CallStarted { call, idempotent } => {
            let once = if *idempotent { "" } else { " (once)" };
            format!("{kind} {}: {} {}{once}", call.id, call.tool, call.arguments)
        }
        // Its pid and start time differ from run to run.
        Fact::ProcessStarted { call, .. } => format!("{kind} {call}"),
        Fact::CallProgressed { call, text } => format!("{kind} {call}: {text:?}"),
        Fact::ApprovalAsked { call, rule } => format!("{kind} {call}: {rule}"),
        Fact::ApprovalAnswered { call, answer } => format!("{kind} {call}: {answer:?}"),
        Fact::Assisted { model, usage } => format!("{kind} by {}: {} tokens", model.id, usage.total_tokens()),
        Fact::ChildStarted { call, child, background } => {
            format!("{kind} {call}: {child}{}", if *background { " (background)" } else { "" })
        }
        Fact::ChildReleased { call, child } | Fact::OutcomeGiven { call, from: child } => {
            format!("{kind} {call}: {child}")
        }
        Fact::ChildAdopted { child, ended_leg } => {
            format!("{kind} {child}{}", ended_leg.map(|leg| format!(" leg {leg}")).unwrap_or_default())
        }
        Fact::MessageArrived { number, from, text, .. } => format!("{kind} {number} from {}: {text:?}", sender(from)),
        Fact::QuestionAsked { call, to, text } => format!("{kind} {call}: {to:?} {text:?}"),
        Fact::TaskParked { waits_for } => {
            let tasks: Vec<String> = waits_for.iter().map(ToString::to_string).collect();
            format!("{kind} for {}", tasks.join(", "))
        }
        Fact::TaskQueued { needs } => format!("{kind} for {needs}"),
        Fact::ChildEnded { call, child, child_leg } => format!("{kind} {call}: {child} leg {child_leg}"),
        Fact::CallFinished { output, refused } => {
            let manner = match (refused, output.output.failed) {
                (true, _) => " refused",
                (false, true) => " failed",
                (false, false) => "",
            };
            format!("{kind} {}{manner}: {:?}", output.call, output.output.for_model)
        }
        Fact::TaskEnded { outcome } => format!("{kind} {}", render_outcome(outcome)),
    }
}

fn sender(from: &Sender) -> String {
    match from {
        Sender::Person => "a person".to_owned(),
        Sender::Task { task, .. } => task.to_string(),
        Sender::Host => "the host".to_owned(),
    }
}

fn render_reply(reply: &Reply) -> String {
    let mut pieces = Vec::new();
    let text = reply.text();
    if !text.is_empty() {
        pieces.push(format!("{text:?}"));
    }
    pieces.extend(reply.calls().map(|call| format!("{} {} {}", call.id, call.tool, call.arguments)));
    match reply.stop {
        StopReason::End | StopReason::Calls => {}
        StopReason::Length => pieces.push("(cut at the output cap)".to_owned()),
        StopReason::Refusal => pieces.push("(refused)".to_owned()),
        StopReason::NoAnswer => pieces.push("(no answer)".to_owned()),
    }
    if pieces.is_empty() { "nothing".to_owned() } else { pieces.join(" + ") }
}

fn render_outcome(outcome: &TaskOutcome) -> String {
    let mut line = outcome.status.to_string();
    if let Some(reason) = outcome.reason {
        line.push_str(&format!(" ({reason})"));
    }
    if let Some(error) = &outcome.error {
        line.push_str(&format!(" [{}: {}]", error.code, error.message));
    }
    line.push_str(&format!(": {:?}", outcome.text));
    for count in &outcome.tool_summary {
        line.push_str(&format!(" {}×{}", count.tool, count.count));
    }
    if outcome.truncated {
        line.push_str(" truncated");
    }
    for notice in &outcome.notices {
        line.push_str(&format!(" notice {notice:?}"));
    }
    line
}

/// Stable names for the ids seen so far.
#[derive(Default)]
struct Names {
    known: Vec<TaskId>,
}

impl Names {
    /// Replaces every task id in a line, even inside quoted text.
    fn rename(&mut self, line: &str) -> String {
        const PREFIX: &str = "agent-";
        const LETTERS: usize = 12;
        let mut renamed = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find(PREFIX) {
            let id = rest.get(at..at + PREFIX.len() + LETTERS).and_then(|text| text.parse().ok());
            let end = if let Some(id) = id {
                renamed.push_str(&format!("{}task-{}", &rest[..at], self.number(id)));
                at + PREFIX.len() + LETTERS
            } else {
                renamed.push_str(&rest[..at + PREFIX.len()]);
                at + PREFIX.len()
            };
            rest = &rest[end..];
        }
        renamed + rest
    }

    fn number(&mut self, id: TaskId) -> usize {
        let at = self.known.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.known.push(id);
            self.known.len() - 1
        });
        at + 1
    }
}
