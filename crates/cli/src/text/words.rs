//! Short forms of numbers, times and calls, for single lines.

use sortie_protocol::{Failure, ModelChoice, Money, TaskOutcome, ToolCall, Usage};

use super::{neutral, width};

const CALL_COLUMNS: usize = 60;
const TITLE_COLUMNS: usize = 60;
const FILES_NAMED: usize = 10;

/// `1 call`, `7 calls`.
pub(crate) fn calls(count: u64) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}

/// `812 tokens`, `12.4k tokens`, `1.2M tokens`.
pub(crate) fn tokens(count: u64) -> String {
    format!("{} tokens", short(count))
}

/// `812`, `12.4k`, `1.2M`.
pub(crate) fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..999_950 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// `$0.0123`; `$0.0123+` if it excludes tokens of unknown price; `None` if no price is known.
pub(crate) fn cost(usage: &Usage) -> Option<String> {
    let more = if usage.unpriced_tokens() > 0 { "+" } else { "" };
    usage.known_cost().map(|cost| format!("{cost}{more}"))
}

/// `0.3s`, `59.9s`, `2m05s`, `1h02m`.
pub(crate) fn elapsed(ms: u64) -> String {
    let tenths = ms / 100;
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{}.{}s", tenths / 10, tenths % 10),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// `7 calls`, `7 calls (2 failed)`.
pub(crate) fn calls_with_failed(count: u64, failed: u64) -> String {
    let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
    calls(count) + &failed
}

/// `5s ago`, `3m ago`, `2h ago`, `9d ago`.
pub(crate) fn ago(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..172_800 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// `7 calls (2 failed) · 12.4k tokens · $0.0123 · 3.2s`, without money if no cost is known.
pub(crate) fn usage(usage: &Usage) -> String {
    let cost = cost(usage).filter(|_| usage.cost > Money::ZERO).map(|cost| format!(" · {cost}")).unwrap_or_default();
    let calls = calls_with_failed(usage.tool_calls, usage.failed_calls);
    let tokens = tokens(usage.total_tokens());
    format!("{calls} · {tokens}{cost} · {}", elapsed(usage.duration_ms))
}

/// Usage of a task that has ended, and its refused calls: `7 calls · 12.4k tokens · 3.2s · 2 calls refused`.
pub(crate) fn usage_of(outcome: &TaskOutcome) -> String {
    let refused = outcome.refused.iter().map(|refused| refused.count).fold(0, u64::saturating_add);
    let refused = if refused > 0 { format!(" · {} refused", calls(refused)) } else { String::new() };
    usage(&outcome.usage) + &refused
}

/// `src/a.rs, src/b.rs and 3 more`; `None` if there are none.
pub(crate) fn files<'a>(files: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let mut files = files.into_iter();
    let named: Vec<String> = files.by_ref().take(FILES_NAMED).map(|file| neutral::line(file)).collect();
    let more = match files.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

/// `main (claude-sonnet-4-5)`.
pub(crate) fn model(model: &ModelChoice) -> String {
    neutral::line(&format!("{} ({})", model.route, model.id))
}

/// `haiku (claude-haiku-4)`: the name asked for, and the model's id if it is another; else as [`model`].
pub(crate) fn asked_model(asked: Option<&str>, used: &ModelChoice) -> String {
    match asked {
        None => model(used),
        Some(asked) if asked == used.id => neutral::line(asked),
        Some(asked) => neutral::line(&format!("{asked} ({})", used.id)),
    }
}

/// Title as lists and boxes show it.
pub(crate) fn title(title: &str) -> String {
    width::cut(&neutral::line(title), TITLE_COLUMNS)
}

/// Kind of a model's failure, without the advice: `rate limited`.
pub(crate) fn fault(error: &Failure) -> String {
    let code = error.code.as_str();
    neutral::line(&code.strip_prefix("model_").unwrap_or(code).replace('_', " "))
}

/// Call in a few words: the tool and its most telling argument, e.g. `Grep "auth"`.
pub(crate) fn call(call: &ToolCall) -> String {
    width::cut(&neutral::line(&call.in_brief()), CALL_COLUMNS)
}

/// Quotes a text for a shell, if it needs quotes.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._:/@+-".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use sortie_protocol::FailureCode;

    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0, 999, 1_000, 12_400, 999_949, 999_950].map(tokens),
            ["0 tokens", "999 tokens", "1.0k tokens", "12.4k tokens", "999.9k tokens", "1.0M tokens"]
        );
        assert_eq!(
            [0, 349, 59_999, 60_000, 125_000, 3_720_000].map(elapsed),
            ["0.0s", "0.3s", "59.9s", "1m00s", "2m05s", "1h02m"]
        );
        assert_eq!(
            [0, 59_999, 60_000, 3_600_000, 172_799_999, 172_800_000].map(ago),
            ["0s ago", "59s ago", "1m ago", "1h ago", "47h ago", "2d ago"]
        );
        assert_eq!([0, 1, 2].map(calls), ["0 calls", "1 call", "2 calls"]);
    }

    #[test]
    fn a_cost_is_shown_as_far_as_it_is_known() {
        let used = |cost, priced_tokens| {
            usage(&Usage { input_tokens: 900, cost: Money::from_nanos(cost), priced_tokens, ..Usage::default() })
        };
        assert_eq!(used(12_300_000, 900), "0 calls · 900 tokens · $0.0123 · 0.0s");
        assert_eq!(used(12_300_000, 800), "0 calls · 900 tokens · $0.0123+ · 0.0s");
        assert_eq!([used(0, 900), used(0, 0)], ["0 calls · 900 tokens · 0.0s"; 2], "free, or of unknown price");
    }

    #[test]
    fn files_are_named_as_far_as_a_line_goes() {
        let many: Vec<String> = (1..=12).map(|number| format!("{number}.rs")).collect();
        assert_eq!(files(&many[..0]), None);
        assert_eq!(files(&many[..2]).unwrap_or_default(), "1.rs, 2.rs");
        assert!(files(&many).unwrap_or_default().ends_with(", 10.rs and 2 more"));
    }

    #[test]
    fn a_title_is_one_line_of_bounded_width_and_a_fault_its_kind_alone() {
        assert_eq!(title("two\nlines"), "two lines");
        assert_eq!(width::of(&title(&"long ".repeat(100))), TITLE_COLUMNS);
        let error = |code: &str| fault(&Failure::new(FailureCode::read(code), "what to do about it"));
        assert_eq!(["model_stream_cut", "rate_limited"].map(error), ["stream cut", "rate limited"]);
    }

    #[test]
    fn a_model_is_shown_as_it_was_asked_for_beside_the_one_that_serves() {
        let used = ModelChoice { route: "main".to_owned(), id: "claude-haiku-4".to_owned() };
        let shown = [Some("haiku"), Some("claude-haiku-4"), None].map(|asked| asked_model(asked, &used));
        assert_eq!(shown, ["haiku (claude-haiku-4)", "claude-haiku-4", "main (claude-haiku-4)"]);
    }

    #[test]
    fn a_call_shows_its_most_telling_argument() {
        for (tool, arguments, expected) in [
            ("Grep", r#"{"path":"src","pattern":"auth"}"#, "Grep \"auth\""),
            ("Read", r#"{"file_path":"src/a.rs"}"#, "Read src/a.rs"),
            ("LS", "{}", "LS"),
            ("Grep", "not json", "Grep"),
            ("Grep", "{\"pattern\":\"\\u001b[2Jx\\ny\"}", "Grep \"␛[2Jx y\""),
        ] {
            let given = ToolCall { id: "1".into(), tool: tool.to_owned(), arguments: arguments.to_owned() };
            assert_eq!(call(&given), expected);
        }
    }
}
