//! `line`: one line when a task is delegated and one when it ends. Its calls are counted, and listed on request.

use sortie_protocol::{Status, TaskOutcome};

use super::{Extent, ProgressStyle, colour_of, hanging};
use crate::render::progress::{Happening, Subject};
use crate::render::progress_style;
use crate::text::paint;

pub(crate) struct OneLine;

impl ProgressStyle for OneLine {
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String> {
        match happening {
            Happening::Several { .. } | Happening::Admitted(_) => Vec::new(),
            Happening::Launched(Subject { name, title, model, .. }) => {
                hanging(&format!("○ Delegating task to sub-agent... {title} · {name} · {model}"), extent)
            }
            Happening::Said(lines) => progress_style::said(lines, extent),
            Happening::Remark { name, text } => progress_style::remark(name, text, extent),
            Happening::Ended { subject, outcome, .. } => {
                let mut lines = hanging(&ending(subject, outcome), extent);
                if let Some(first) = lines.first_mut() {
                    *first = paint(first, colour_of(outcome.status), extent.colour);
                }
                lines
            }
        }
    }
}

fn ending(Subject { name, title, .. }: &Subject, outcome: &TaskOutcome) -> String {
    let mark = if outcome.status == Status::Completed { "●" } else { "✗" };
    let closing = progress_style::closing(outcome).join(" · ");
    format!("{mark} Sub-agent {}: {title} · {name} · {closing}", progress_style::status(outcome))
}
