//! Answers about small workspaces, whose tools find lines as the real ones do.

use expect_test::expect;
use serde_json::Value;
use sortie_protocol::{Reply, StopReason};

use crate::turns::{EXPLORER, MAIN, Task, done, reported};

/// Task over a workspace of files in memory, whose tools find lines as the real ones do.
fn in_files(tools: &[&str], prompt: &str, files: &[(&str, &str)]) -> Reply {
    let tool = |tool: &str, arguments: &str| {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        match tool {
            "Task" => {
                let report = in_files(EXPLORER, arguments["prompt"].as_str().unwrap(), files);
                reported(&report.text())
            }
            _ => done(&found(tool, &arguments, files)),
        }
    };
    Task::new(tools, prompt).last_reply(tool)
}

fn found(tool: &str, arguments: &Value, files: &[(&str, &str)]) -> String {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    match tool {
        "LS" if files.is_empty() => lines.push("[empty directory]".to_owned()),
        "LS" => lines.extend(files.iter().map(|(path, _)| (*path).to_owned())),
        "Glob" => {
            let glob = globset::Glob::new(text("pattern")).unwrap().compile_matcher();
            lines.extend(files.iter().filter(|(path, _)| glob.is_match(path)).map(|(path, _)| (*path).to_owned()));
        }
        "Read" => {
            let (_, content) = files.iter().find(|(path, _)| *path == text("file_path")).unwrap();
            let first = usize::try_from(arguments["offset"].as_u64().unwrap_or(1)).unwrap();
            let numbered = (1..).zip(content.lines()).skip(first - 1);
            lines.extend(numbered.map(|(number, line)| format!("{number}\t{line}")));
        }
        _ => {
            let pattern = regex::bytes::Regex::new(text("pattern")).unwrap();
            for (path, content) in files.iter().filter(|(path, _)| path.starts_with(text("path"))) {
                let numbered = (1..).zip(content.lines());
                let hits: Vec<(i32, &str)> = numbered.filter(|(_, line)| pattern.is_match(line.as_bytes())).collect();
                match text("output_mode") {
                    _ if hits.is_empty() => {}
                    "count" => lines.push(format!("{path}:{}", hits.len())),
                    _ => {
                        lines.push((*path).to_owned());
                        lines.extend(hits.iter().map(|(number, line)| format!("{number}:{line}")));
                    }
                }
            }
        }
    }
    lines.join("\n")
}

/// Lines of an answer that name a place.
fn places(answer: &str) -> Vec<&str> {
    let named = |line: &&str| line.split(' ').next().is_some_and(|place| place.contains(':') && place.contains('.'));
    answer.lines().filter(named).collect()
}

const STORE: (&str, &str) = (
    "src/store.rs",
    "//! Keeps pages.\n\n/// Holds pages until they are flushed.\n///\n/// More about it.\npub struct PageStore {\n    pages: Vec<Page>,\n}\n\n\
     impl PageStore {\n    /// Writes all pages.\n    pub fn flush(&mut self) {\n        // TODO: sort them\n        self.pages.clear();\n    }\n}\n",
);

