//! Progress as plain lines: no boxes, no escapes, nothing redrawn.

use super::look::{self, Extent, Look};
use super::progress::{Happening, Subject};
use super::{neutral, words};

pub(crate) struct Plain;

impl Look for Plain {
    fn lasting(&self, happening: &Happening, _extent: Extent) -> Vec<String> {
        match happening {
            Happening::Several { .. } | Happening::Admitted(_) => Vec::new(),
            Happening::Launched(Subject { name, title, model, .. }) => {
                vec![format!("{name} started: {title} · {model}")]
            }
            Happening::Said(lines) => lines.clone(),
            Happening::Remark { name, text } => vec![format!("{name}: {text}")],
            Happening::Ended { subject, outcome, .. } => {
                let error = match &outcome.error {
                    Some(error) => format!(": {}: {}", neutral::line(&error.code), neutral::line(&error.message)),
                    None => String::new(),
                };
                let (name, usage) = (&subject.name, words::usage(&outcome.usage));
                vec![format!("{name} {}{error} · {usage}", look::status(outcome))]
            }
        }
    }
}
