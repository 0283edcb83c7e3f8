//! Redaction of a long output that is kept in a file for people.

use sortie_policy::{Redacted, Redactor};
use sortie_sandbox::SpillDir;
use sortie_sandbox::process::OutputCount;

use crate::answer::tool_error::explain;
use crate::answer::truncate;

/// Redacts secrets in the file, once the command has ended. If that fails, the file is removed and the count says why.
pub(super) fn redact(output: &mut OutputCount, spill: &SpillDir, redactor: &Redactor) {
    let Some(path) = output.spilled.clone() else { return };
    let is_whole = output.dropped == 0;
    let mut n_cut = 0;
    let rewritten = spill.rewrite(&path, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        // A word continued after the last byte may have been a key, and half a key has no shape.
        let known = if is_whole { &text } else { truncate::unfinished(&text) };
        n_cut = text.len() - known.len();
        match redactor.redact(known) {
            Redacted { count: 0, .. } if n_cut == 0 => None,
            Redacted { text, .. } => Some(text.into_owned()),
        }
    });
    output.dropped += n_cut as u64;
    if let Err(error) = rewritten {
        output.spilled = None;
        output.dropped = output.total;
        output.spill_failure = Some(format!("secrets could not be redacted in it: {}", explain(&error)));
    }
}
