//! The built-in model must be of real use: ten questions of a newcomer about three libraries that it has never seen.
//!
//! The libraries are dependencies of this workspace, so their sources are available wherever it is built. An answer is
//! right if one of its first three references is a right place.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;

struct Question {
    package: &'static str,
    text: &'static str,
    /// File, and a text in the first line of a definition there.
    right: &'static [(&'static str, &'static str)],
}

const REQUIRED: usize = 8;

const QUESTIONS: [Question; 10] = [
    Question {
        package: "ignore",
        text: "Where is a tilde in a path replaced with the home directory?",
        right: &[("src/gitignore.rs", "fn expand_tilde")],
    },
    Question {
        package: "ignore",
        text: "How does it find loops of symbolic links?",
        right: &[("src/walk.rs", "fn check_symlink_loop")],
    },
    Question {
        package: "ignore",
        text: "Which function decides whether a file is too large to be searched?",
        right: &[("src/walk.rs", "fn skip_filesize")],
    },
    Question {
        package: "reqwest",
        text: "When a redirect leads to another host, where are the credentials removed?",
        right: &[("src/redirect.rs", "fn remove_sensitive_headers")],
    },
    Question {
        package: "reqwest",
        text: "Where is it decided that a failed request may be tried again?",
        right: &[("src/retry.rs", "fn is_retryable_error"), ("src/retry.rs", "fn retry(")],
    },
    Question {
        package: "reqwest",
        text: "How are the proxy environment variables read?",
        right: &[("src/proxy.rs", "fn from_env"), ("src/proxy.rs", "fn system()")],
    },
    Question {
        package: "reqwest",
        text: "What turns a bad status of a response into an error?",
        right: &[
            ("src/async_impl/response.rs", "pub fn error_for_status"),
            ("src/blocking/response.rs", "pub fn error_for_status"),
        ],
    },
    Question {
        package: "rusqlite",
        text: "What happens to a transaction that goes out of scope without being committed?",
        right: &[
            ("src/transaction.rs", "pub enum DropBehavior"),
            ("src/transaction.rs", "pub fn drop_behavior"),
            ("src/transaction.rs", "fn finish_"),
        ],
    },
    Question {
        package: "rusqlite",
        text: "How can a running query be stopped from another thread?",
        right: &[
            ("src/lib.rs", "pub fn get_interrupt_handle"),
            ("src/lib.rs", "pub struct InterruptHandle"),
            ("src/lib.rs", "pub fn interrupt("),
        ],
    },
    Question {
        package: "rusqlite",
        text: "Where are prepared statements kept so that they can be used again?",
        right: &[
            ("src/cache.rs", "pub struct StatementCache"),
            ("src/cache.rs", "pub fn prepare_cached"),
            ("src/cache.rs", "fn cache_stmt"),
        ],
    },
];

#[test]
fn most_questions_about_foreign_code_are_answered_without_a_language_model() {
    let packages = packages();
    let wrong: Vec<String> =
        QUESTIONS.iter().filter_map(|question| wrong_answer(question, &packages(question.package))).collect();
    let right = QUESTIONS.len() - wrong.len();
    assert!(right >= REQUIRED, "only {right} of {} were answered:\n{}", QUESTIONS.len(), wrong.join("\n"));
}

/// Asks, and returns the answer if it misses the right place.
fn wrong_answer(question: &Question, package: &Path) -> Option<String> {
    let world = World::new();
    let workspace = world.path("foreign");
    copy(package, &workspace);
    let ended = world.sortie(["run", question.text]).cwd(&workspace).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout.contains("no language model was used"), "{}", ended.stdout);
    let spans: Vec<(&str, RangeInclusive<usize>)> =
        question.right.iter().flat_map(|(file, marker)| spans(&workspace, file, marker)).collect();
    let references = references(&ended.stdout);
    let first: Vec<_> = references.iter().take(3).collect();
    let found = first.iter().any(|(path, line)| spans.iter().any(|(file, span)| path == file && span.contains(line)));
    (!found).then(|| format!("{}: {}\n  {first:?}, not in {spans:?}", question.package, question.text))
}

/// References `path:line` of a text, in order.
fn references(text: &str) -> Vec<(&str, usize)> {
    let tokens = text.split(|c: char| c.is_whitespace() || "();,`".contains(c));
    let reference = |token: &'_ str| -> Option<(usize, usize)> {
        let (path, line) = token.rsplit_once(':')?;
        Some((path.len(), line.parse().ok()?))
    };
    tokens.filter_map(|token| reference(token).map(|(end, line)| (&token[..end], line))).collect()
}

/// Line ranges of every definition in the file whose first line has the marker, documentation included.
fn spans<'a>(workspace: &Path, file: &'a str, marker: &str) -> Vec<(&'a str, RangeInclusive<usize>)> {
    let text = fs::read_to_string(workspace.join(file)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut spans = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(marker)) {
        let documented = lines[..at].iter().rev().take_while(|line| line.trim().starts_with(['/', '#'])).count();
        let closes = |other: &&str| other.trim().starts_with('}') && indent(other) <= indent(line);
        let length = lines[at..].iter().position(closes).unwrap_or(0);
        spans.push((file, at + 1 - documented..=at + 1 + length));
    }
    assert!(!spans.is_empty(), "{file} has no `{marker}` any more: choose another place or another question");
    spans
}

/// Finds the sources of a dependency.
fn packages() -> impl Fn(&str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    move |name| {
        let packages = metadata["packages"].as_array().unwrap();
        let package = packages.iter().find(|package| package["name"] == name).unwrap();
        Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
