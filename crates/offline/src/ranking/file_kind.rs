//! Kinds of files by their paths, and the value of a hit in each kind for a question.

use crate::question::Question;
use crate::question::intent::{Focus, Intent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Source,
    Test,
    Example,
    Document,
    Configuration,
    Changelog,
    /// Lock files, vendored and generated code.
    Generated,
}

impl FileKind {
    pub(super) fn of(path: &str) -> Self {
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let within = |folders: &[&str]| lower.split('/').rev().skip(1).any(|folder| folders.contains(&folder));
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        if within(&["vendor", "node_modules", "third_party", "target", "generated", "__pycache__"])
            || [".lock", ".min.js", ".min.css", ".map", ".pb.go", "_pb2.py", ".orig", ".snap", ".sum"]
                .iter()
                .any(|ending| name.ends_with(ending))
            || name == "package-lock.json"
            || stem.starts_with("bindgen")
            || stem.contains("generated")
        {
            Self::Generated
        } else if ["changelog", "changes", "history", "releases", "news", "license", "copying", "authors"]
            .iter()
            .any(|known| stem.starts_with(known) && !is_code(extension))
        {
            Self::Changelog
        } else if within(&["tests", "test", "__tests__", "testdata", "fixtures", "benches", "bench", "fuzz", "spec"])
            || within(&["testkit", "testing", "testutil", "testutils", "test_utils", "mock", "mocks", "__mocks__"])
            || stem.starts_with("test_")
            || ["_test", "_tests", ".test", ".spec"].iter().any(|ending| stem.ends_with(ending))
            || ["test", "tests"].contains(&stem)
        {
            Self::Test
        } else if within(&["examples", "example", "samples", "demo"]) {
            Self::Example
        } else if ["md", "rst", "txt", "adoc", "html"].contains(&extension) || within(&["docs", "doc"]) {
            Self::Document
        } else if ["toml", "yaml", "yml", "json", "ini", "cfg", "conf", "properties", "xml"].contains(&extension) {
            Self::Configuration
        } else {
            Self::Source
        }
    }

    /// Value of a hit in such a file, between 0 and 1.
    pub(super) fn worth(self, question: &Question) -> f64 {
        let asked = match self {
            Self::Source => true,
            Self::Test => question.mentions(&["test", "tests", "tested", "testing", "benchmark", "benchmarks"]),
            Self::Example => question.mentions(&["example", "examples", "sample", "demo"]),
            Self::Document => question.mentions(&["doc", "docs", "documented", "documentation", "readme", "guide"]),
            Self::Configuration => {
                question.mentions(&["dependency", "dependencies", "feature", "features", "manifest"])
            }
            Self::Changelog => question.mentions(&["changelog", "license"]),
            Self::Generated => question.mentions(&["generated", "vendored", "lockfile"]),
        };
        if asked && self != Self::Source {
            return 1.2;
        }
        match (question.focus, self) {
            (Focus::Supporting, _) => self.supporting_worth(),
            // A question about uses includes uses in tests.
            (Focus::Uses, Self::Test | Self::Example) if question.intent == Intent::Uses => 0.7,
            _ => self.usual_worth(),
        }
    }

    fn usual_worth(self) -> f64 {
        match self {
            Self::Source => 1.0,
            Self::Test | Self::Example | Self::Configuration => 0.4,
            Self::Document => 0.35,
            Self::Changelog => 0.1,
            Self::Generated => 0.05,
        }
    }

    /// Value if tests, examples and documents are wanted.
    fn supporting_worth(self) -> f64 {
        match self {
            Self::Test | Self::Example => 1.0,
            Self::Document => 0.9,
            Self::Configuration => 0.7,
            Self::Source => 0.3,
            Self::Changelog => 0.1,
            Self::Generated => 0.05,
        }
    }
}

fn is_code(extension: &str) -> bool {
    ["rs", "py", "js", "ts", "go", "c", "h", "java", "rb", "cpp", "cs", "kt", "swift", "php"].contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files_are_recognised_by_their_paths() {
        for (path, kind) in [
            ("src/main.rs", FileKind::Source),
            ("src/test.rs", FileKind::Test),
            ("tests/it/main.rs", FileKind::Test),
            ("pkg/parser_test.go", FileKind::Test),
            ("crates/testkit/src/server.rs", FileKind::Test),
            ("web/button.spec.ts", FileKind::Test),
            ("examples/simple.rs", FileKind::Example),
            ("docs/guide.md", FileKind::Document),
            ("README.md", FileKind::Document),
            ("CHANGELOG.md", FileKind::Changelog),
            ("src/history.rs", FileKind::Source),
            ("Cargo.toml", FileKind::Configuration),
            ("Cargo.lock", FileKind::Generated),
            ("vendor/lib/a.c", FileKind::Generated),
            ("app.min.js", FileKind::Generated),
        ] {
            assert_eq!(FileKind::of(path), kind, "{path}");
        }
    }

    #[test]
    fn the_kind_of_file_asked_for_beats_source() {
        let usual = Question::parse("Where is the cache filled?");
        let asked = Question::parse("Which tests fill the cache?");
        assert!(FileKind::Test.worth(&usual) < FileKind::Source.worth(&usual));
        assert!(FileKind::Test.worth(&asked) > FileKind::Source.worth(&asked));
    }
}
