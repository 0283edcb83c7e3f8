//! Facts about a workspace that need no ranking: work left to do, dependencies, and how to run the tests.

use std::collections::BTreeMap;

use serde_json::json;

use super::report::cut;
use super::{Answer, PlannedCall};
use crate::question::intent::Intent;
use crate::request::conversation::{Conversation, Exchange};
use crate::request::tool_outputs::{SeenLine, grep_lines, is_cut, paths, read_lines};

const TODO: &str = r"\b(TODO|FIXME)\b";
const MANIFESTS: &str = "**/{Cargo.toml,package.json,pyproject.toml,requirements.txt,go.mod,Gemfile}";
/// Files at the top that tell which tool runs the tests, each with the command.
const RUNNERS: [(&str, &str); 7] = [
    ("Cargo.toml", "cargo test"),
    ("package.json", "npm test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "python -m pytest"),
    ("setup.py", "python -m pytest"),
    ("pom.xml", "mvn test"),
    ("build.gradle", "gradle test"),
];
const TEST_COMMAND: &str = r"\b(cargo|npm|yarn|pnpm|pytest|tox|nox|go|make|gradle|mvn|just|bazel)\b.*\btests?\b|\bpytest\b|^test[\w-]*:|^.test.: .";
const GUIDES: &str = "{README*,CONTRIBUTING*,Makefile,justfile,package.json,tox.ini}";

const MAX_LINES: usize = 40;
const MAX_MANIFESTS: usize = 6;
const MAX_COMMANDS: usize = 8;
const MAX_LINE: usize = 160;

/// Returns the next calls, or the facts.
pub(super) fn answer(conversation: &Conversation<'_>, intent: Intent) -> Answer {
    let mut calls = match (intent, conversation.search_rounds()) {
        (Intent::Todos, 0) => vec![grep(TODO, None)],
        (Intent::Dependencies, 0) => vec![glob(MANIFESTS)],
        (Intent::Dependencies, 1) => {
            manifests(conversation).iter().take(MAX_MANIFESTS).map(|path| read(path)).collect()
        }
        (Intent::RunTests, 0) => {
            let known: Vec<&str> = RUNNERS.iter().map(|(file, _)| *file).collect();
            vec![glob(&format!("{{{}}}", known.join(","))), grep(TEST_COMMAND, Some(GUIDES))]
        }
        _ => Vec::new(),
    };
    calls.retain(|call| conversation.offers(&call.tool));
    if !calls.is_empty() && !conversation.must_answer {
        return Answer::calls(calls);
    }
    match intent {
        Intent::Todos => todos(conversation),
        Intent::Dependencies => dependencies(conversation),
        _ => how_to_test(conversation),
    }
}

fn glob(pattern: &str) -> PlannedCall {
    PlannedCall::of("Glob", json!({"pattern": pattern}))
}

fn grep(pattern: &str, glob: Option<&str>) -> PlannedCall {
    let mut arguments = json!({"pattern": pattern, "output_mode": "content", "head_limit": 500});
    if let Some(glob) = glob {
        arguments["glob"] = json!(glob);
    }
    PlannedCall::of("Grep", arguments)
}

fn read(path: &str) -> PlannedCall {
    PlannedCall::of("Read", json!({"file_path": path}))
}

fn of_tool<'c, 'a>(conversation: &'c Conversation<'a>, tool: &'c str) -> impl Iterator<Item = &'c Exchange<'a>> {
    conversation.exchanges().filter(move |exchange| exchange.tool == tool && !exchange.failed)
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn todos(conversation: &Conversation<'_>) -> Answer {
    let mut by_file: BTreeMap<String, Vec<SeenLine>> = BTreeMap::new();
    for exchange in of_tool(conversation, "Grep") {
        for line in grep_lines(&exchange.text, "") {
            by_file.entry(line.path.clone()).or_default().push(line);
        }
    }
    let count: usize = by_file.values().map(Vec::len).sum();
    if count == 0 {
        return Answer::text("No line here says TODO or FIXME.");
    }
    let was_cut = of_tool(conversation, "Grep").any(|exchange| is_cut(&exchange.text));
    let at_least = if was_cut { "at least " } else { "" };
    let says = if count == 1 { "says" } else { "say" };
    let files = plural(by_file.len(), "file");
    let mut text = format!("{at_least}{} in {files} {says} TODO or FIXME.", plural(count, "line"));
    let mut shown = 0;
    for (path, lines) in &by_file {
        if shown >= MAX_LINES {
            text += &format!("\n\n({} more lines left out)", count - shown);
            break;
        }
        text += &format!("\n\n{path} ({}):", lines.len());
        for line in lines {
            text += &format!("\n{path}:{} - {}", line.number, cut(line.text.trim(), MAX_LINE));
        }
        shown += lines.len();
    }
    Answer::Text(text)
}

/// Manifests found, the nearest to the top first.
fn manifests(conversation: &Conversation<'_>) -> Vec<String> {
    let mut found: Vec<String> = of_tool(conversation, "Glob").flat_map(|exchange| paths(&exchange.text)).collect();
    found.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    found
}

fn dependencies(conversation: &Conversation<'_>) -> Answer {
    let mut text: Vec<String> = Vec::new();
    for exchange in of_tool(conversation, "Read") {
        let lines = read_lines(&exchange.text, exchange.argument("file_path"));
        text.extend(declared(&lines));
    }
    let more = manifests(conversation).len().saturating_sub(MAX_MANIFESTS);
    if more > 0 {
        text.push(format!("({more} more manifests left out)"));
    }
    if text.is_empty() {
        return Answer::Unanswered("Nothing here declares dependencies: no manifest with any was found.".to_owned());
    }
    Answer::Text(text.join("\n"))
}

/// Sections of a manifest that declare dependencies, each as `path:line - section: names`.
fn declared(lines: &[SeenLine]) -> Vec<String> {
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in lines {
        let text = line.text.trim();
        let name = text.trim_matches(|letter: char| "[]{}():=\", ".contains(letter)).trim_end_matches("\": {");
        let begins = text.ends_with(['[', ']', '{', '(']) && (name.ends_with("ependencies") || name == "require");
        if begins {
            sections.push((format!("{}:{} - {name}", line.path, line.number), Vec::new()));
            open = true;
        } else if text.starts_with(['[', ']', '}', ')']) {
            open = false;
        } else if line.path.ends_with("requirements.txt") && sections.is_empty() {
            sections.push((format!("{}:{} - requirements", line.path, line.number), Vec::new()));
            open = true;
        }
        let gem = text.strip_prefix("gem ");
        if gem.is_some() && sections.is_empty() {
            sections.push((format!("{}:{} - gems", line.path, line.number), Vec::new()));
        }
        let item = gem.unwrap_or(text).trim_start_matches(['"', '\'']);
        let end =
            item.find(|letter: char| !(letter.is_alphanumeric() || "-_/.@".contains(letter))).unwrap_or(item.len());
        let named = !item[..end].is_empty() && !item.starts_with('#') && (open || gem.is_some()) && !begins;
        if let Some((_, names)) = sections.last_mut().filter(|_| named) {
            names.push(item[..end].trim_end_matches(".workspace").to_owned());
        }
    }
    sections.retain(|(_, names)| !names.is_empty());
    sections.into_iter().map(|(section, names)| format!("{section}: {}", names.join(", "))).collect()
}

fn how_to_test(conversation: &Conversation<'_>) -> Answer {
    let found: Vec<String> = of_tool(conversation, "Glob").flat_map(|exchange| paths(&exchange.text)).collect();
    let runners = RUNNERS.iter().filter(|(file, _)| found.iter().any(|path| path == file));
    let mut text: Vec<String> =
        runners.map(|(file, command)| format!("{file}:1 - its usual command is `{command}`")).collect();
    let said = of_tool(conversation, "Grep").flat_map(|exchange| grep_lines(&exchange.text, ""));
    text.extend(
        said.take(MAX_COMMANDS)
            .map(|line| format!("{}:{} - {}", line.path, line.number, cut(line.text.trim(), MAX_LINE))),
    );
    if text.is_empty() {
        return Answer::Unanswered("Nothing here says how the tests are run.".to_owned());
    }
    Answer::Text(text.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_manifest(path: &str, text: &str) -> Vec<String> {
        let line = |(number, text): (usize, &str)| SeenLine { path: path.to_owned(), number, text: text.to_owned() };
        declared(&(1..).zip(text.lines()).map(line).collect::<Vec<_>>())
    }

    #[test]
    fn the_dependencies_of_each_kind_of_manifest_are_read() {
        for (path, text, expected) in [
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\ntokio.workspace = true\n\n[dev-dependencies]\nexpect-test = \"1\"\n",
                &["Cargo.toml:4 - dependencies: serde, tokio", "Cargo.toml:8 - dev-dependencies: expect-test"][..],
            ),
            (
                "package.json",
                "{\n  \"name\": \"a\",\n  \"dependencies\": {\n    \"left-pad\": \"1\",\n    \"@x/y\": \"2\"\n  },\n  \"main\": \"a.js\"\n}\n",
                &["package.json:3 - dependencies: left-pad, @x/y"],
            ),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\ndependencies = [\n  \"httpx>=1\",\n]\n",
                &["pyproject.toml:3 - dependencies: httpx"],
            ),
            ("requirements.txt", "# pinned\nhttpx==1\nrich\n", &["requirements.txt:1 - requirements: httpx, rich"]),
            ("go.mod", "module a\n\nrequire (\n\tx.org/y v1\n)\n", &["go.mod:3 - require: x.org/y"]),
            ("Gemfile", "source 'https://x'\ngem 'rails', '7'\n", &["Gemfile:2 - gems: rails"]),
            ("Cargo.toml", "[package]\nname = \"a\"\n", &[]),
        ] {
            assert_eq!(of_manifest(path, text), expected, "{text}");
        }
    }
}
