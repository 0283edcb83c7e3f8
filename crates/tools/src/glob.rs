//! Glob: files by the shape of their paths.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::ToolOutput;
use sortie_sandbox::{AccessError, FileKind, Workspace};

use crate::answer::{Answer, counted, explain};
use crate::arguments::{Unknown, optional_text};
use crate::blocking::{self, Stop};
use crate::globs;
use crate::port::{CallContext, TypedTool};
use crate::walk::{Found, walk};

const MAX_PATHS: usize = 1000;

pub(crate) struct Glob;

#[derive(Deserialize)]
pub(crate) struct GlobInput {
    pattern: String,
    #[serde(default, deserialize_with = "optional_text")]
    path: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for Glob {
    type Input = GlobInput;

    const NAME: &'static str = "Glob";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "Find files by glob, e.g. src/**/*.rs.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}},
            "required": ["pattern"],
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let workspace = context.workspace.clone();
        blocking::run_search(context, move |stop| find(&workspace, &input, stop)).await
    }
}

fn find(workspace: &Workspace, input: &GlobInput, stop: &Stop) -> ToolOutput {
    let mut answer = Answer::default();
    answer.note_unknown(&input.unknown);
    match search(workspace, input, stop) {
        Ok(found) => render(answer, &input.pattern, &found),
        Err(reason) => answer.failed(&reason),
    }
}

fn search(workspace: &Workspace, input: &GlobInput, stop: &Stop) -> Result<Found, String> {
    // A pattern may name the place to begin at, also as an absolute path: that part is resolved like any other path.
    let (directory, rest) = globs::split_directory(&input.pattern);
    let glob = match (directory, rest) {
        ("", "") => return Err("the pattern is empty; try `**/*`".to_owned()),
        (_, "") => globs::compile_anchored("**"),
        ("", rest) => globs::compile(rest),
        (_, rest) => globs::compile_anchored(rest),
    };
    let matcher = glob.map_err(|reason| format!("nothing was searched: {reason}"))?.compile_matcher();
    let base = match (&input.path, directory) {
        (Some(path), _) => Path::new(path).join(directory).to_string_lossy().into_owned(),
        (None, "") => ".".to_owned(),
        (None, directory) => directory.to_owned(),
    };
    let resolved = workspace.resolve(&base).map_err(|error| explain(&error))?;
    if resolved.kind != FileKind::Directory {
        return Err(explain(&AccessError::NotADirectory { path: base }));
    }
    let is_wanted = |path: &Path| matcher.is_match(path.strip_prefix(&resolved.relative).unwrap_or(path));
    walk(workspace, &resolved.relative, stop, &is_wanted).map_err(|error| explain(&error))
}

fn render(mut answer: Answer, pattern: &str, found: &Found) -> ToolOutput {
    let n_found = found.files.len();
    let mut n_shown = 0;
    for path in found.files.iter().take(MAX_PATHS) {
        let path = answer.name(path);
        if !answer.line(&path) {
            break;
        }
        n_shown += 1;
    }
    if n_found == 0 {
        let looked_at = counted(found.n_files, "file", "files");
        let ignored = if found.n_ignored > 0 {
            format!(", {} hidden by ignore files", counted(found.n_ignored, "entry", "entries"))
        } else {
            String::new()
        };
        answer.note(format!("no file matches {pattern} ({looked_at} looked at{ignored})"));
    }
    if n_shown < n_found {
        answer.note(format!("{n_shown} of {n_found} files shown; narrow the pattern"));
    }
    found.note_omissions(&mut answer);
    answer.done(counted(n_found, "file", "files"))
}