#[test]
fn a_definition_comes_first_with_its_documentation_and_its_first_lines() {
    let uses = (
        "src/main.rs",
        "mod page_store;\n\n/// Makes a PageStore, the PageStore of all.\npub fn page_store() -> PageStore {\n    \
         let store: PageStore = PageStore::new(PageStore::default());\n    store\n}\n",
    );
    for prompt in ["what is PageStore", "PageStore", "What does the struct PageStore do?"] {
        let answer = in_files(MAIN, prompt, &[uses, STORE]).text();
        let shown = answer.split_once("\n\n").unwrap().1.lines().take(4).collect::<Vec<_>>().join("\n");
        expect![[r"
            src/store.rs:6 - pub struct PageStore {: Holds pages until they are flushed
                | /// Holds pages until they are flushed.
                | pub struct PageStore {
                |     pages: Vec<Page>,"]]
        .assert_eq(&shown);
    }
    let mention = ("src/main.rs", "fn main() {\n    let store = PageStore::new();\n}\n");
    let answer = in_files(MAIN, "what is PageStore", &[mention]).text();
    assert!(answer.starts_with("No definition of this name was found; it is mentioned at src/main.rs:"), "{answer}");
}

#[test]
fn texts_that_quote_the_question_and_lists_of_words_rank_behind_the_code_that_does_it() {
    let files = [
        ("README.md", "# Tool\n\nTry `tool run \"Where are page errors handled?\"`, which finds page errors.\n"),
        ("src/help.rs", "const HELP: &str = \"run \\\"Where are page errors handled?\\\" for page errors\";\n"),
        (
            "src/names.rs",
            "/// Page errors.\nconst PAGE_ERRORS: [&str; 2] = [\n    \"page error\",\n    \"page errors\",\n];\n",
        ),
        (
            "src/kind.rs",
            "impl Fault {\n    fn kind(status: u16) -> Kind {\n        match status {\n            7 => Kind::PageError,\n            _ => Kind::Other,\n        }\n    }\n}\n",
        ),
    ];
    let answer = in_files(MAIN, "Where are page errors handled?", &files).text();
    let order: Vec<&str> = places(&answer).iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(order, ["src/kind.rs", "src/names.rs"], "texts that quote it are too weak to be shown: {answer}");
}

#[test]
fn a_named_file_is_outlined_also_if_work_is_asked_for() {
    let outline = "src/store.rs:1 - Keeps pages.\nsrc/store.rs:6 - pub struct PageStore {\n\
                   src/store.rs:10 - impl PageStore {\nsrc/store.rs:12 - pub fn flush(&mut self) { (in impl PageStore)";
    for (prompt, stop) in [
        ("explain src/store.rs", StopReason::End),
        ("Summarise store.rs", StopReason::End),
        ("Write tests for store.rs", StopReason::NoAnswer),
    ] {
        let reply = in_files(MAIN, prompt, &[STORE, ("src/main.rs", "fn main() {}\n")]);
        assert!(reply.text().contains(outline), "{prompt}: {}", reply.text());
        assert_eq!(reply.stop, stop, "{prompt}");
    }
    let missing = in_files(MAIN, "explain src/gone.rs", &[STORE]);
    assert!(missing.text().starts_with("Nothing here is named src/gone.rs."), "{}", missing.text());
    assert_eq!(missing.stop, StopReason::NoAnswer);
}

#[test]
fn a_question_that_names_a_file_is_answered_from_that_file() {
    let other = ("src/flush.rs", "/// Flushes pages.\npub fn flush_pages() {}\n");
    let answer = in_files(MAIN, "Fix the bug in src/store.rs where pages are not flushed", &[other, STORE]).text();
    assert!(places(&answer)[0].starts_with("src/store.rs:"), "{answer}");
}

#[test]
fn notes_of_work_left_to_do_are_grouped_and_counted() {
    let other = ("src/a.rs", "// FIXME: slow\nfn a() {} // TODO\n");
    let answer = in_files(MAIN, "Where are TODO comments?", &[STORE, other]).text();
    let expected = "3 lines in 2 files say TODO or FIXME.\n\nsrc/a.rs (2):\nsrc/a.rs:1 - // FIXME: slow\n\
                    src/a.rs:2 - fn a() {} // TODO\n\nsrc/store.rs (1):\nsrc/store.rs:13 - // TODO: sort them";
    assert!(answer.starts_with(expected), "{answer}");
    let none = in_files(MAIN, "List TODOs", &[("src/a.rs", "fn a() {}\n")]);
    assert!(none.text().starts_with("No line here says TODO or FIXME."), "{}", none.text());
    assert_eq!(none.stop, StopReason::End, "that is an answer");
}

#[test]
fn dependencies_and_the_way_to_run_tests_come_from_the_manifests() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n"),
        ("tests/dependency.rs", "fn dependency() {}\n"),
        ("CONTRIBUTING.md", "Run `cargo test --workspace`.\n"),
    ];
    let answer = in_files(MAIN, "What dependencies does this project have?", &files).text();
    assert!(answer.starts_with("Cargo.toml:4 - dependencies: serde\n\n"), "{answer}");
    let answer = in_files(MAIN, "How do I run the tests?", &files).text();
    let expected =
        "Cargo.toml:1 - its usual command is `cargo test`\nCONTRIBUTING.md:1 - Run `cargo test --workspace`.";
    assert!(answer.starts_with(expected), "{answer}");
}

#[test]
fn an_empty_directory_is_said_to_be_empty() {
    for prompt in ["Where is the cache filled?", "What is this project about?"] {
        let reply = in_files(MAIN, prompt, &[]);
        assert!(reply.text().starts_with("This directory is empty: there is nothing to search."), "{}", reply.text());
        assert_eq!(reply.stop, StopReason::NoAnswer, "{prompt}");
    }
}
