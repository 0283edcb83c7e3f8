//! Check of a reply's usage: the provider's figures, even if they look too high; a high estimate if they are too low.
//!
//! Figures for tries without a reply are not checked.

use serde_json::Value;
use sortie_protocol::{Part, Reply, Usage};

use super::estimate;
use crate::ModelError;

/// Highest plausible input: this multiple of our estimate, plus the tokens that a provider may put before a
/// conversation.
const MOST_TIMES: u64 = 4;
const MOST_ADDED: u64 = 4096;

/// Lowest plausible input: this fraction of the words sent. Below `FEW_WORDS` the estimate is too rough for the check.
const LEAST_PART: u64 = 8;
const FEW_WORDS: u64 = 500;

/// A token of text has fewer characters than this.
const LONGEST_TOKEN: usize = 16;

/// No model writes more in one reply.
const MOST_OUTPUT: u64 = 2_000_000;

/// Figures of a call that are known without the provider.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// Estimated tokens sent.
    pub(crate) input_tokens: u64,
    /// The text's share of `input_tokens`.
    pub(crate) word_tokens: u64,
    /// The cap that was sent.
    pub(crate) max_output: Option<u64>,
    pub(crate) window: Option<u64>,
}

/// Checks the figures in a reply's usage, and marks the reply. Figures that are too low become estimates on the high
/// side, so that limits hold on servers that do not count. Figures that look too high stay: they may be on the bill.
pub(crate) fn correct(reply: &mut Reply, expected: Expected) {
    let Expected { input_tokens, word_tokens, max_output, window } = expected;
    let said = reply.usage;
    let most = input_tokens.saturating_mul(MOST_TIMES).saturating_add(MOST_ADDED);
    let most = most.min(window.unwrap_or(u64::MAX)).max(input_tokens);
    let least = if word_tokens < FEW_WORDS { 1 } else { word_tokens / LEAST_PART };
    reply.usage_high = said.all_input_tokens() > most;
    if said.all_input_tokens() < least {
        reply.usage = Usage { input_tokens, cache_read_tokens: 0, cache_write_tokens: 0, ..said };
    }
    let written = estimate::tokens(reply.parts.iter().map(estimate::part_bytes).sum());
    let least = reply.parts.iter().map(characters).sum::<usize>() / LONGEST_TOKEN;
    let most = max_output.map(|cap| cap.saturating_mul(2)).or(window).unwrap_or(MOST_OUTPUT);
    reply.usage_high |= said.output_tokens > most;
    if said.output_tokens == 0 || said.output_tokens < least as u64 {
        reply.usage.output_tokens = written;
    }
    reply.usage_doubted = reply.usage != said;
}

/// Counts the characters that matter for tokens. An escape in arguments counts as one, and so does a run of one
/// character, such as a ruled line. Reasoning counts as none: a sealed text is longer than the reasoning.
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

/// A try without a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedTry<'a> {
    pub(crate) error: &'a ModelError,
    /// True if the endpoint had begun to reply.
    pub(crate) is_accepted: bool,
    /// Estimated tokens sent.
    pub(crate) input_tokens: u64,
}

impl FailedTry<'_> {
    /// Tokens of the try for the rate limit: none if it was refused or never arrived. Otherwise the provider's count,
    /// or an estimate of input and output.
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

    /// Corrected usage of a reply of 350 bytes, and whether its provider's figures were doubted.
    fn counted(said: Usage, expected: Expected) -> (Usage, bool) {
        counted_of(Part::Text { text: "seven b".repeat(50) }, said, expected)
    }

    fn counted_of(part: Part, said: Usage, expected: Expected) -> (Usage, bool) {
        let (parts, model) = (vec![part], String::new());
        let mut reply =
            Reply { parts, stop: StopReason::End, usage: said, usage_doubted: false, usage_high: false, model };
        correct(&mut reply, expected);
        (reply.usage, reply.usage_doubted)
    }

    #[test]
    fn plausible_usage_is_kept() {
        let cached = Usage { cache_read_tokens: 9000, cache_write_tokens: 20, ..usage(5, 80) };
        for said in [usage(9000, 90), usage(1000, 21), usage(44_096, 2000), cached] {
            assert_eq!(counted(said, EXPECTED), (said, false));
        }
        let unbounded = Expected { max_output: None, ..EXPECTED };
        assert_eq!(counted(usage(9000, 1_000_000), unbounded), (usage(9000, 1_000_000), false));
    }

    #[test]
    fn missing_or_too_low_usage_is_estimated() {
        assert_eq!(counted(usage(0, 0), EXPECTED), (usage(10_000, 100), true));
        assert_eq!(counted(usage(0, 90), EXPECTED), (usage(10_000, 90), true));
        assert_eq!(counted(usage(9000, 0), EXPECTED), (usage(9000, 100), true));
        assert_eq!(counted(usage(9000, 1), EXPECTED), (usage(9000, 100), true));
    }

    #[test]
    fn input_below_what_any_tokeniser_gives_is_estimated() {
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
    fn usage_that_looks_too_high_counts_as_reported_and_is_marked() {
        let is_high = |said: Usage, expected: Expected| {
            let parts = vec![Part::Text { text: "seven b".repeat(50) }];
            let (stop, model) = (StopReason::End, String::new());
            let mut reply = Reply { parts, stop, usage: said, usage_doubted: false, usage_high: false, model };
            correct(&mut reply, expected);
            assert_eq!((reply.usage, reply.usage_doubted), (said, false));
            reply.usage_high
        };
        let cached = Usage { cache_read_tokens: 900_000, ..usage(5, 90) };
        let known = Expected { max_output: None, window: Some(32_000), ..EXPECTED };
        let too_small = Expected { window: Some(8000), ..EXPECTED };
        for (said, expected, wanted) in [
            (usage(44_096, 90), EXPECTED, false),
            (usage(44_097, 90), EXPECTED, true),
            (usage(u64::MAX, u64::MAX), EXPECTED, true),
            (cached, EXPECTED, true),
            (usage(9000, 2000), EXPECTED, false),
            (usage(9000, 2001), EXPECTED, true),
            (usage(33_000, 90), known, true),
            (usage(9000, 33_000), known, true),
            // The window is known wrongly.
            (usage(9000, 90), too_small, false),
        ] {
            assert_eq!(is_high(said, expected), wanted, "{said:?}");
        }
    }

    #[test]
    fn an_empty_reply_may_have_used_no_output_tokens() {
        let mut reply = Reply {
            parts: Vec::new(),
            stop: StopReason::End,
            usage: usage(9000, 0),
            usage_doubted: false,
            usage_high: false,
            model: String::new(),
        };
        correct(&mut reply, EXPECTED);
        assert!(!reply.usage_doubted);
    }
}
