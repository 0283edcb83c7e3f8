//! One change of one file: from a model's intent to the new content on disk, or to the refusal.
//!
//! A file is changed only from the state in which this task has read it, and only as a whole. The [`Intent`] decides
//! what changes; the report words it.

use sortie_protocol::ToolOutput;
use sortie_sandbox::{AccessError, Expected, Workspace, WriteError};

use super::file_change::{FileChange, NewText};
use super::file_text::FileText;
use super::replace::MAX_BYTES;
use super::report;
use super::{hidden_parts, refusal};
use crate::answer::Answer;
use crate::answer::halt::{Halt, Stop};
use crate::answer::tool_error::ToolError;
use crate::answer::tool_error::explain;
use crate::call::context::CallContext;
use crate::files::access_advice::with_advice;
use crate::files::blocking;
use crate::files::read_state::Seen;

/// Maximum number of attempts if others keep changing the file first.
const MAX_ATTEMPTS: usize = 8;

/// Longer texts are not compared, and so not changed: each line costs more memory than it has bytes.
const MAX_LINES: usize = 1_000_000;

/// The change that a tool wants to make to a file.
pub(crate) trait Intent: Send + 'static {
    fn path(&self) -> &str;

    /// Notes the arguments it does not know.
    fn note_unknown(&self, answer: &mut Answer);

    /// True if the file need not exist yet.
    fn creates(&self) -> bool;

    /// Returns the text to replace `before`, which is empty if there is no file.
    fn make(&self, before: &FileText, stop: &Stop) -> Result<NewText, ToolError>;
}

/// Makes a change and reports it. The edits of one task are made one at a time.
///
/// A call that is cancelled before anything is written writes nothing. Afterwards it waits for the write and reports it
/// truthfully.
pub(crate) async fn run(intent: impl Intent, context: CallContext<'_>) -> ToolOutput {
    let turn = tokio::select! {
        biased;
        () = context.cancel.cancelled() => return blocking::cancelled(),
        turn = context.seen.take_turn() => turn,
    };
    let (workspace, seen) = (context.workspace.clone(), context.seen.clone());
    // Commands of other tasks that run meanwhile may take it for their own change.
    let path = workspace.locate(intent.path()).ok();
    let span = context.shells.zip(path).map(|(shells, path)| shells.edit(&path));
    let mut answer = context.answer();
    blocking::run_to_end(context.cancel, move |stop| {
        intent.note_unknown(&mut answer);
        let output = match apply(&intent, &workspace, &seen, stop) {
            Ok(change) => report::done(answer, &change),
            Err(error) => answer.failed(&error),
        };
        drop((turn, span));
        output
    })
    .await
}

/// Returns the diff of a change, for the person asked about it; `None` if it cannot be made.
pub(crate) async fn preview(intent: impl Intent, context: CallContext<'_>) -> Option<String> {
    let (workspace, seen) = (context.workspace.clone(), context.seen.clone());
    let drafted = blocking::run(context.cancel, move |stop| match draft(&intent, &workspace, &seen, stop) {
        Ok(change) => ToolOutput::done(report::preview(&change), ""),
        Err(error) => ToolOutput::failure(error.text),
    });
    Some(drafted.await).filter(|output| !output.failed).map(|output| output.for_model)
}

fn apply(intent: &impl Intent, workspace: &Workspace, seen: &Seen, stop: &Stop) -> Result<FileChange, ToolError> {
    let path = intent.path();
    for _ in 0..MAX_ATTEMPTS {
        let mut change = draft(intent, workspace, seen, stop)?;
        if change.is_void() {
            return Ok(change);
        }
        if let Some(halt) = stop.halt() {
            return Err(refusal::halted(path, halt));
        }
        let bytes = change.before.encode(&change.after.text);
        let expected = change.stamp.map_or(Expected::Absent, |stamp| Expected::Content { stamp });
        match workspace.write_unless(path, &bytes, expected, &|| stop.halt().is_some()) {
            Ok(written) => {
                seen.record(written.path, written.stamp_after, Some(bytes));
                return Ok(change);
            }
            // Somebody else was faster. The next look at the file decides if the change can still be made.
            Err(WriteError::Changed { .. } | WriteError::Exists { .. } | WriteError::Vanished { .. }) => {}
            Err(error @ WriteError::Unsynced { .. }) => {
                change.note = Some(explain(&error));
                remember(&change, &bytes, workspace, seen, path);
                return Ok(change);
            }
            Err(WriteError::Stopped { .. }) => {
                return Err(refusal::halted(path, stop.halt().unwrap_or(Halt::Cancelled)));
            }
            Err(error) => return Err(refusal::unwritten(error)),
        }
    }
    Err(refusal::unsettled(path))
}

/// Drafts the change from the current state of the file.
fn draft(intent: &impl Intent, workspace: &Workspace, seen: &Seen, stop: &Stop) -> Result<FileChange, ToolError> {
    let asked = intent.path();
    let path = workspace.locate(asked)?;
    let (before, stamp) = match workspace.read_whole(asked, MAX_BYTES as u64) {
        Ok((bytes, stamp)) => {
            let sight = seen.sight(&path);
            let is_current = sight.as_ref().is_some_and(|sight| sight.is_current(&stamp, &bytes));
            let text = FileText::decode(bytes).map_err(|why| refusal::not_text(asked, &why))?;
            require_few_lines(asked, text.original())?;
            if !is_current {
                return Err(refusal::not_known(asked, sight.as_ref(), &text));
            }
            (text, Some(stamp))
        }
        Err(AccessError::NotFound { .. } | AccessError::Vanished { .. }) if intent.creates() => {
            (FileText::default(), None)
        }
        Err(AccessError::NotRegular { path, kind }) => {
            return Err(refusal::unwritten(WriteError::NotRegular { path, kind }));
        }
        Err(error) => return Err(with_advice(workspace, asked, error)),
    };
    require_few_lines(asked, before.original())?;
    let after = intent.make(&before, stop)?;
    hidden_parts::require_plain(asked, stamp.map(|_| before.original()), &after)?;
    hidden_parts::require_secrets_kept(asked, seen, before.original(), &after)?;
    require_few_lines(asked, &after.text)?;
    Ok(FileChange { path, before, after, stamp, note: None })
}

fn require_few_lines(path: &str, text: &str) -> Result<(), ToolError> {
    match text.matches('\n').count() {
        0..=MAX_LINES => Ok(()),
        n_lines => Err(refusal::too_many_lines(path, n_lines, MAX_LINES)),
    }
}

/// Records the written content if the write itself could not report the file's state.
fn remember(change: &FileChange, bytes: &[u8], workspace: &Workspace, seen: &Seen, path: &str) {
    if let Ok((found, stamp)) = workspace.read_whole(path, MAX_BYTES as u64)
        && found == bytes
    {
        seen.record(change.path.clone(), stamp, Some(found));
    }
}
