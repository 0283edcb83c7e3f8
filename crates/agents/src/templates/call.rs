//! A prompt that calls a template: `/test-file path=src/a.rs style='very short' and more words`.
//!
//! Quotes are those of shells, `'…'` and `"…"`; no other shell syntax applies. After the values everything is free
//! text, unchanged.

use crate::templates::argument_values::{Given, assignment};
use crate::templates::error::TemplateError;

/// The `/name` that a prompt begins with, and the rest. Does not check whether a template has the name.
pub(super) fn head(prompt: &str) -> Option<(&str, &str)> {
    let called = prompt.trim().strip_prefix('/')?;
    let end = called.find(char::is_whitespace).unwrap_or(called.len());
    let (name, rest) = called.split_at(end);
    (!name.is_empty()).then_some((name, rest.trim_start()))
}

/// Reads the part after the name.
pub(super) fn given(text: &str) -> Result<Given, TemplateError> {
    let mut given = Given::default();
    let mut rest = text;
    while let Some((name, value)) = assignment(rest) {
        let (value, behind) = unquoted(name, value)?;
        given.put(name, value)?;
        rest = behind.trim_start();
    }
    given.put_input(rest)?;
    Ok(given)
}

/// A value without its quotes, and the text after it. As in shells, quotes may begin and end inside a word.
fn unquoted<'a>(name: &str, text: &'a str) -> Result<(String, &'a str), TemplateError> {
    let mut value = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next().filter(|first| !first.is_whitespace()) {
        rest = &rest[first.len_utf8()..];
        if !matches!(first, '\'' | '"') {
            value.push(first);
            continue;
        }
        let Some((quoted, behind)) = rest.split_once(first) else {
            return Err(TemplateError::OpenQuote { name: name.to_owned() });
        };
        value.push_str(quoted);
        rest = behind;
    }
    Ok((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_begins_with_a_slash_and_a_name() {
        for (prompt, expected) in [
            ("/test-file path=a", Some(("test-file", "path=a"))),
            ("  /test-file\n path=a\n", Some(("test-file", "path=a"))),
            ("/test-file", Some(("test-file", ""))),
            ("/usr/bin is full", Some(("usr/bin", "is full"))),
            ("/", None),
            ("/ x", None),
            ("test-file", None),
            ("say /test-file", None),
        ] {
            assert_eq!(head(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn values_are_quoted_as_in_shells_and_no_other_shell_syntax_applies() {
        for (text, value, input) in [
            ("path=src/a.rs", "src/a.rs", ""),
            ("path='my file.rs' then words", "my file.rs", "then words"),
            ("path=\"it's\"", "it's", ""),
            ("path=a'b c'd\"e f\" g", "ab cde f", "g"),
            ("path= words", "", "words"),
            ("path='' words", "", "words"),
            (r"path=a\ b", r"a\", "b"),
            (r#"path="$HOME/*.rs `x` \n""#, r"$HOME/*.rs `x` \n", ""),
            ("path=a don't stop\n  \"here\"", "a", "don't stop\n  \"here\""),
            ("path=a x = 5", "a", "x = 5"),
            ("path='{{path}}' {{path}}", "{{path}}", "{{path}}"),
        ] {
            let given = given(text).unwrap();
            assert_eq!((given.value("path"), &*given.input), (Some(value), input), "{text}");
        }
    }

    #[test]
    fn an_unclosed_quote_is_reported_by_the_name_of_its_value() {
        let open = TemplateError::OpenQuote { name: "path".to_owned() };
        assert_eq!(given("path='src/a.rs and more"), Err(open.clone()));
        assert_eq!(given("path=a\"'"), Err(open));
        // In free text it is an apostrophe.
        assert_eq!(given("don't").unwrap().input, "don't");
    }
}
