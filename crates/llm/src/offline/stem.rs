//! Light stemming: words of one family get one stem (`handled`, `handler`, `handling` → `handl`).
//!
//! Deliberately timid: two stems that stay apart cost a synonym, two that fall together cost a wrong answer.

/// Nouns that only look as if they had a suffix.
const WHOLE: &[&str] = &[
    "archive",
    "author",
    "buffer",
    "center",
    "character",
    "cursor",
    "document",
    "embed",
    "filter",
    "folder",
    "header",
    "identifier",
    "integer",
    "letter",
    "layer",
    "master",
    "member",
    "mirror",
    "monitor",
    "number",
    "order",
    "parameter",
    "pointer",
    "proper",
    "register",
    "setting",
    "speed",
    "variable",
    "vector",
    "binary",
    "string",
    "nothing",
    "during",
    "thing",
    "station",
    "nation",
    "ration",
    "error",
];

/// Suffixes, longest first, each with the fewest letters that must stay before it.
const SUFFIXES: &[(&str, usize)] = &[
    ("ization", 4),
    ("isation", 4),
    ("ations", 4),
    ("ation", 4),
    ("ating", 4),
    ("ators", 4),
    ("ator", 4),
    ("ated", 4),
    ("ment", 4),
    ("able", 4),
    ("ible", 4),
    ("ally", 4),
    ("sive", 4),
    ("sion", 4),
    ("ate", 4),
    ("ied", 3),
    ("ies", 3),
    ("ing", 3),
    ("ion", 4),
    ("ity", 4),
    ("ed", 3),
    ("er", 4),
    ("or", 4),
    ("ly", 4),
];

/// The stem of a lower-case word.
pub(super) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let singular = singular(word);
    if WHOLE.contains(&singular.as_str()) {
        return singular;
    }
    let stripped = strip_suffix(&singular);
    finish(&stripped)
}

fn singular(word: &str) -> String {
    if let Some(head) = word.strip_suffix("ies").filter(|head| head.len() >= 3) {
        return format!("{head}y");
    }
    let kept = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    let body = if kept { word } else { word.strip_suffix('s').unwrap_or(word) };
    // `matches`, `boxes`, `classes` lose two letters, `caches` and `files` one; a final `e` goes later anyway.
    body.to_owned()
}

fn strip_suffix(word: &str) -> String {
    for (suffix, least) in SUFFIXES {
        let Some(head) = word.strip_suffix(suffix) else { continue };
        if head.len() < *least || !head.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            continue;
        }
        return match *suffix {
            "ied" | "ies" => format!("{head}y"),
            "ization" | "isation" => format!("{head}iz"),
            // What is left keeps the letter that belongs to the root: recurs-ive, compress-ion.
            "sive" | "sion" => format!("{head}s"),
            "ed" | "ing" | "er" | "or" => undouble(head).to_owned(),
            _ => head.to_owned(),
        };
    }
    word.to_owned()
}

/// `stopp` → `stop`; double letters that belong to the root (`pass`, `call`) stay.
fn undouble(head: &str) -> &str {
    let bytes = head.as_bytes();
    match bytes {
        [.., a, b] if a == b && bytes.len() > 3 && !matches!(b, b's' | b'z' | b'f' | b'e' | b'o') => {
            if *b == b'l' && bytes.len() <= 4 { head } else { &head[..head.len() - 1] }
        }
        _ => head,
    }
}

fn finish(word: &str) -> String {
    let word = match word.strip_suffix('e') {
        Some(head) if head.len() >= 3 => head,
        _ => word,
    };
    // British spelling falls together with the American one.
    match word.strip_suffix("is") {
        Some(head) if head.len() >= 4 => format!("{head}iz"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn words_of_one_family_share_a_stem() {
        for family in [
            &["handle", "handled", "handles", "handling", "handler", "handlers"][..],
            &["parse", "parser", "parsing", "parsed", "parsers"],
            &["authenticate", "authentication", "authenticator", "authenticated"],
            &["connect", "connection", "connections", "connected", "connector"],
            &["retry", "retries", "retried", "retrying"],
            &["compress", "compression", "compressed", "compressor"],
            &["recurse", "recursive", "recursion", "recursively"],
            &["serialize", "serialise", "serializer", "serialization", "serialisation"],
            &["cancel", "cancelled", "cancellation", "cancelling"],
            &["configure", "configuration", "configured"],
            &["match", "matches", "matched", "matcher", "matching"],
            &["stop", "stopped", "stopping"],
            &["create", "created", "creation", "creating"],
            &["cache", "caches", "cached", "caching"],
            &["walk", "walker", "walking"],
            &["ignore", "ignored", "ignoring", "ignores"],
        ] {
            let stems: Vec<String> = family.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{family:?} gives {stems:?}");
        }
    }

    #[test]
    fn nouns_that_only_look_like_it_stay_apart() {
        for (left, right) in [
            ("header", "head"),
            ("author", "auth"),
            ("string", "str"),
            ("filter", "file"),
            ("process", "proceed"),
            ("directory", "direct"),
            ("station", "state"),
        ] {
            assert_ne!(stem(left), stem(right), "{left} and {right}");
        }
    }
}
