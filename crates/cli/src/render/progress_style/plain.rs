//! Progress as plain lines: no boxes, no escapes, nothing redrawn.

use super::{Extent, ProgressStyle};
use crate::render::progress::{Happening, Subject};
use crate::render::progress_style;
use crate::text::{neutral, words};

pub(crate) struct Plain;

impl ProgressStyle for Plain {
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
                    Some(error) => {
                        format!(": {}: {}", neutral::line(error.code.as_str()), neutral::line(&error.message))
                    }
                    None => String::new(),
                };
                let (name, usage) = (&subject.name, words::usage_of(outcome));
                vec![format!("{name} {}{error} · {usage}", progress_style::status(outcome))]
            }
        }
    }
}
