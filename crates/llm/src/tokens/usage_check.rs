//! Check of a reply's usage: a provider's figures where they can be true, else an estimate on the high side.
//!
//! Figures for tries without a reply are not checked.

use serde_json::Value;
use sortie_protocol::{Part, Reply, Usage};

use super::estimate;
use crate::ModelError;

/// However a provider counts, it does not count more than so many times what we estimate, and some thousands that it
/// may put before a conversation itself.
const MOST_TIMES: u64 = 4;
const MOST_ADDED: u64 = 4096;

/// However dense its tokeniser, it does not count less than this part of the words that it was sent; of fewer words
/// than this the estimate is too rough to say so.
const LEAST_PART: u64 = 8;
const FEW_WORDS: u64 = 500;

/// A token of writing has fewer characters than this.
const LONGEST_TOKEN: usize = 16;

/// No model writes more at once.
const MOST_OUTPUT: u64 = 2_000_000;

/// What is known of a call without its provider's word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// About what was sent.
    pub(crate) input_tokens: u64,
    /// Of these the words alone.
    pub(crate) word_tokens: u64,
    /// The cap that was sent.
    pub(crate) max_output: Option<u64>,
    pub(crate) window: Option<u64>,
}

/// Corrects figures that cannot be true in a reply's usage, and marks the reply then. The corrected figures are on the
/// high side: limits hold on servers that do not count.
pub(crate) fn correct(reply: &mut Reply, expected: Expected) {
    let Expected { input_tokens, word_tokens, max_output, window } = expected;
    let said = reply.usage;
    let most = input_tokens.saturating_mul(MOST_TIMES).saturating_add(MOST_ADDED);
    let most = most.min(window.unwrap_or(u64::MAX)).max(input_tokens);
    let least = if word_tokens < FEW_WORDS { 1 } else { word_tokens / LEAST_PART };
    if !(least..=most).contains(&said.all_input_tokens()) {
        let input_tokens = said.all_input_tokens().clamp(input_tokens, most);
        reply.usage = Usage { input_tokens, cache_read_tokens: 0, cache_write_tokens: 0, ..said };
    }
    let written = estimate::tokens(reply.parts.iter().map(estimate::part_bytes).sum());
    let least = reply.parts.iter().map(characters).sum::<usize>() / LONGEST_TOKEN;
    let most = max_output.map(|cap| cap.saturating_mul(2)).or(window).unwrap_or(MOST_OUTPUT);
    if said.output_tokens > most {
        reply.usage.output_tokens = max_output.unwrap_or(most).max(written);
    } else if said.output_tokens == 0 || said.output_tokens < least as u64 {
        reply.usage.output_tokens = written;
    }
    reply.usage_doubted = reply.usage != said;
}

/// The characters of what was written, as far as they tell of tokens: an escape in arguments is one, and so is a run of
/// one character, such as a ruled line. Reasoning has none: it may be sealed, and longer than it is.
fn characters(part: &Part) -> usize {
    let mut last = None;
    let mut count = |text: &str| text.chars().filter(|&next| last.replace(next) != Some(next)).count();
    match part {
        Part::Text { text } => count(text),
        Part::Reasoning(_) => 0,
        Part::Call(call) => {
            let unescaped = serde_json::from_str(&call.arguments).map(|arguments: Value| arguments.to_string());
            count(&call.tool) + count(unescaped.as_ref().unwrap_or(&call.arguments))
        }
    }
}

/// A try that brought no reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedTry<'a> {
    pub(crate) error: &'a ModelError,
    /// Whether the endpoint had begun to answer.
    pub(crate) is_accepted: bool,
    /// About what was sent.
    pub(crate) input_tokens: u64,
}

