//! `line`: one line when a task is delegated and one when it is over; what it calls in between is counted, and listed
//! only for who asks.

use sortie_protocol::{Status, TaskOutcome};

use super::look::{self, Extent, Look, colour_of, hanging, paint};
use super::progress::{Happening, Subject};

pub(crate) struct OneLine;

impl Look for OneLine {
    fn lasting(&self, happening: &Happening, extent: Extent) -> Vec<String> {
        match happening {
            Happening::Several { .. } | Happening::Admitted(_) => Vec::new(),
            Happening::Launched(Subject { name, title, model, .. }) => {
                hanging(&format!("○ Delegating task to sub-agent... {title} · {name} · {model}"), extent)
            }
            Happening::Said(lines) => look::said(lines, extent),
            Happening::Remark { name, text } => look::remark(name, text, extent),
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
    let closing = look::closing(outcome).join(" · ");
    format!("{mark} Sub-agent {}: {title} · {name} · {closing}", look::status(outcome))
}
