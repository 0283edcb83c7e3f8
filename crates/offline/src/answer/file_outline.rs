//! Outline of the files that a prompt names: what each begins with, and its definitions.

use std::collections::BTreeMap;

use serde_json::json;

use super::report::{cut, reference};
use super::{Answer, PlannedCall};
use crate::question::Question;
use crate::request::conversation::Conversation;
use crate::request::tool_outputs::{grep_lines, paths, read_lines};
use crate::source_code::location::describe;
use crate::source_code::passages::{View, passages};
use crate::source_code::syntax::Syntax;

const MAX_FILES: usize = 4;
const MAX_ITEMS: usize = 25;
const MAX_LISTED: usize = 40;
const HEAD_LINES: usize = 20;
const MAX_HEAD: usize = 300;

/// Returns the next calls, or the outline.
pub(super) fn answer(conversation: &Conversation<'_>, question: &Question) -> Answer {
    let mut calls = match conversation.search_rounds() {
        0 => question.paths.iter().flat_map(|path| find(path)).collect(),
        1 => named(conversation, question).iter().take(MAX_FILES).flat_map(|path| look_into(path)).collect(),
        _ => Vec::new(),
    };
    calls.retain(|call| conversation.offers(&call.tool));
    if calls.is_empty() || conversation.must_answer { report(conversation, question) } else { Answer::calls(calls) }
}

fn find(path: &str) -> Vec<PlannedCall> {
    let path = path.trim_end_matches('/');
    let glob = |pattern: String| PlannedCall::of("Glob", json!({"pattern": pattern}));
    let is_folder = !path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let inside = is_folder.then(|| glob(format!("**/{path}/*")));
    std::iter::once(glob(format!("**/{path}"))).chain(inside).collect()
}

fn look_into(path: &str) -> Vec<PlannedCall> {
    let read = json!({"file_path": path, "limit": HEAD_LINES});
    let mut calls = vec![PlannedCall::of("Read", read)];
    let pattern = Syntax::of(path).definition_pattern();
    if !pattern.is_empty() {
        let arguments = json!({"pattern": pattern, "path": path, "output_mode": "content", "head_limit": 400});
        calls.push(PlannedCall::of("Grep", arguments));
    }
    calls
}

/// Files found under the names asked for, those with the shortest paths first.
fn named(conversation: &Conversation<'_>, question: &Question) -> Vec<String> {
    let globs = conversation.exchanges().filter(|exchange| exchange.tool == "Glob" && !exchange.failed);
    let mut found: Vec<String> = globs.flat_map(|exchange| paths(&exchange.text)).collect();
    found.retain(|path| question.paths.iter().any(|asked| path.ends_with(asked.as_str())));
    found.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    found.dedup();
    found
}

fn report(conversation: &Conversation<'_>, question: &Question) -> Answer {
    let mut parts: Vec<String> = conversation
        .exchanges()
        .filter(|exchange| exchange.tool == "Read" && !exchange.failed)
        .map(|exchange| outline(conversation, exchange.argument("file_path"), &exchange.text))
        .collect();
    if parts.is_empty() {
        let globs = conversation.exchanges().filter(|exchange| exchange.tool == "Glob" && !exchange.failed);
        let mut inside: Vec<String> = globs.flat_map(|exchange| paths(&exchange.text)).collect();
        inside.dedup();
        if inside.is_empty() {
            return Answer::Unanswered(format!("Nothing here is named {}.", question.paths.join(" or ")));
        }
        let more = inside.len().saturating_sub(MAX_LISTED);
        inside.truncate(MAX_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("In {}: {}{more}.", question.paths.join(" and "), inside.join(", ")));
    }
    let more = named(conversation, question).len().saturating_sub(MAX_FILES);
    if more > 0 {
        parts.push(format!("({more} more files of this name left out)"));
    }
    Answer::Text(parts.join("\n\n"))
}

/// Beginning of a file, then its definitions outside tests.
fn outline(conversation: &Conversation<'_>, path: &str, head: &str) -> String {
    let mut lines = vec![format!("{path}:1 - {}", beginning(head, path))];
    let seen = conversation
        .exchanges()
        .filter(|exchange| exchange.tool == "Grep" && exchange.argument("path") == path && !exchange.failed)
        .flat_map(|exchange| grep_lines(&exchange.text, path));
    let seen: BTreeMap<usize, String> = seen.map(|line| (line.number, line.text)).collect();
    let items: Vec<String> = passages(path, &seen, View::Outline)
        .iter()
        .filter(|passage| passage.definition.is_some() && !passage.in_tests)
        .map(|passage| reference(&describe(passage, passage.first_line(), 0.0)))
        .collect();
    let more = items.len().saturating_sub(MAX_ITEMS);
    lines.extend(items.into_iter().take(MAX_ITEMS));
    if more > 0 {
        lines.push(format!("({more} more definitions left out)"));
    }
    lines.join("\n")
}

/// First paragraph of a file: its comment or its prose, without marks.
fn beginning(head: &str, path: &str) -> String {
    let lines = read_lines(head, path);
    let bare = lines.iter().map(|line| line.text.trim().trim_start_matches(['/', '*', '!', '#', '"', '-', ';']).trim());
    let text: Vec<&str> = bare.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    if text.is_empty() { "an empty file".to_owned() } else { cut(&text.join(" "), MAX_HEAD) }
}
