//! `Glob`: finds files by the shape of their paths.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Resource, ToolOutput};
use sortie_sandbox::{AccessError, FileKind, Workspace};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_text};
use crate::answer::halt::Stop;
use crate::answer::phrases::counted;
use crate::answer::tool_error::ToolError;
use crate::answer::tool_error::explain;
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::files::blocking;
use crate::files::globs;
use crate::files::walk::Tree;
use crate::files::walk::WalkSummary;

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
        "List files whose path matches a glob, e.g. src/**/*.rs; * stops at /. A pattern without / matches file names at \
         any depth. Directories and ignored files are not listed."
            .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "directory to search in"},
            },
            "required": ["pattern"],
        })
    }

    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        path_resource(input.path.as_deref().unwrap_or("."), context)
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let workspace = context.workspace.clone();
        let answer = context.answer();
        blocking::run_search(context.cancel, move |stop| find(answer, &workspace, &input, stop)).await
    }
}

fn find(mut answer: Answer, workspace: &Workspace, input: &GlobInput, stop: &Stop) -> ToolOutput {
    answer.note_unknown(&input.unknown);
    match search(workspace, input, stop, &mut answer) {
        Ok((files, found)) => render(answer, workspace, input, &files, &found),
        Err(error) => answer.failed(&error),
    }
}

fn search(
    workspace: &Workspace,
    input: &GlobInput,
    stop: &Stop,
    answer: &mut Answer,
) -> Result<(Vec<Box<Path>>, WalkSummary), ToolError> {
    // A pattern may name the starting directory, also as an absolute path. That part is resolved like any other path.
    let (directory, rest) = globs::split_directory(&input.pattern);
    let glob = match (directory, rest) {
        ("", "") => return Err(ToolError::arguments("the pattern is empty; try `**/*`")),
        (_, "") => globs::compile_anchored("**"),
        ("", rest) => globs::compile(rest),
        (_, rest) => globs::compile_anchored(rest),
    };
    let matcher = glob.map_err(|reason| ToolError::arguments(format!("nothing was searched: {reason}")))?;
    let base = input.path_to(directory);
    let resolved = workspace.resolve(&base)?;
    if resolved.kind != FileKind::Directory {
        return Err(ToolError::arguments(explain(&AccessError::NotADirectory { path: base })));
    }
    answer.resolved(&resolved.relative);
    let is_wanted = |path: &Path| matcher.is_match(path.strip_prefix(&resolved.relative).unwrap_or(path));
    let tree = Tree { workspace, base: &resolved.relative, stop, is_wanted: &is_wanted };
    Ok(tree.each(|| false, || (), |(), file| file)?)
}

impl GlobInput {
    /// Resolves a part of the pattern, if it is a path.
    fn path_to(&self, part: &str) -> String {
        match (&self.path, part) {
            (Some(path), _) => Path::new(path).join(part).to_string_lossy().into_owned(),
            (None, "") => ".".to_owned(),
            (None, _) => part.to_owned(),
        }
    }
}

fn render(
    mut answer: Answer,
    workspace: &Workspace,
    input: &GlobInput,
    files: &[Box<Path>],
    found: &WalkSummary,
) -> ToolOutput {
    let pattern = &input.pattern;
    let n_found = files.len();
    let mut n_shown = 0;
    for path in files.iter().take(MAX_PATHS) {
        let path = answer.name(&**path);
        if !answer.item(&path, || json!(path)) {
            break;
        }
        n_shown += 1;
    }
    answer.put_items("paths");
    if n_found == 0 {
        let path = input.path_to(pattern);
        let named = workspace.resolve(&path);
        if !pattern.ends_with('/') && named.is_ok_and(|named| named.kind == FileKind::Directory) {
            answer.note(format!("`{path}` is a directory; use LS or {path}/**"));
        } else {
            let looked_at = counted(found.n_files, "file", "files");
            answer.note(format!("no file matches {pattern} ({looked_at} looked at)"));
        }
    }
    if n_shown < n_found {
        answer.note_lack(format!("{n_shown} of {n_found} files shown; narrow the pattern"));
    }
    found.note_git(pattern, &mut answer);
    answer.note_halt(found.halt);
    found.note_omissions(&mut answer);
    answer.done(counted(n_found, "file", "files"))
}
