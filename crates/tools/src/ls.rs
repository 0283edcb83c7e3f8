//! LS: the names in one directory.

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::ToolOutput;
use sortie_sandbox::{Entry, FileKind, Workspace};

use crate::answer::{Answer, counted, explain};
use crate::arguments::{Unknown, optional_text, texts};
use crate::blocking::{self, Stop};
use crate::globs::Globs;
use crate::port::{CallContext, TypedTool};
use crate::walk::{Directory, Listing, MAX_DIRECTORY_ENTRIES};

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
        "List a directory.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "ignore": {"type": "array", "items": {"type": "string"}, "description": "globs"},
            },
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let workspace = context.workspace.clone();
        blocking::run(context, move |stop| list(&workspace, &input, stop)).await
    }
}

fn list(workspace: &Workspace, input: &LsInput, stop: &Stop) -> ToolOutput {
    let mut answer = Answer::default();
    answer.note_unknown(&input.unknown);
    let unwanted = match Globs::new(input.ignore.iter().map(String::as_str)) {
        Ok(globs) => globs,
        Err(reason) => return answer.failed(&format!("nothing was listed: {reason}")),
    };
    let path = input.path.as_deref().unwrap_or(".");
    let listing = workspace
        .resolve(path)
        .and_then(|resolved| Directory::new(workspace, &resolved.relative).list(workspace, stop));
    match listing {
        Ok(listing) => render(answer, path, listing, (!input.ignore.is_empty()).then_some(&unwanted)),
        Err(error) => answer.failed(&explain(&error)),
    }
}

fn render(mut answer: Answer, path: &str, listing: Listing, unwanted: Option<&Globs>) -> ToolOutput {
    let Listing { entries, n_ignored, n_unusable_rules, is_cut, .. } = listing;
    let n_listed = entries.len();
    let entries: Vec<Entry> =
        entries.into_iter().filter(|entry| unwanted.is_none_or(|globs| !globs.admit(&[entry.name.as_ref()]))).collect();
    let n_unwanted = n_listed - entries.len();
    let mut n_shown = 0;
    for entry in entries.iter().take(MAX_NAMES) {
        let name = answer.name(&entry.name);
        if !answer.line(&marked(name, entry.kind)) {
            break;
        }
        n_shown += 1;
    }
    if entries.is_empty() {
        answer.note(if n_ignored + n_unwanted == 0 { "empty directory" } else { "nothing else here" });
    }
    if n_shown < entries.len() {
        answer.note(format!("{n_shown} of {} entries shown; use Glob to find more", entries.len()));
    }
    if is_cut {
        answer.note(format!("more than {MAX_DIRECTORY_ENTRIES} entries: the rest was not looked at"));
    }
    if n_ignored > 0 {
        answer.note(format!("{} hidden by ignore files", counted(n_ignored, "entry", "entries")));
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

/// The name, with a mark for what is not a file.
fn marked(name: String, kind: FileKind) -> String {
    match kind {
        FileKind::File => name,
        FileKind::Directory => format!("{name}/"),
        FileKind::Symlink => format!("{name}@"),
        other => format!("{name} ({other})"),
    }
}
