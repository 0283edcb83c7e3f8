//! `Grep`: finds lines by regular expression, with ripgrep's libraries.
//!
//! Several threads search, but the answer is the same as for a search in path order: a cut answer always has the first
//! matches.

mod interruptible_matcher;
mod objects;
mod query;
mod report;
mod search;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ToolOutput};
use sortie_sandbox::{AccessError, FileKind, Workspace};

use self::query::Query;
use self::report::Report;
use self::search::{FileSearch, Searched};
use crate::answer::arguments::{Unknown, optional_count, optional_flag, optional_text};
use crate::answer::halt::Stop;
use crate::answer::tool_error::ToolError;
use crate::answer::{Answer, MAX_BYTES};
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::files::blocking;
use crate::files::walk::Tree;
use crate::files::walk::WalkSummary;

pub(crate) struct Grep;

#[derive(Deserialize)]
pub(crate) struct GrepInput {
    pattern: String,
    #[serde(default, deserialize_with = "optional_text")]
    path: Option<String>,
    #[serde(default, deserialize_with = "optional_text")]
    glob: Option<String>,
    #[serde(default, rename = "type", deserialize_with = "optional_text")]
    file_type: Option<String>,
    #[serde(default)]
    output_mode: Option<OutputMode>,
    #[serde(default, rename = "-A", deserialize_with = "optional_count")]
    after: Option<u64>,
    #[serde(default, rename = "-B", deserialize_with = "optional_count")]
    before: Option<u64>,
    #[serde(default, rename = "-C", deserialize_with = "optional_count")]
    around: Option<u64>,
    #[serde(default, rename = "-i", deserialize_with = "optional_flag")]
    ignore_case: Option<bool>,
    #[serde(default, rename = "-n", deserialize_with = "optional_flag")]
    line_numbers: Option<bool>,
    #[serde(default, deserialize_with = "optional_flag")]
    multiline: Option<bool>,
    #[serde(default, deserialize_with = "optional_count")]
    head_limit: Option<u64>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    Content,
    FilesWithMatches,
    Count,
}

impl TypedTool for Grep {
    type Input = GrepInput;

    const NAME: &'static str = "Grep";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "Search file contents with ripgrep. Ignored files are searched only if path names them.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Rust regex; no look-around"},
                "path": {"type": "string", "description": "file or directory"},
                "glob": {"type": "string", "description": "e.g. *.ts or src/**,!*.test.ts"},
                "type": {"type": "string", "description": "e.g. rust"},
                "output_mode": {
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "description": "default files_with_matches",
                },
                "-A": {"type": "integer", "description": "lines after"},
                "-B": {"type": "integer", "description": "lines before"},
                "-C": {"type": "integer", "description": "lines around"},
                "-i": {"type": "boolean", "description": "ignore case"},
                "-n": {"type": "boolean", "description": "default true"},
                "multiline": {"type": "boolean", "description": "matches may span lines"},
                "head_limit": {
                    "type": "integer",
                    "description": "most matches or files; default 250, 0: all that fits",
                },
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
        blocking::run_search(context.cancel, move |stop| grep(answer, &workspace, &input, stop)).await
    }
}

fn grep(mut answer: Answer, workspace: &Workspace, input: &GrepInput, stop: &Stop) -> ToolOutput {
    answer.note_unknown(&input.unknown);
    let query = match Query::new(input, answer.form()) {
        Ok(query) => query,
        Err(reason) => return answer.failed(&ToolError::arguments(format!("nothing was searched: {reason}"))),
    };
    match search(workspace, input, &query, stop, &mut answer) {
        Ok((searched, found)) => {
            let is_halted = searched.iter().any(|searched| matches!(searched, Searched::Halted));
            let halt = found.halt.or_else(|| stop.halt().filter(|_| is_halted));
            let glob = input.glob.as_deref();
            Report { query: &query, glob, found: &found, searched: &searched, halt }.render(answer)
        }
        Err(error) => answer.failed(&error),
    }
}

/// Searches the files below the path. A path to a file is searched whatever its name.
fn search(
    workspace: &Workspace,
    input: &GrepInput,
    query: &Query,
    stop: &Stop,
    answer: &mut Answer,
) -> Result<(Vec<Searched>, WalkSummary), ToolError> {
    let path = input.path.as_deref().unwrap_or(".");
    let resolved = workspace.resolve(path)?;
    answer.resolved(&resolved.relative);
    let base = resolved.relative.as_path();
    if resolved.kind == FileKind::Directory {
        let is_wanted = |path: &Path| query.admits(path, path.strip_prefix(base).unwrap_or(path));
        let tree = Tree { workspace, base, stop, is_wanted: &is_wanted };
        return Ok(search_tree(&tree, query)?);
    }
    // Open it here so that a special or unreadable file is refused rather than counted.
    workspace.open_file(path)?;
    if !query.admits(base, base.file_name().unwrap_or_default().as_ref()) {
        answer.note("glob or type does not fit the file that path names; it was searched all the same");
    }
    let searched = FileSearch::new(query, stop).run(workspace, base.into());
    // In text a note is enough; an object without matches would say that there are none.
    if matches!(searched, Searched::Binary) && query.structured {
        return Err(ToolError::new(Fault::Binary, format!("`{path}` was not searched: it is binary")));
    }
    Ok((vec![searched], WalkSummary::file()))
}

/// Searches the files in order until there is more than can be shown.
fn search_tree(tree: &Tree<'_>, query: &Query) -> Result<(Vec<Searched>, WalkSummary), AccessError> {
    let (n_results, n_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let enough =
        || n_results.load(Ordering::Relaxed) > query.max_results || n_bytes.load(Ordering::Relaxed) > MAX_BYTES;
    tree.each(
        enough,
        || FileSearch::new(query, tree.stop),
        |search, path| {
            let searched = search.run(tree.workspace, path);
            n_results.fetch_add(query.n_results(&searched), Ordering::Relaxed);
            n_bytes.fetch_add(searched.n_bytes(), Ordering::Relaxed);
            searched
        },
    )
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn search(content: &str, arguments: &Value, time: Duration) -> String {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.txt"), content).unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let input = serde_json::from_value(arguments.clone()).unwrap();
        grep(Answer::default(), &workspace, &input, &Stop::after(time)).for_model
    }

    #[test]
    fn a_search_that_runs_out_of_time_says_so() {
        let text = search("needle", &json!({"pattern": "needle"}), Duration::ZERO);
        assert!(text.contains("stopped after 20 s; narrow the request"), "{text}");
    }

    /// Each match scans all the text that follows, and the searcher requests one after the other.
    #[test]
    fn a_search_of_many_slow_matches_ends_when_its_time_runs_out() {
        let start = Instant::now();
        let arguments = json!({"pattern": "a(?:.*c)?", "multiline": true, "output_mode": "count"});
        let text = search(&"a\n".repeat(30_000), &arguments, Duration::from_millis(50));
        assert_eq!(text, "[no match in 0 files; stopped after 20 s; narrow the request]");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
