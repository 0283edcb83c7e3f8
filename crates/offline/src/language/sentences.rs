//! Sentences and tokens of a prompt, before their meaning is considered.

use super::lexicon::{idioms, is_instruction};

/// Splits into sentences at line ends and full stops, but not at dots inside `a.rs` or `e.g.`.
pub(crate) fn sentences(prompt: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in prompt.lines() {
        let mut rest = line;
        while let Some(end) = sentence_end(rest) {
            sentences.push(rest[..end].trim());
            rest = &rest[end..];
        }
        sentences.push(rest.trim());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn sentence_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = |at: &usize| matches!(bytes[*at], b'.' | b'?' | b'!') && bytes.get(at + 1) == Some(&b' ');
    (0..bytes.len()).find(ends).map(|at| at + 1)
}

/// True if a sentence says how to answer rather than what to look for.
pub(crate) fn instructs(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let word_end = |at: usize| !lower[at..].starts_with(char::is_alphanumeric);
    lower.char_indices().any(|(at, _)| at > 0 && word_end(at) && is_instruction(&lower[..at]))
}

/// Words for the whole that the question is about: `in this project` does not narrow it.
const WHOLE: [&str; 8] = ["workspace", "project", "repository", "repo", "crate", "codebase", "package", "library"];

/// Replaces phrases by the one word that code uses for each, and drops `this project`.
pub(crate) fn plainly(sentence: &str) -> String {
    let mut plain = without_the_whole(sentence);
    for (idiom, word) in idioms() {
        // Lower-casing may shift non-ASCII text, which is then left unchanged.
        if plain.is_ascii()
            && let Some(at) = plain.to_ascii_lowercase().find(idiom)
        {
            plain.replace_range(at..at + idiom.len(), word);
        }
    }
    plain
}

fn without_the_whole(sentence: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for word in sentence.split_whitespace() {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let pointed_at = kept.last().is_some_and(|before| before.eq_ignore_ascii_case("this"));
        if !(pointed_at && WHOLE.contains(&bare.as_str())) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// Extracts quoted or backticked text; the second half is the sentence without it.
pub(crate) fn split_quoted(sentence: &str) -> (Vec<&str>, String) {
    let mut quoted = Vec::new();
    let mut rest = String::new();
    let mut remaining = sentence;
    while let Some(open) = remaining.find(['`', '"', '“']) {
        let quote = remaining[open..].chars().next().unwrap_or('"');
        let close = if quote == '“' { '”' } else { quote };
        let after = &remaining[open + quote.len_utf8()..];
        let Some(length) = after.find(close) else { break };
        rest.push_str(&remaining[..open]);
        rest.push(' ');
        quoted.push(&after[..length]);
        remaining = &after[length + close.len_utf8()..];
    }
    rest.push_str(remaining);
    (quoted, rest)
}

/// True if a token names a file or a folder. `and/or` is prose; a path has an extension or several steps.
pub(crate) fn is_path(token: &str) -> bool {
    let inner_slash = token.trim_start_matches("./").contains('/') && !token.contains("//");
    let extension = token.rsplit_once('.').is_some_and(|(name, extension)| {
        let plain = extension.chars().all(char::is_alphanumeric) && extension.starts_with(char::is_alphabetic);
        !name.is_empty() && (1..=4).contains(&extension.len()) && plain
    });
    extension || (inner_slash && (token.ends_with('/') || token.matches('/').count() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_stops_and_lines_but_not_inside_names() {
        assert_eq!(
            sentences("Where is a.rs read? In v1.2 too.\nReport it."),
            ["Where is a.rs read?", "In v1.2 too.", "Report it."]
        );
    }

    #[test]
    fn instructions_are_recognised_by_their_first_words() {
        for sentence in ["Report the lines.", "Do not guess.", "Keep it short"] {
            assert!(instructs(sentence), "{sentence}");
        }
        for sentence in ["Reports are written where?", "Beware of locks", "Where is it?"] {
            assert!(!instructs(sentence), "{sentence}");
        }
    }

    #[test]
    fn phrases_become_the_word_that_code_uses() {
        assert_eq!(plainly("When it goes Out of scope"), "When it goes drop");
        assert_eq!(plainly("Where does this project log?"), "Where does this log?");
        assert_eq!(plainly("What is outside the project?"), "What is outside the project?");
    }

    #[test]
    fn quotes_of_all_kinds_are_extracted() {
        let (quoted, rest) = split_quoted("Where is `foo` or \"bar baz\" set?");
        assert_eq!((quoted, rest.as_str()), (vec!["foo", "bar baz"], "Where is   or   set?"));
    }

    #[test]
    fn paths_are_distinguished_from_prose() {
        for path in ["src/main.rs", "lib.rs", "docs/", "a/b/c"] {
            assert!(is_path(path), "{path}");
        }
        for prose in ["and/or", "e", "http://x", "v1.2", "word"] {
            assert!(!is_path(prose), "{prose}");
        }
    }
}
