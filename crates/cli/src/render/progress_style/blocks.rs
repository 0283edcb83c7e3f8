//! `blocks`: a block for each sub-agent, with its name, its status and its last messages.
//!
//! On a terminal, a block changes in place. Elsewhere, a line reports each change of status, and the block is written
//! at the end.

use sortie_protocol::{Status, TaskOutcome, Timestamp};

use super::{Extent, ProgressStyle, colour_of, working_line};
use crate::render::progress::messages::Messages;
use crate::render::progress::{Happening, Subject, Working};
use crate::render::progress_style;
use crate::text::{paint, width, words};

const COLLAPSED: usize = 2;
const EXPANDED: usize = crate::render::progress::messages::KEPT;

const INITIALIZING: &str = "○ initializing";
const ACTIVE: &str = "◐ active";

pub(crate) struct Blocks {
    pub(crate) expanded: bool,
}

impl ProgressStyle for Blocks {
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String> {
        match happening {
            Happening::Launched(subject) if !extent.redraws => vec![heading(INITIALIZING, subject)],
            Happening::Admitted(subject) if !extent.redraws => vec![heading(ACTIVE, subject)],
            Happening::Several { .. } | Happening::Launched(_) | Happening::Admitted(_) => Vec::new(),
            Happening::Said(lines) => progress_style::said(lines, extent),
            Happening::Remark { name, text } => progress_style::remark(name, text, extent),
            Happening::Ended { subject, outcome, messages } => {
                let mut lines = vec![heading(&ended(outcome), subject)];
                lines.extend(self.body(subject, messages));
                lines.extend(progress_style::closing(outcome).into_iter().map(|line| format!("│ {line}")));
                close(&mut lines);
                if extent.redraws {
                    lines = lines.iter().map(|line| width::cut(line, extent.columns.saturating_sub(1))).collect();
                }
                if let Some(first) = lines.first_mut() {
                    *first = paint(first, colour_of(outcome.status), extent.colour);
                }
                lines
            }
        }
    }

    fn working(&self, task: &Working, now: Timestamp, columns: usize) -> Vec<String> {
        let Working { subject, messages, .. } = task;
        if !task.shown {
            return vec![working_line(&format!("{} working…", subject.name), task, now, columns)];
        }
        let status = if task.queued { INITIALIZING } else { ACTIVE };
        let elapsed = words::elapsed(now.0.saturating_sub(task.since.0));
        let calls = words::calls_with_failed(task.calls, task.failed_calls);
        let mut lines = vec![format!("{} · {calls} · {elapsed}", heading(status, subject))];
        lines.extend(self.body(subject, messages));
        close(&mut lines);
        lines
    }
}

impl Blocks {
    fn body(&self, subject: &Subject, messages: &Messages) -> Vec<String> {
        let latest: Vec<&str> = messages.latest(if self.expanded { EXPANDED } else { COLLAPSED }).collect();
        let earlier = match messages.count() - latest.len() {
            0 => None,
            1 => Some("│ … 1 earlier message".to_owned()),
            more => Some(format!("│ … {more} earlier messages")),
        };
        let head = format!("│ {} · {}", subject.title, subject.model);
        let latest = latest.iter().map(|message| format!("│ {message}"));
        std::iter::once(head).chain(earlier).chain(latest).collect()
    }
}

fn heading(status: &str, subject: &Subject) -> String {
    format!("{status} · {}", subject.name)
}

/// Closes the block with its last line.
fn close(lines: &mut [String]) {
    if let Some(last) = lines.last_mut() {
        *last = last.replacen('│', "└", 1);
    }
}

/// Ending in one word: a limit is not a success, and a cancelled task did not fail.
fn ended(outcome: &TaskOutcome) -> String {
    match (outcome.status, outcome.reason) {
        (Status::Completed, _) => "● completed".to_owned(),
        (Status::Interrupted, _) => "⊘ interrupted".to_owned(),
        (Status::Cancelled, _) => "⊘ aborted".to_owned(),
        (Status::Partial, Some(limit)) => format!("✗ error: {}", limit.clause()),
        (Status::Partial | Status::Failed | Status::Rejected, _) => "✗ error".to_owned(),
    }
}
