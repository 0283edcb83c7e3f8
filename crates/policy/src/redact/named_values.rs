//! Values that are secret because of the text next to them: a name, a header, a URL.

use std::ops::Range;

use super::characters::{
    alphanumeric, base64, has_both_cases, has_digit, header_value, is_placeholder, run, run_up_to,
};

/// Finds forty characters after the word, on the same line.
pub(super) fn aws_secret(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    const LENGTH: usize = 40;
    let behind = at + anchor.len();
    let start = behind + run_up_to(16, text, behind, between_value);
    (run_up_to(LENGTH, text, start, base64) == LENGTH).then_some(start..start + LENGTH)
}

/// Finds a long base64 value after the word, as in connection strings.
pub(super) fn azure_key(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let behind = at + anchor.len();
    let start = behind + run_up_to(16, text, behind, between_value);
    if start == behind {
        return None;
    }
    let end = start + run(text, start, base64);
    let padding = run_up_to(2, text, end, |byte| byte == b'=');
    let value = &text[start..end];
    (value.len() >= 40 && has_digit(value) && has_both_cases(value)).then_some(start..end + padding)
}

/// Finds the value of a header such as `x-api-key`, or of an option `--api-key`.
pub(super) fn api_key(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    let behind = at + anchor.len();
    let start = behind + run_up_to(16, text, behind, |byte| between_value(byte) || b",(]".contains(&byte));
    if start == behind {
        return None;
    }
    let end = start + run(text, start, header_value);
    let token = &text[start..end];
    let drawn = has_digit(token) && token.bytes().any(|byte| byte.is_ascii_alphabetic());
    (token.len() >= LEAST && drawn && !is_placeholder(token)).then_some(start..end)
}

/// Finds the text between `user:` and `@` before a host.
pub(super) fn url_password(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let start = at + anchor.len();
    let within = |byte: u8| !byte.is_ascii_whitespace() && !b"/?#\"'`<>\\()".contains(&byte);
    let authority = &text[start..start + run(text, start, within)];
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let begin = start + name.len() + 1;
    (!password.is_empty() && !is_placeholder(password)).then_some(begin..begin + password.len())
}

/// Finds the credentials of an `Authorization` header, in any notation.
pub(super) fn authorization(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let between = |byte: u8| b" \t\"'`:=>,\\(".contains(&byte);
    let behind = at + anchor.len();
    let scheme = behind + run_up_to(8, text, behind, between);
    let scheme_end = scheme + run_up_to(8, text, scheme, alphanumeric);
    let named =
        ["bearer", "basic", "token", "apikey"].iter().any(|name| name.eq_ignore_ascii_case(&text[scheme..scheme_end]));
    if !named {
        return None;
    }
    let start = scheme_end + run(text, scheme_end, |byte| matches!(byte, b' ' | b'\t'));
    let end = start + run(text, start, header_value);
    let token = &text[start..end];
    let drawn = has_digit(token) || has_both_cases(token);
    (start > scheme_end && token.len() >= 8 && drawn && !is_placeholder(token)).then_some(start..end)
}

/// True for characters between a name and its value.
fn between_value(byte: u8) -> bool {
    b" \t\"'`:=>\\".contains(&byte)
}
