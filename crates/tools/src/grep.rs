//! Grep: lines by regular expression, with ripgrep's libraries.
//!
//! Files are searched by several threads, but the answer is that of a search in the order of the paths: a cut answer
//! holds the first matches, always the same ones.

mod query;
mod report;
mod search;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::ToolOutput;
use sortie_sandbox::{FileKind, Workspace};

use self::query::Query;
use self::report::Report;
use self::search::{FileSearch, Searched};
use crate::answer::{Answer, MAX_BYTES, explain};
use crate::arguments::{Unknown, optional_count, optional_flag, optional_text};
use crate::blocking::{self, Stop};
use crate::parallel;
use crate::port::{CallContext, TypedTool};
use crate::walk::{Found, walk};

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
        "Search file contents by regex (ripgrep). Ignored files are searched only if path names them.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": {"type": "string"},
                "glob": {"type": "string", "description": "e.g. *.ts"},
                "type": {"type": "string", "description": "e.g. rust"},
                "output_mode": {
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "description": "default files_with_matches",
                },
                "-A": {"type": "integer"},
                "-B": {"type": "integer"},
                "-C": {"type": "integer"},
                "-i": {"type": "boolean"},
                "-n": {"type": "boolean"},
                "multiline": {"type": "boolean"},
                "head_limit": {"type": "integer", "description": "matches or files, default 250"},
            },
            "required": ["pattern"],
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let workspace = context.workspace.clone();
        blocking::run_search(context, move |stop| grep(&workspace, &input, stop)).await
    }
}

fn grep(workspace: &Workspace, input: &GrepInput, stop: &Stop) -> ToolOutput {
    let mut answer = Answer::default();
    answer.note_unknown(&input.unknown);
    let query = match Query::new(input) {
        Ok(query) => query,
        Err(reason) => return answer.failed(&format!("nothing was searched: {reason}")),
    };
    match candidates(workspace, input, &query, stop) {
        Ok(found) => {
            let (searched, halt) = search_all(workspace, &query, &found.files, stop);
            Report { query: &query, found: &found, searched: &searched, halt }.render(answer)
        }
        Err(reason) => answer.failed(&reason),
    }
}

/// The files to search. A file that is named itself is searched whatever it is called.
fn candidates(workspace: &Workspace, input: &GrepInput, query: &Query, stop: &Stop) -> Result<Found, String> {
    let path = input.path.as_deref().unwrap_or(".");
    let resolved = workspace.resolve(path).map_err(|error| explain(&error))?;
    if resolved.kind != FileKind::Directory {
        // Opened once here so that a special or unreadable file is refused instead of counted.
        workspace.open_file(path).map_err(|error| explain(&error))?;
        return Ok(Found::file(resolved.relative));
    }
    let base = &resolved.relative;
    let is_wanted = |path: &Path| query.admits(path, path.strip_prefix(base).unwrap_or(path));
    walk(workspace, base, stop, &is_wanted).map_err(|error| explain(&error))
}

/// Searches the files in order until there is more than can be shown.
fn search_all(
    workspace: &Workspace,
    query: &Query,
    files: &[PathBuf],
    stop: &Stop,
) -> (Vec<Searched>, Option<blocking::Halt>) {
    let (n_results, n_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let enough = || {
        n_results.load(Ordering::Relaxed) > query.max_results
            || n_bytes.load(Ordering::Relaxed) > MAX_BYTES
            || stop.halt().is_some()
    };
    let searched = parallel::in_order(
        files,
        enough,
        || FileSearch::new(query),
        |search, path| {
            let searched = search.run(workspace, path, stop);
            n_results.fetch_add(query.n_results(&searched), Ordering::Relaxed);
            n_bytes.fetch_add(searched.n_bytes(), Ordering::Relaxed);
            searched
        },
    );
    (searched, stop.halt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_whose_time_is_over_says_so() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.txt"), "needle").unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let input: GrepInput = serde_json::from_str(r#"{"pattern": "needle"}"#).unwrap();
        let output = grep(&workspace, &input, &Stop::expired());
        assert!(output.for_model.contains("stopped after 20 s; narrow the request"), "{}", output.for_model);
    }
}
