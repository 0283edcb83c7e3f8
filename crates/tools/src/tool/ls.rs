//! `LS`: lists the names in one directory.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Resource, ToolOutput};
use sortie_sandbox::{Entry, FileKind, Workspace};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_text, texts};
use crate::answer::halt::Stop;
use crate::answer::phrases::counted;
use crate::answer::tool_error::ToolError;
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::files::blocking;
use crate::files::globs::Globs;
use crate::files::walk::{Directory, DirectoryListing};
use crate::files::walk::{HIDDEN, unfinished};

const MAX_NAMES: usize = 1000;

pub(crate) struct Ls;

#[derive(Deserialize)]
pub(crate) struct LsInput {
    #[serde(default, deserialize_with = "optional_text")]
    path: Option<String>,
    #[serde(default, deserialize_with = "texts")]
    ignore: Vec<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for Ls {
    type Input = LsInput;

    const NAME: &'static str = "LS";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "List one directory. Names end in / for directories, @ for links.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "default: workspace root"},
                "ignore": {"type": "array", "items": {"type": "string"}, "description": "globs to leave out"},
            },
        })
    }

    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        path_resource(input.path.as_deref().unwrap_or("."), context)
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let workspace = context.workspace.clone();
        let answer = context.answer();
        blocking::run(context.cancel, move |stop| list(answer, &workspace, &input, stop)).await
    }
}

fn list(mut answer: Answer, workspace: &Workspace, input: &LsInput, stop: &Stop) -> ToolOutput {
    answer.note_unknown(&input.unknown);
    let unwanted = match Globs::new(&input.ignore) {
        Ok(globs) => globs,
        Err(reason) => return answer.failed(&ToolError::arguments(format!("nothing was listed: {reason}"))),
    };
    let path = input.path.as_deref().unwrap_or(".");
    let listing = workspace.resolve(path).and_then(|resolved| {
        answer.resolved(&resolved.relative);
        if resolved.kind == FileKind::File {
            return Ok(None);
        }
        let listing = Directory::new(workspace, &resolved.relative).list(workspace, stop)?;
        Ok(Some(Listed { path, directory: resolved.relative, listing }))
    });
    match listing {
        Ok(Some(listed)) => render(answer, listed, (!input.ignore.is_empty()).then_some(&unwanted)),
        Ok(None) => answer.failed(&ToolError::arguments(format!("`{path}` is a file, not a directory; use Read"))),
        Err(error) => answer.failed(&error.into()),
    }
}

/// A directory and its entries.
struct Listed<'a> {
    /// As given.
    path: &'a str,
    /// Its place in the workspace.
    directory: PathBuf,
    listing: DirectoryListing,
}

fn render(mut answer: Answer, listed: Listed<'_>, unwanted: Option<&Globs>) -> ToolOutput {
    let Listed { path, directory, listing } = listed;
    let DirectoryListing { entries, ignored, n_hidden, n_unfinished, n_unusable_rules, cut, .. } = listing;
    let (n_listed, n_ignored) = (entries.len(), ignored.len());
    let entries: Vec<Entry> =
        entries.into_iter().filter(|entry| unwanted.is_none_or(|globs| !globs.admit(&[entry.name.as_ref()]))).collect();
    let n_unwanted = n_listed - entries.len();
    let mut n_shown = 0;
    for entry in entries.iter().take(MAX_NAMES) {
        let name = answer.name(&entry.name);
        let place = || directory.join(&name).to_string_lossy().replace(char::is_control, "\u{fffd}");
        if !answer.item(&marked(&name, entry.kind), || item(&place(), entry.kind)) {
            break;
        }
        n_shown += 1;
    }
    answer.put_items("entries");
    if entries.is_empty() && cut.is_none() {
        answer.note(if n_ignored + n_hidden + n_unfinished + n_unwanted == 0 {
            "empty directory"
        } else {
            "nothing else here"
        });
    }
    if n_shown < entries.len() {
        answer.note_lack(format!("{n_shown} of {} entries shown; use Glob to find more", entries.len()));
    }
    if let Some(cut) = cut {
        cut.note(&mut answer);
    }
    if n_ignored > 0 {
        answer.note(format!("{} hidden by ignore files", counted(n_ignored, "entry", "entries")));
    }
    if n_hidden > 0 {
        answer.note(format!("{} {HIDDEN}", counted(n_hidden, "entry", "entries")));
    }
    if n_unfinished > 0 {
        answer.note(unfinished(n_unfinished));
    }
    if n_unwanted > 0 {
        answer.note(format!("{} left out as asked", counted(n_unwanted, "entry", "entries")));
    }
    if n_unusable_rules > 0 {
        let files = counted(n_unusable_rules, "ignore file", "ignore files");
        answer.note(format!("{files} not used (unreadable or too large)"));
    }
    answer.done(format!("{path}: {}", counted(entries.len(), "entry", "entries")))
}

/// The entry as an object: its path ends in `/` for a directory. Whatever is neither a directory nor a link is a file.
fn item(place: &str, kind: FileKind) -> Value {
    match kind {
        FileKind::Directory => json!({"path": format!("{place}/"), "type": "dir"}),
        FileKind::Symlink => json!({"path": place, "type": "link"}),
        _ => json!({"path": place, "type": "file"}),
    }
}

/// The name, with a suffix for entries that are not files.
fn marked(name: &str, kind: FileKind) -> String {
    match kind {
        FileKind::File => name.to_owned(),
        FileKind::Directory => format!("{name}/"),
        FileKind::Symlink => format!("{name}@"),
        other => format!("{name} ({other})"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_listing_that_runs_out_of_time_says_only_that() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.txt"), "").unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let output =
            list(Answer::default(), &workspace, &serde_json::from_str("{}").unwrap(), &Stop::after(Duration::ZERO));
        assert_eq!(output.for_model, "[stopped after 20 s; narrow the request]");
    }
}
