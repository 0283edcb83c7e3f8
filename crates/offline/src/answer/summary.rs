//! Summary by an agent without search tools: the most representative sentences of its input.

use std::collections::HashMap;

use serde_json::json;

use super::{Answer, PlannedCall};
use crate::language::lexicon::is_stop_word;
use crate::language::stem::stem;
use crate::language::words::words;
use crate::question::Question;
use crate::request::conversation::Conversation;
use crate::request::tool_outputs::read_lines;

const MAX_SENTENCES: usize = 6;
const MAX_FILES: usize = 4;

pub(super) fn answer(conversation: &Conversation<'_>) -> Answer {
    let paths = Question::parse(conversation.prompt).paths;
    if conversation.rounds.is_empty() && !conversation.must_answer && conversation.offers("Read") && !paths.is_empty() {
        let read = |path: &String| PlannedCall::of("Read", json!({"file_path": path}));
        return Answer::calls(paths.iter().take(MAX_FILES).map(read).collect());
    }
    let mut is_unread = true;
    let mut texts: Vec<(String, String)> = Vec::new();
    for exchange in conversation.exchanges().filter(|exchange| exchange.tool == "Read") {
        let path = exchange.argument("file_path").to_owned();
        let lines = read_lines(&exchange.text, &path);
        let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        is_unread &= exchange.failed;
        let text = if exchange.failed { exchange.text.clone().into_owned() } else { text.join("\n") };
        texts.push((path, text));
    }
    if texts.is_empty() {
        is_unread = false;
        texts.push(("the given text".to_owned(), conversation.prompt.to_owned()));
    }
    let mut summary = String::new();
    for (name, text) in texts {
        summary += &format!("From {name}:\n");
        for sentence in telling_sentences(&text) {
            summary += &format!("- {sentence}\n");
        }
    }
    summary += "These are the text's own sentences, chosen by word frequency (`offline`, no language model).";
    if is_unread { Answer::Unanswered(summary) } else { Answer::Text(summary) }
}

/// Returns the sentences with the most frequent words, in their original order.
fn telling_sentences(text: &str) -> Vec<String> {
    let sentences = sentences(text);
    let mut frequency: HashMap<String, f64> = HashMap::new();
    for word in sentences.iter().flat_map(|sentence| topic_words(sentence)) {
        *frequency.entry(word).or_default() += 1.0;
    }
    let worth = |sentence: &String| {
        let stems = topic_words(sentence);
        let sum: f64 = stems.iter().map(|word| frequency.get(word).copied().unwrap_or_default().ln_1p()).sum();
        sum / (stems.len() as f64 + 4.0)
    };
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by(|&left, &right| worth(&sentences[right]).total_cmp(&worth(&sentences[left])).then(left.cmp(&right)));
    order.truncate(MAX_SENTENCES);
    order.sort_unstable();
    order.into_iter().map(|at| sentences[at].clone()).collect()
}

/// Returns sentences, across line ends; an empty line also ends one.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for paragraph in text.split("\n\n") {
        let flat = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = flat.as_str();
        while let Some(end) = rest.find(". ") {
            sentences.push(rest[..=end].to_owned());
            rest = &rest[end + 2..];
        }
        if !rest.is_empty() {
            sentences.push(rest.to_owned());
        }
    }
    sentences
}

fn topic_words(sentence: &str) -> Vec<String> {
    words(sentence)
        .map(str::to_lowercase)
        .filter(|word| word.len() > 2 && !is_stop_word(word))
        .map(|word| stem(&word))
        .collect()
}
