//! Light stemming: related words get one stem (`handled`, `handler`, `handling` → `handl`).
//!
//! It is deliberately cautious: two stems left apart cost a synonym, two wrongly merged cost a wrong answer.

use super::lexicon::is_whole;

/// Suffixes in the order in which they are tried, with the fewest letters that must precede them.
const SUFFIXES: &[(usize, &[&str])] = &[
    (4, &["ization", "isation", "ation", "ating", "ator", "ated", "ment", "able", "ible", "sive", "sion", "ate"]),
    (3, &["ied", "ing"]),
    (4, &["ion", "ity", "er", "or"]),
    (3, &["ed"]),
];

/// Returns the stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let singular = singular(word);
    if is_whole(&singular) {
        return singular;
    }
    // `recursively` is stemmed like `recursive`, `automatically` like `automatic`.
    let adverb = ["ally", "ly"].iter().find_map(|ending| singular.strip_suffix(ending).filter(|head| head.len() > 3));
    finish(&strip_suffix(adverb.unwrap_or(&singular)))
}

fn singular(word: &str) -> String {
    if let Some(head) = word.strip_suffix("ies").filter(|head| head.len() >= 3) {
        return format!("{head}y");
    }
    let kept = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    let body = if kept { word } else { word.strip_suffix('s').unwrap_or(word) };
    // `matches`, `boxes`, `classes` lose two letters, `caches` and `files` one; a final `e` is removed later anyway.
    body.to_owned()
}

/// Ends of verbs that form a noun with `al`: refusal, removal, arrival, proposal, dismissal, renewal.
const WITH_AL: [&str; 6] = ["us", "ov", "iv", "os", "iss", "ew"];

fn strip_suffix(word: &str) -> String {
    if let Some(verb) =
        word.strip_suffix("al").filter(|head| head.len() >= 4 && WITH_AL.iter().any(|end| head.ends_with(end)))
    {
        return verb.to_owned();
    }
    for (least, suffix) in SUFFIXES.iter().flat_map(|(least, all)| all.iter().map(move |suffix| (*least, *suffix))) {
        let Some(head) = word.strip_suffix(suffix) else { continue };
        if head.len() < least || !head.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            continue;
        }
        return match suffix {
            "ied" => format!("{head}y"),
            "ization" | "isation" => format!("{head}iz"),
            // The stem keeps the letter that belongs to the root: recurs-ive, compress-ion.
            "sive" | "sion" => format!("{head}s"),
            "ed" | "ing" | "er" | "or" => undouble(head).to_owned(),
            _ => head.to_owned(),
        };
    }
    word.to_owned()
}

/// Turns `stopp` into `stop`; double letters that belong to the root (`pass`, `call`, `small`) stay.
fn undouble(head: &str) -> &str {
    match head.as_bytes() {
        [.., a, b] if a == b && head.len() > 3 && !matches!(b, b's' | b'z' | b'f' | b'e' | b'o' | b'l') => {
            &head[..head.len() - 1]
        }
        _ => head,
    }
}

fn finish(word: &str) -> String {
    let word = match word.strip_suffix('e') {
        Some(head) if head.len() >= 3 => head,
        _ => word,
    };
    // `cancelled` and `cancel`, `installer` and `install` get one stem, whichever of them doubles its last letter.
    let word = match word.strip_suffix("ll") {
        Some(head) if syllables(head) >= 2 => &word[..word.len() - 1],
        _ => word,
    };
    // British and American spelling get one stem.
    match word.strip_suffix("is") {
        Some(head) if head.len() >= 4 => format!("{head}iz"),
        _ => word.to_owned(),
    }
}

/// Counts runs of vowels.
fn syllables(word: &str) -> usize {
    let vowel = |byte: &u8| b"aeiouy".contains(byte);
    let bytes = word.as_bytes();
    (0..bytes.len()).filter(|&at| vowel(&bytes[at]) && (at == 0 || !vowel(&bytes[at - 1]))).count()
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
            &["refuse", "refused", "refusal"],
            &["remove", "removal", "removed"],
            &["small", "smaller"],
            &["install", "installer", "installed"],
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
    fn unrelated_nouns_keep_separate_stems() {
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
