//! Text into words: how identifiers fall into pieces, and which words of a question say nothing about code.
//!
//! Owns no weights and no search: it only splits and classifies.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::stem::stem as stem_of;

/// Words of a question that carry no topic, and the words with which a search is asked for.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "across",
    "actual",
    "actually",
    "after",
    "again",
    "all",
    "along",
    "already",
    "also",
    "am",
    "an",
    "and",
    "angle",
    "another",
    "any",
    "anything",
    "anywhere",
    "are",
    "around",
    "as",
    "ask",
    "at",
    "away",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "brief",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "crate",
    "describe",
    "did",
    "different",
    "do",
    "does",
    "doing",
    "done",
    "each",
    "either",
    "else",
    "etc",
    "even",
    "ever",
    "every",
    "everything",
    "exact",
    "exactly",
    "explain",
    "find",
    "first",
    "focus",
    "for",
    "from",
    "full",
    "further",
    "give",
    "given",
    "go",
    "goes",
    "going",
    "good",
    "had",
    "has",
    "have",
    "having",
    "he",
    "hello",
    "help",
    "her",
    "here",
    "hi",
    "hey",
    "him",
    "his",
    "how",
    "i",
    "identify",
    "if",
    "in",
    "inside",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "kind",
    "know",
    "let",
    "like",
    "locate",
    "look",
    "main",
    "many",
    "may",
    "me",
    "mean",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "name",
    "named",
    "need",
    "next",
    "no",
    "not",
    "now",
    "of",
    "off",
    "ok",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "part",
    "particular",
    "people",
    "per",
    "place",
    "places",
    "please",
    "possible",
    "project",
    "question",
    "quite",
    "rather",
    "really",
    "relevant",
    "repo",
    "repository",
    "responsible",
    "same",
    "say",
    "see",
    "several",
    "shall",
    "she",
    "should",
    "show",
    "since",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "somewhere",
    "sort",
    "still",
    "such",
    "sure",
    "take",
    "tell",
    "than",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "through",
    "to",
    "together",
    "too",
    "topic",
    "toward",
    "two",
    "under",
    "understand",
    "until",
    "up",
    "upon",
    "us",
    "very",
    "via",
    "want",
    "was",
    "way",
    "we",
    "well",
    "were",
    "what",
    "whatever",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whole",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "word",
    "would",
    "yes",
    "yet",
    "you",
    "your",
    "codebase",
    "workspace",
];

/// Words that are in most questions about code: they help to tell good places apart, but find none alone.
const WEAK_WORDS: &[&str] = &[
    "actual",
    "add",
    "allow",
    "apply",
    "become",
    "behaviour",
    "behavior",
    "bug",
    "call",
    "caller",
    "case",
    "cause",
    "change",
    "check",
    "choose",
    "class",
    "code",
    "come",
    "contain",
    "control",
    "current",
    "decide",
    "declare",
    "deal",
    "define",
    "definition",
    "depend",
    "determine",
    "doc",
    "document",
    "documentation",
    "entry",
    "example",
    "exist",
    "file",
    "fix",
    "function",
    "get",
    "handle",
    "happen",
    "implement",
    "implementation",
    "internal",
    "item",
    "keep",
    "library",
    "line",
    "list",
    "live",
    "logic",
    "make",
    "method",
    "module",
    "new",
    "object",
    "occur",
    "perform",
    "pick",
    "possible",
    "prevent",
    "provide",
    "put",
    "reference",
    "report",
    "represent",
    "return",
    "run",
    "set",
    "source",
    "specify",
    "step",
    "struct",
    "structure",
    "stuff",
    "support",
    "system",
    "test",
    "treat",
    "trigger",
    "turn",
    "type",
    "usage",
    "use",
    "used",
    "user",
    "using",
    "value",
    "work",
    "write",
    "written",
    "happens",
    "give",
    "given",
    "certain",
    "program",
    "programmer",
];

/// Verbs for what any code does: worth less than the nouns that they go with.
const ACTION_WORDS: &[&str] = &[
    "accept",
    "assemble",
    "attach",
    "build",
    "calculate",
    "collect",
    "compute",
    "construct",
    "convert",
    "copy",
    "count",
    "create",
    "derive",
    "detect",
    "discover",
    "do",
    "emit",
    "enforce",
    "fill",
    "gather",
    "grab",
    "hold",
    "insert",
    "initialize",
    "invoke",
    "know",
    "load",
    "locate",
    "look",
    "manage",
    "maintain",
    "move",
    "obtain",
    "open",
    "parse",
    "pass",
    "place",
    "prepare",
    "process",
    "produce",
    "read",
    "receive",
    "record",
    "reach",
    "resolve",
    "save",
    "search",
    "select",
    "send",
    "sit",
    "sort",
    "spell",
    "start",
    "stop",
    "store",
    "track",
    "transform",
    "translate",
    "try",
    "update",
    "understand",
    "wake",
    "walk",
];

/// Whether a lower-case word carries no topic at all.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Whether a stemmed word is too common in questions about code to search for by itself.
pub(super) fn is_weak_stem(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| WEAK_WORDS.iter().map(|word| stem_of(word)).collect());
    STEMS.contains(stem)
}

/// Whether a word says what is done rather than to what: a common verb, or any participle.
pub(super) fn is_action(word: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| ACTION_WORDS.iter().map(|word| stem_of(word)).collect());
    word.ends_with("ed") || STEMS.contains(&stem_of(word))
}

/// The words of a text: runs of letters, digits and underscores.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The lower-case pieces of an identifier in any case style: `HTTPServer_name2` is `http`, `server`, `name2`.
pub(super) fn pieces(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            flush(&mut piece, &mut pieces);
            continue;
        }
        let before = at.checked_sub(1).map(|before| characters[before]);
        let follows_lower = before.is_some_and(|c| c.is_lowercase() || c.is_numeric());
        let ends_capitals =
            before.is_some_and(char::is_uppercase) && characters.get(at + 1).is_some_and(|c| c.is_lowercase());
        if character.is_uppercase() && (follows_lower || ends_capitals) {
            flush(&mut piece, &mut pieces);
        }
        piece.extend(character.to_lowercase());
    }
    flush(&mut piece, &mut pieces);
    pieces
}

fn flush(piece: &mut String, pieces: &mut Vec<String>) {
    if !piece.is_empty() {
        pieces.push(std::mem::take(piece));
    }
}

/// Whether a word is written as only code is: with underscores, inner capitals, `::` or a call's parentheses.
pub(super) fn is_identifier(word: &str) -> bool {
    let mut characters = word.chars();
    let Some(first) = characters.next() else { return false };
    if !(first.is_alphabetic() || first == '_') {
        return false;
    }
    let inner = word.trim_matches('_');
    let inner_capital = inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    inner.contains('_') || inner.contains("::") || inner_capital
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_every_case_style_fall_into_the_same_pieces() {
        for word in ["parse_http_url", "parseHttpUrl", "ParseHTTPUrl", "PARSE_HTTP_URL"] {
            assert_eq!(pieces(word), ["parse", "http", "url"], "{word}");
        }
        assert_eq!(pieces("sha256Sum"), ["sha256", "sum"]);
        assert_eq!(pieces("kebab-case"), ["kebab", "case"]);
    }

    #[test]
    fn only_words_written_like_code_are_identifiers() {
        for word in ["max_depth", "WalkBuilder", "walkDir", "std::fs", "MAX_SIZE"] {
            assert!(is_identifier(word), "{word}");
        }
        for word in ["walk", "Where", "HTTP", "2fast", "_"] {
            assert!(!is_identifier(word), "{word}");
        }
    }
}
