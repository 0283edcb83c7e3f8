//! The full report of a task, even if only part of it was delivered.

use sortie_contract::head_line;
use sortie_journal::{TaskHeader, TaskState};
use sortie_protocol::TaskOutcome;

use crate::resources::page::{Page, one_line};

/// The newest finished leg.
pub(super) struct Ended {
    pub(super) outcome: TaskOutcome,
    /// The full report, or the reason why only the delivered part is left.
    pub(super) text: Result<String, String>,
}

/// Writes a head line about the end of the newest finished leg, and its report.
pub(super) fn write(header: &TaskHeader, ended: Option<Ended>, mut page: Page) -> Page {
    if !matches!(header.state, TaskState::Ended(_)) {
        page.push(&unfinished(header, ended.as_ref()));
    }
    let Some(Ended { outcome, text }) = ended else { return page };
    page.push(&head(&outcome));
    // The report is complete; the page keeps as much as fits.
    match text {
        Ok(whole) => page.push(&whole),
        Err(why) => {
            page.push(&format!("[only the delivered part is left: {why}]\n\n"));
            page.push(&outcome.text);
        }
    }
    page
}

fn unfinished(header: &TaskHeader, earlier: Option<&Ended>) -> String {
    let state = match header.state {
        TaskState::Interrupted => "was interrupted; a message to it or a Task call with `resume` resumes it",
        _ => "is at work",
    };
    let report = if earlier.is_some() { "what follows is the report before" } else { "it has no report yet" };
    format!("{} {} {state}; {report}\n\n", header.task_id, one_line(&header.agent))
}

fn head(outcome: &TaskOutcome) -> String {
    let mut head = one_line(&head_line(outcome));
    if let Some(error) = &outcome.error {
        head += &format!("\nerror {}: {}", one_line(error.code.as_str()), one_line(&error.message));
    }
    for notice in &outcome.notices {
        head += &format!("\nnotice: {}", one_line(notice));
    }
    head + "\n\n"
}
