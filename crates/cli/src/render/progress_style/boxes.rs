//! `boxes`: a box for each launch and one for each result.

use anstyle::{AnsiColor, Style};

use super::{Extent, ProgressStyle, colour_of};
use crate::render::progress::Happening;
use crate::render::progress_style;
use crate::text::frame::{boxed, inner_columns, title_columns};
use crate::text::{paint, width};

/// Lines of a report that its box shows.
const REPORT_LINES: usize = 3;
pub(super) const LAUNCH: Style = AnsiColor::Cyan.on_default();

/// Boxes in the words of `sortie`: agent and task id in the edge.
pub(crate) struct Boxes;

impl ProgressStyle for Boxes {
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String> {
        match happening {
            Happening::Several { .. } | Happening::Admitted(_) => Vec::new(),
            Happening::Launched(subject) => {
                let lines = [format!("Task: {}", subject.title), format!("Model: {}", subject.model)];
                painted_box(&name_parts(&subject.name), &lines, LAUNCH, extent)
            }
            Happening::Said(lines) => progress_style::said(lines, extent),
            Happening::Remark { name, text } => progress_style::remark(name, text, extent),
            Happening::Ended { subject, outcome, .. } => {
                let status = progress_style::status(outcome);
                let head: Vec<&str> = [status.as_str()].into_iter().chain(name_parts(&subject.name)).collect();
                let mut lines = progress_style::beginning(&outcome.text, REPORT_LINES);
                lines.extend(progress_style::closing(outcome));
                painted_box(&head, &lines, colour_of(outcome.status), extent)
            }
        }
    }
}

/// The agent and its task, where both are in the name.
fn name_parts(name: &str) -> Vec<&str> {
    name.splitn(2, ' ').collect()
}

/// A box with as many parts of its head in its edge as fit there. Each other part has lines of its own, so that
/// nothing by which boxes are told apart is cut.
pub(super) fn painted_box(head: &[&str], lines: &[String], style: Style, extent: Extent) -> Vec<String> {
    let columns = extent.columns.saturating_sub(1);
    let in_edge = (1..=head.len()).rev().find(|count| fits(&head[..*count], columns)).unwrap_or(1).min(head.len());
    let (title, below) = head.split_at(in_edge);
    let below = below.iter().flat_map(|part| width::wrap(part, inner_columns(columns)));
    let lines: Vec<String> = below.chain(lines.iter().cloned()).collect();
    let mut rows = boxed(&title.join(" · "), &lines, columns);
    if let Some(edge) = rows.first_mut() {
        *edge = paint(edge, style, extent.colour);
    }
    rows
}

fn fits(parts: &[&str], columns: usize) -> bool {
    width::of(&parts.join(" · ")) <= title_columns(columns)
}
