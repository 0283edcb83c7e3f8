//! Refusals: why a file was not changed, and what the model can do next.

use sortie_protocol::Fault;
use sortie_sandbox::WriteError;

use super::file_text::FileText;
use crate::answer::diff::{Diff, Sides};
use crate::answer::halt::Halt;
use crate::answer::phrases::grouped;
use crate::answer::tool_error::ToolError;
use crate::answer::tool_error::explain;
use crate::files::read_state::KnownFile;

/// Maximum size of the diff that shows a model what others changed.
const MAX_DIFF_BYTES: usize = 6 * 1024;

/// An error that names the file, which stays unchanged, and the problem.
pub(crate) fn unchanged(path: &str, fault: impl Into<Option<Fault>>, why: &str) -> ToolError {
    ToolError::new(fault, format!("`{path}` was not changed: {why}"))
}

pub(super) fn halted(path: &str, halt: Halt) -> ToolError {
    unchanged(path, (halt == Halt::TimedOut).then_some(Fault::TimedOut), &halt.note())
}

pub(super) fn not_text(path: &str, why: &str) -> ToolError {
    unchanged(path, Fault::Binary, why)
}

pub(super) fn unsettled(path: &str) -> ToolError {
    unchanged(path, Fault::Conflict, "others keep changing it; Read it again, then try once more")
}

pub(super) fn too_many_lines(path: &str, n_lines: usize, most: usize) -> ToolError {
    let (n_lines, most) = (grouped(n_lines as u64), grouped(most as u64));
    unchanged(path, None, &format!("{n_lines} lines are too many; at most {most} can be edited"))
}

/// The error for a file that the task has not read, or not in its current state.
pub(super) fn not_known(path: &str, sight: Option<&KnownFile>, now: &FileText) -> ToolError {
    let Some(sight) = sight else {
        return unchanged(path, Fault::Conflict, "you have not read it yet; Read it first");
    };
    let what = match &sight.content {
        Some(seen) => {
            let now = now.encode(now.original());
            let (seen, now) = (String::from_utf8_lossy(seen), String::from_utf8_lossy(&now));
            let diff = Diff::new(&seen, &now).unified(path, Sides::Both, MAX_DIFF_BYTES);
            format!("\nSince then:\n{}", diff.trim_end())
        }
        None => " The difference is unknown: too much was read to keep all of it.".to_owned(),
    };
    unchanged(path, Fault::Conflict, &format!("it has changed since you read it; Read it again, then edit.{what}"))
}

pub(super) fn unwritten(error: WriteError) -> ToolError {
    let fault = match error {
        WriteError::Access(error) => return error.into(),
        WriteError::IsDirectory { .. } => Some(Fault::IsDirectory),
        WriteError::Denied { .. } => Some(Fault::NoAccess),
        WriteError::Changed { .. } | WriteError::Exists { .. } | WriteError::Vanished { .. } => Some(Fault::Conflict),
        _ => None,
    };
    ToolError::new(fault, explain(&error))
}
