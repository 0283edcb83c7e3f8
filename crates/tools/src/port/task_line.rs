//! One line about another task for a model; other tasks' own words stand between marks they cannot know.

use sortie_contract::head_line;

use super::delegation::Delegation;
use super::relatives::{Glance, Stand, Work};
use crate::answer::truncate;
use sortie_protocol::open_status::{INTERRUPTED, RUNNING, WAITING};

/// Maximum length of a few words chosen by somebody else.
const MAX_WORDS_CHARS: usize = 100;

/// Formats the status of a task in one line.
pub fn line(glance: &Glance) -> String {
    let Glance { task, agent, stand, .. } = glance;
    match stand {
        Stand::Waits => format!("{task} {agent} {WAITING} for a slot"),
        Stand::Elsewhere { pid, is_seen: true } => format!("{task} {agent} {RUNNING} in process {pid}, not in yours"),
        Stand::Elsewhere { pid, is_seen: false } => {
            format!("{task} {agent} {RUNNING}, it seems: its process {pid} cannot be seen from here")
        }
        Stand::Interrupted => format!("{task} {agent} {INTERRUPTED}: the process that ran it is gone"),
        Stand::Ended { outcome, .. } => head_line(outcome),
        Stand::Works(Work { turn, tool_calls, tokens, elapsed, last, awaits_answer }) => {
            let seconds = elapsed.as_secs_f64();
            let s = if *tool_calls == 1 { "" } else { "s" };
            let last = if last.is_empty() { String::new() } else { format!(", last: {}", words(last)) };
            let asks = if *awaits_answer { ", waits for your answer (SendMessage)" } else { "" };
            let done = format!("turn {turn}, {tool_calls} call{s}, {tokens} tokens, {seconds:.1} s");
            format!("{task} {agent} {RUNNING}, {done}{asks}{last}")
        }
    }
}

/// Formats a few words chosen by somebody else on one line.
pub(crate) fn words(text: &str) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match short(&line, MAX_WORDS_CHARS) {
        Some(start) => format!("{}…", start.trim_end()),
        None => line,
    }
}

/// Returns the start of a text with more characters than this; `None` if it is short enough.
pub(crate) fn short(text: &str, most: usize) -> Option<&str> {
    text.char_indices().nth(most).map(|(end, _)| truncate::start(text, end))
}

/// Fences another task's words between marks it cannot know.
pub(crate) fn fenced(what: &str, text: &str, delegation: &dyn Delegation) -> String {
    let mark = delegation.answer_parts().mark;
    format!("[{what} {mark}]\n{text}\n[end {mark}]")
}
