//! Overview of a workspace: its top-level entries, and the start of its readme.

use serde_json::json;

use super::report::{cut, no_files};
use super::{Answer, PlannedCall};
use crate::ranking::evidence::listing;
use crate::request::conversation::{Conversation, Exchange};
use crate::request::tool_outputs::{SeenLine, paths, read_lines};

const MANIFESTS: &str = "{Cargo.toml,package.json,pyproject.toml,setup.py,go.mod,pom.xml,build.gradle,CMakeLists.txt}";
const NOTHING: &str = "Nothing here says what this is: no README, no manifest, nothing that could be listed.";
const READ_LINES: usize = 80;
const MAX_PARAGRAPH: usize = 500;
const MAX_HEADINGS: usize = 8;
const MAX_ENTRIES: usize = 40;

/// Returns the next calls, or the report.
pub(super) fn answer(conversation: &Conversation<'_>) -> Answer {
    // A call that failed is not made again.
    let mut calls = match conversation.search_rounds() {
        0 => look_around(),
        1 => read_readme(conversation),
        _ => Vec::new(),
    };
    calls.retain(|call| conversation.offers(&call.tool));
    if calls.is_empty() || conversation.must_answer { report(conversation) } else { Answer::calls(calls) }
}

fn look_around() -> Vec<PlannedCall> {
    vec![
        PlannedCall::of("LS", json!({"path": "."})),
        PlannedCall::of("Glob", json!({"pattern": "README*"})),
        PlannedCall::of("Glob", json!({"pattern": MANIFESTS})),
    ]
}

fn read_readme(conversation: &Conversation<'_>) -> Vec<PlannedCall> {
    let readme = topmost(conversation, |path| path.contains("README"));
    let read = |path| PlannedCall::of("Read", json!({"file_path": path, "limit": READ_LINES}));
    readme.map(read).into_iter().collect()
}

fn of_tool<'c, 'a>(conversation: &'c Conversation<'a>, tool: &'c str) -> impl Iterator<Item = &'c Exchange<'a>> {
    conversation.exchanges().filter(move |exchange| exchange.tool == tool && !exchange.failed)
}

/// Returns the matching file nearest to the top.
fn topmost(conversation: &Conversation<'_>, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let found = of_tool(conversation, "Glob").flat_map(|exchange| paths(&exchange.text));
    found.filter(|path| wanted(path)).min_by_key(|path| (path.matches('/').count(), path.len()))
}

fn report(conversation: &Conversation<'_>) -> Answer {
    let mut parts: Vec<String> = Vec::new();
    if let Some(read) = of_tool(conversation, "Read").next() {
        parts.push(of_readme(&read_lines(&read.text, read.argument("file_path"))));
    }
    let listed = of_tool(conversation, "LS").next();
    if let Some(why) = listed.and_then(|listed| no_files(listing(&listed.text))) {
        return Answer::Unanswered(why.to_owned());
    }
    if let Some(listed) = listed {
        let entries: Vec<&str> = listed.text.lines().map(str::trim).filter(|line| !line.starts_with('[')).collect();
        let more = entries.len().saturating_sub(MAX_ENTRIES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("At its top: {}{more}.", entries[..entries.len().min(MAX_ENTRIES)].join(", ")));
    }
    if let Some(manifest) = topmost(conversation, |path| !path.contains("README")) {
        parts.push(format!("{manifest}:1 - how it is built"));
    }
    if parts.is_empty() {
        return Answer::Unanswered(NOTHING.to_owned());
    }
    Answer::Text(parts.join("\n\n"))
}

/// Returns the first paragraph of prose and the headings.
fn of_readme(lines: &[SeenLine]) -> String {
    let prose = |line: &&SeenLine| line.text.starts_with(char::is_alphanumeric);
    let begins = lines.iter().position(|line| prose(&line)).unwrap_or(0);
    let paragraph: Vec<&SeenLine> = lines[begins..].iter().take_while(|line| !line.text.trim().is_empty()).collect();
    let text = paragraph.iter().map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
    let mut report = Vec::new();
    if let Some(first) = paragraph.first() {
        report.push(format!("{}:{} - {}", first.path, first.number, cut(&text, MAX_PARAGRAPH)));
    }
    let headings = lines.iter().filter(|line| line.text.starts_with("##"));
    report.extend(headings.take(MAX_HEADINGS).map(|line| format!("{}:{} - {}", line.path, line.number, line.text)));
    report.join("\n")
}
