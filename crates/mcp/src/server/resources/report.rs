//! The report of a task, whole, even where only a part of it was delivered.

use rmcp::ErrorData;
use sortie_contract::head_line;
use sortie_journal::{TaskHeader, TaskState};
use sortie_protocol::TaskOutcome;
use sortie_tools::Kin as _;

use super::page::Page;
use super::{Records, one_line};

impl Records {
    /// How the newest leg that is over ended, in a head line, and what was reported.
    pub(super) async fn report(&self, header: TaskHeader, mut page: Page) -> Result<Page, ErrorData> {
        let task = header.task_id;
        let ending = self.read(move |journal| journal.ending(task)).await?;
        if !matches!(header.state, TaskState::Ended(_)) {
            page.push(&unfinished(&header, ending.is_some()));
        }
        let Some(outcome) = ending else { return Ok(page) };
        page.push(&head(&outcome));
        // A report has as many characters as there are; the page keeps what it has room for.
        match self.visitor.page(&task.to_string(), 0, usize::MAX).await {
            Ok(whole) => page.push(&whole.text),
            Err(failure) => {
                page.push(&format!("[only what was delivered is left: {}]\n\n", failure.message));
                page.push(&outcome.text);
            }
        }
        Ok(page)
    }
}

fn unfinished(header: &TaskHeader, has_earlier: bool) -> String {
    let state = match header.state {
        TaskState::Interrupted => {
            "was interrupted; a message (SendMessage) or a Task call with `resume` goes on with it"
        }
        _ => "is at work",
    };
    let report = if has_earlier { "what follows is the report before" } else { "it has no report yet" };
    format!("{} {} {state}; {report}\n\n", header.task_id, one_line(&header.agent))
}

fn head(outcome: &TaskOutcome) -> String {
    let mut head = one_line(&head_line(outcome));
    if let Some(error) = &outcome.error {
        head += &format!("\nerror {}: {}", one_line(&error.code), one_line(&error.message));
    }
    for notice in &outcome.notices {
        head += &format!("\nnotice: {}", one_line(notice));
    }
    head + "\n\n"
}
