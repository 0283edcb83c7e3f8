//! Progress as plain lines: no boxes, no escapes, nothing redrawn.

use super::progress::Happening;
use super::{neutral, words};

/// The line of one happening.
pub(crate) fn line(happening: &Happening) -> String {
    match happening {
        Happening::Launched { name, title, model } => format!("{name} started: {title} · {model}"),
        Happening::Remark { name, text } => format!("{name}: {text}"),
        Happening::Ended { name, outcome } => {
            let reason = outcome.reason.map(|limit| format!(" ({limit})")).unwrap_or_default();
            let error = match &outcome.error {
                Some(error) => format!(": {}: {}", neutral::line(&error.code), neutral::line(&error.message)),
                None => String::new(),
            };
            format!("{name} {}{reason}{error} · {}", outcome.status, words::usage(&outcome.usage))
        }
    }
}