impl FailedTry<'_> {
    /// The tokens with which the try counts against a rate limit: none where it was refused or never arrived; else as
    /// its provider said, or about what was sent and written.
    pub(crate) fn tokens(self) -> u64 {
        let said = &self.error.usage;
        if said.total_tokens() == 0 && !self.is_accepted && !self.error.kind.may_have_cost() {
            return 0;
        }
        let read = if said.all_input_tokens() == 0 { self.input_tokens } else { said.all_input_tokens() };
        read + said.output_tokens.max(estimate::tokens(self.error.partial.len()))
    }
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{CallId, StopReason, ToolCall};

    use super::*;

    const EXPECTED: Expected =
        Expected { input_tokens: 10_000, word_tokens: 8000, max_output: Some(1000), window: None };

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    /// What counts of a reply of 350 bytes, and whether its provider's word was doubted.
    fn counted(said: Usage, expected: Expected) -> (Usage, bool) {
        counted_of(Part::Text { text: "seven b".repeat(50) }, said, expected)
    }

    fn counted_of(part: Part, said: Usage, expected: Expected) -> (Usage, bool) {
        let (parts, model) = (vec![part], String::new());
        let mut reply = Reply { parts, stop: StopReason::End, usage: said, usage_doubted: false, model };
        correct(&mut reply, expected);
        (reply.usage, reply.usage_doubted)
    }

    #[test]
    fn what_can_be_true_is_believed() {
        let cached = Usage { cache_read_tokens: 9000, cache_write_tokens: 20, ..usage(5, 80) };
        for said in [usage(9000, 90), usage(1000, 21), usage(44_096, 2000), cached] {
            assert_eq!(counted(said, EXPECTED), (said, false));
        }
        let unbounded = Expected { max_output: None, ..EXPECTED };
        assert_eq!(counted(usage(9000, 1_000_000), unbounded), (usage(9000, 1_000_000), false));
    }

    #[test]
    fn what_is_missing_or_too_little_is_estimated() {
        assert_eq!(counted(usage(0, 0), EXPECTED), (usage(10_000, 100), true));
        assert_eq!(counted(usage(0, 90), EXPECTED), (usage(10_000, 90), true));
        assert_eq!(counted(usage(9000, 0), EXPECTED), (usage(9000, 100), true));
        assert_eq!(counted(usage(9000, 1), EXPECTED), (usage(9000, 100), true));
    }

    #[test]
    fn less_than_any_tokeniser_makes_of_the_words_is_estimated() {
        assert_eq!(counted(usage(999, 90), EXPECTED), (usage(10_000, 90), true));
        let cached = Usage { cache_read_tokens: 990, ..usage(9, 90) };
        assert_eq!(counted(cached, EXPECTED), (usage(10_000, 90), true));
        let few = Expected { word_tokens: 499, ..EXPECTED };
        assert_eq!(counted(usage(1, 90), few), (usage(1, 90), false), "the rest is reasoning and files");
        assert_eq!(counted(usage(0, 90), few), (usage(10_000, 90), true));
    }

    #[test]
    fn ruled_lines_and_escapes_are_few_tokens() {
        let lines = Part::Text { text: format!("│{}│\n", "─".repeat(70)).repeat(30) };
        assert_eq!(counted_of(lines, usage(9000, 100), EXPECTED), (usage(9000, 100), false));
        let call = |arguments: String| Part::Call(ToolCall { id: CallId("c".into()), tool: "Write".into(), arguments });
        let escaped = format!(r#"{{"content":"{}"}}"#, r"\u043e\u0448\u0438\u0431\u043a\u0430 ".repeat(100));
        let said = usage(9000, 200);
        assert_eq!(counted_of(call(escaped.clone()), said, EXPECTED), (said, false));
        assert!(counted_of(call(escaped), usage(9000, 20), EXPECTED).1, "700 letters are more");
        assert!(counted_of(call("no object ".repeat(70)), usage(9000, 20), EXPECTED).1);
    }

    #[test]
    fn what_is_absurdly_much_counts_as_the_most_that_it_can_have_been() {
        assert_eq!(counted(usage(44_097, 90), EXPECTED), (usage(44_096, 90), true));
        let cached = Usage { cache_read_tokens: 900_000, ..usage(5, 90) };
        assert_eq!(counted(cached, EXPECTED), (usage(44_096, 90), true));
        assert_eq!(counted(usage(9000, 2001), EXPECTED), (usage(9000, 1000), true));
        let known = Expected { max_output: None, window: Some(32_000), ..EXPECTED };
        assert_eq!(counted(usage(33_000, 90), known), (usage(32_000, 90), true));
        assert_eq!(counted(usage(9000, 33_000), known), (usage(9000, 32_000), true));
        let too_small = Expected { window: Some(8000), ..EXPECTED };
        assert_eq!(counted(usage(9000, 90), too_small), (usage(9000, 90), false), "the window is known wrongly");
    }

    #[test]
    fn an_answer_without_a_word_may_have_cost_none() {
        let mut reply = Reply {
            parts: Vec::new(),
            stop: StopReason::End,
            usage: usage(9000, 0),
            usage_doubted: false,
            model: String::new(),
        };
        correct(&mut reply, EXPECTED);
        assert!(!reply.usage_doubted);
    }
}
