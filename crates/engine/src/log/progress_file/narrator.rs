//! A task's facts in words for people: a few lines at most for each, safe for a terminal.

use sortie_contract::head_line;
use sortie_policy::neutral;
use sortie_protocol::{
    Addressee, ApprovalAnswer, CallId, Fact, Job, Reply, Status, TaskId, TaskOutcome, Timestamp, ToolCall, ToolOutput,
};

/// Longest text shown within one line.
const MAX_CHARS: usize = 200;

/// Describes one task, fact by fact, in the order of its log.
#[derive(Debug, Default)]
pub struct Narrator {
    /// A reply without calls. It is the report if the task ends now, and must not be printed twice.
    last_word: Option<String>,
    /// Lines for calls of the newest reply that have not started. A call that never starts is printed with its output.
    untold: Vec<(CallId, String)>,
    noticed: Vec<String>,
}

impl Narrator {
    /// Returns the text for the next fact: whole lines, or nothing.
    pub fn tell(&mut self, fact: &Fact, time: Timestamp) -> String {
        let last_word = self.last_word.take().filter(|word| !is_told_by(fact, word));
        let before = last_word.map(|word| paragraph(&word)).unwrap_or_default();
        before + &self.words(fact, time)
    }

    fn words(&mut self, fact: &Fact, time: Timestamp) -> String {
        match fact {
            Fact::TaskStarted { job } => started(job, time),
            Fact::TaskResumed { prompt, .. } => {
                let prompt = prompt.as_ref().map(|prompt| format!(": {}", short(prompt))).unwrap_or_default();
                line(&format!("resumed, {time}{prompt}"))
            }
            Fact::ModelReplied { reply, .. } => self.replied(reply),
            Fact::ModelRetried { error, .. } => line(&format!("! retrying the model call: {}", short(&error.message))),
            Fact::AnswerReturned { .. } => line("! the answer does not fit the output schema; asking again"),
            Fact::LimitReached { limit, .. } => line(&format!("! limit reached: {limit}")),
            Fact::CallStarted { call, .. } => {
                self.untold.retain(|(id, _)| *id != call.id);
                called(call)
            }
            Fact::CallProgressed { text, .. } => line(&format!("  … {}", short(text))),
            Fact::CallFinished { output, refused } => {
                let untold = self.untold.iter().position(|(id, _)| *id == output.call);
                let call = untold.map(|at| self.untold.remove(at).1).unwrap_or_default();
                call + &finished(&output.output, *refused)
            }
            Fact::ApprovalAsked { rule, .. } => line(&format!("? approval needed: {}", short(rule))),
            Fact::ApprovalAnswered { answer, .. } => line(answered(*answer)),
            Fact::QuestionAsked { to, text, .. } => {
                let whom = match to {
                    Addressee::Parent => "its parent",
                    Addressee::Person => "the person",
                };
                line(&format!("? asks {whom}: {}", short(text)))
            }
            Fact::MessageArrived { from, text, .. } => {
                line(&format!("@ {}: {}", neutral::line(&from.to_string()), short(text)))
            }
            Fact::NotePosted { text } => line(&format!("# {}", short(text))),
            Fact::ChildStarted { child, background: false, .. } => line(&format!("+ {child}")),
            Fact::ChildStarted { child, background: true, .. } => line(&format!("+ {child}, in the background")),
            Fact::ChildReleased { child, .. } => line(&format!("+ {child} continues in the background")),
            Fact::ChildAdopted { child, .. } => line(&format!("+ {child} adopted")),
            Fact::ChildEnded { child, .. } => line(&format!("- {child} has ended")),
            Fact::TaskParked { waits_for } => line(&format!("… waits for {}", names(waits_for))),
            Fact::TaskQueued { needs } => line(&format!("… waits for {needs}")),
            Fact::Reminded { text, .. } => line(&format!("! {}", short(text))),
            Fact::Compacted { compaction, .. } => line(&format!("… {compaction}")),
            Fact::Noticed { text } => {
                self.noticed.push(text.clone());
                line(&format!("note: {}", neutral::line(text)))
            }
            Fact::TaskEnded { outcome } => self.ended(outcome, time),
            Fact::TaskAdmitted
            | Fact::ModelCalled { .. }
            | Fact::ModelLost { .. }
            | Fact::ProcessStarted { .. }
            | Fact::Assisted { .. }
            | Fact::MailRead { .. }
            // A notice covers it.
            | Fact::OutcomeGiven { .. }
            | Fact::Unknown => String::new(),
        }
    }

