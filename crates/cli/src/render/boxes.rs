//! `boxes`: a box for each launch and one for each result.

use anstyle::{AnsiColor, Style};

use super::frame::boxed;
use super::look::{self, Extent, Look, colour_of, paint};
use super::progress::Happening;

/// Lines of a report that its box shows.
pub(super) const REPORT_LINES: usize = 3;
pub(super) const LAUNCH: Style = AnsiColor::Cyan.on_default();

/// In the words of `sortie`: agent and task id in the edge.
pub(crate) struct Boxes;

impl Look for Boxes {
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String> {
        match happening {
            Happening::Several { .. } | Happening::Admitted(_) => Vec::new(),
            Happening::Launched(subject) => {
                let lines = [format!("Task: {}", subject.title), format!("Model: {}", subject.model)];
                painted_box(&subject.name.replacen(' ', " · ", 1), &lines, LAUNCH, extent)
            }
            Happening::Said(lines) => look::said(lines, extent),
            Happening::Remark { name, text } => look::remark(name, text, extent),
            Happening::Ended { subject, outcome, .. } => {
                let title = format!("{} · {}", look::status(outcome), subject.name.replacen(' ', " · ", 1));
                let mut lines = look::beginning(&outcome.text, REPORT_LINES);
                lines.extend(look::closing(outcome));
                painted_box(&title, &lines, colour_of(outcome.status), extent)
            }
        }
    }
}

pub(super) fn painted_box(title: &str, lines: &[String], style: Style, extent: Extent) -> Vec<String> {
    let mut rows = boxed(title, lines, extent.columns.saturating_sub(1));
    if let Some(edge) = rows.first_mut() {
        *edge = paint(edge, style, extent.colour);
    }
    rows
}
