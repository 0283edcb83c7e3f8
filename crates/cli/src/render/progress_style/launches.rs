//! `boxes` in the words of the contract `typed`: "Launching Subagent" and "Subagent Result" boxes.

use sortie_contract::{Contract as _, Typed};
use sortie_protocol::{Status, TaskOutcome, Timestamp};

use super::boxes::{LAUNCH, painted_box};
use super::{Extent, ProgressStyle, colour_of, working_line};
use crate::render::progress::{Happening, Subject, Working};
use crate::render::progress_style;

/// Lines of a report that its box shows; a short report is shown whole.
const REPORT_LINES: usize = 10;

pub(crate) struct Launches;

impl ProgressStyle for Launches {
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String> {
        match happening {
            Happening::Several { count, kind: Some(kind) } => {
                vec![format!("[Launching {count} {kind} agents in parallel...]")]
            }
            Happening::Several { count, kind: None } => vec![format!("[Launching {count} agents in parallel...]")],
            Happening::Launched(subject) => launch(subject, extent),
            // On a terminal, the line is drawn at the bottom while it is true.
            Happening::Admitted(subject) if subject.place.is_none() && !extent.redraws => vec![working(subject)],
            Happening::Admitted(_) => Vec::new(),
            Happening::Said(lines) => progress_style::said(lines, extent),
            Happening::Remark { name, text } => progress_style::remark(name, text, extent),
            Happening::Ended { subject, outcome, .. } => {
                let (title, mut lines) = match subject.place {
                    Some(place) => (format!("Agent {place}: {}", subject.title), of_several(outcome)),
                    None => ("Subagent Result".to_owned(), of_one(outcome)),
                };
                lines.extend(progress_style::error(outcome));
                let mut rows = painted_box(&[&title], &lines, colour_of(outcome.status), extent);
                let notes = progress_style::notes(outcome);
                rows.extend(notes.flat_map(|note| progress_style::hanging(&format!("  {note}"), extent)));
                rows
            }
        }
    }

    fn working(&self, task: &Working, now: Timestamp, columns: usize) -> Vec<String> {
        let subject = &task.subject;
        let head = match subject.place {
            Some(place) => format!("Agent {place}: {} {}", subject.title, working(subject)),
            None => working(subject),
        };
        vec![working_line(&head, task, now, columns)]
    }
}

/// Box of a launch. One of several was announced with the others, and has a box only if there is more to say.
fn launch(subject: &Subject, extent: Extent) -> Vec<String> {
    if subject.place.is_some() {
        return Vec::new();
    }
    let Subject { kind, title, asked_model, .. } = subject;
    let lines = [format!("Type: {kind}"), format!("Task: {title}"), format!("Model: {asked_model}")];
    painted_box(&["Launching Subagent"], &lines, LAUNCH, extent)
}

fn working(subject: &Subject) -> String {
    format!("[{} agent working...]", subject.kind)
}

/// Extra lines of a single result that is not a full success.
fn of_one(outcome: &TaskOutcome) -> Vec<String> {
    let status = (outcome.status != Status::Completed).then(|| status(outcome));
    status.into_iter().chain(progress_style::beginning(&outcome.text, REPORT_LINES)).collect()
}

fn of_several(outcome: &TaskOutcome) -> Vec<String> {
    let mut report = progress_style::beginning(&outcome.text, REPORT_LINES);
    if let Some(first) = report.first_mut().filter(|first| !first.starts_with("Found")) {
        first.insert_str(0, "Found: ");
    }
    std::iter::once(status(outcome)).chain(report).collect()
}

/// `Status: Completed`: one of the three words that `typed` specifies, then the detail that no later line gives.
fn status(outcome: &TaskOutcome) -> String {
    let ours = outcome.status.to_string();
    let (first, rest) = Typed.status_word(&ours).split_at(1);
    let why = match (outcome.status, outcome.reason) {
        (Status::Partial, Some(limit)) => format!(" ({})", limit.clause()),
        (Status::Cancelled, _) => " (cancelled)".to_owned(),
        (Status::Interrupted, _) => " (interrupted)".to_owned(),
        _ => String::new(),
    };
    format!("Status: {}{rest}{why}", first.to_uppercase())
}