    fn replied(&mut self, reply: &Reply) -> String {
        let text = reply.text();
        self.untold = reply.calls().map(|call| (call.id.clone(), called(call))).collect();
        if !self.untold.is_empty() {
            return paragraph(&text);
        }
        self.last_word = Some(text);
        String::new()
    }

    fn ended(&mut self, outcome: &TaskOutcome, time: Timestamp) -> String {
        let mut text = format!("\n{}, {time}\n", neutral::line(&head_line(outcome)));
        if let Some(error) = &outcome.error {
            text += &line(&format!("{}: {}", neutral::line(error.code.as_str()), neutral::line(&error.message)));
        }
        // The next leg prints its notices anew.
        let noticed = std::mem::take(&mut self.noticed);
        for notice in outcome.notices.iter().filter(|notice| !noticed.contains(notice)) {
            text += &line(&format!("note: {}", neutral::line(notice)));
        }
        if !outcome.files_changed.is_empty() {
            text += &line(&format!("changed: {}", neutral::line(&outcome.files_changed.join(", "))));
        }
        let report = paragraph(&outcome.text);
        let report =
            if report.is_empty() && outcome.status == Status::Completed { line("(no report)") } else { report };
        text + "\n" + &report
    }
}

/// Returns true if a reply need not be printed, because the next fact repeats it.
fn is_told_by(fact: &Fact, word: &str) -> bool {
    match fact {
        // A cut report names the file that has all of it.
        Fact::TaskEnded { outcome } => outcome.truncated || outcome.text.trim() == word.trim(),
        _ => false,
    }
}

fn started(job: &Job, time: Timestamp) -> String {
    let (config, model) = (&job.config, &job.config.model);
    let who = format!("{} {} on {} ({}), {time}", job.task, config.agent, model.route, model.id);
    line(&neutral::line(&who)) + &line(&short(&job.title)) + "\n"
}

fn called(call: &ToolCall) -> String {
    let arguments = match call.arguments.trim() {
        "{}" => String::new(),
        arguments => format!(" {}", short(arguments)),
    };
    line(&format!("> {}{arguments}", neutral::line(&call.tool)))
}

fn finished(output: &ToolOutput, refused: bool) -> String {
    let how = match (refused, output.failed) {
        (true, _) => "refused: ",
        (false, true) => "failed: ",
        (false, false) => "",
    };
    line(&format!("  {how}{}", short(&output.for_people)))
}

fn answered(answer: ApprovalAnswer) -> &'static str {
    match answer {
        ApprovalAnswer::Once => "? yes, once",
        ApprovalAnswer::Tree => "? yes, for this run",
        ApprovalAnswer::Always => "? yes, always",
        ApprovalAnswer::No => "? no",
    }
}

fn names(tasks: &[TaskId]) -> String {
    let names: Vec<String> = tasks.iter().map(TaskId::to_string).collect();
    names.join(", ")
}

/// Returns a text of several lines; empty if it is blank.
fn paragraph(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { line(&neutral::block(text.trim_end())) }
}

fn line(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// Returns the beginning of a text, in one line.
fn short(text: &str) -> String {
    // Looks at no more of a long text than it could show.
    let end = text.char_indices().nth(4 * MAX_CHARS).map_or(text.len(), |(at, _)| at);
    let text = neutral::line(&text[..end]) + if end < text.len() { "…" } else { "" };
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
