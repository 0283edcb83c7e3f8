//! Light stemming of English words, so that *reviewer*, *reviews* and *reviewing* are one word.
//!
//! It cuts endings and knows no exceptions: a stem need not be a word, it only has to be the same for related words.
//! The first letter always stays.

/// Cuts the endings of a word in lower case.
pub(super) fn stem(word: &mut String) {
    if !word.is_ascii() || word.len() < 3 {
        return;
    }
    plural(word);
    if word.len() < 4 {
        return;
    }
    // Longer endings first, and at most one. The minimum of remaining letters keeps short words apart.
    let _one_is_enough = cut(word, "ation", 5)
        || cut(word, "ure", 9)
        || cut(word, "ment", 5)
        || cut(word, "ing", 3)
        || cut(word, "ate", 5)
        || cut(word, "ion", 4)
        || cut(word, "ed", 3)
        || cut(word, "er", 3)
        || cut(word, "ly", 4);
    if word.len() > 3 {
        cut(word, "e", 3);
        undouble(word);
    }
    if word.ends_with("iz") || word.ends_with("yz") {
        word.pop();
        word.push('s');
    }
}

fn plural(word: &mut String) {
    if word.len() <= 4 && is_short_plural(word.as_bytes()) {
        word.pop();
    } else if word.len() < 4 {
        // *bus*, *gas*, *ios*.
    } else if word.ends_with("sis") {
        word.truncate(word.len() - 2);
    } else if word.ends_with("ies") && word.len() > 4 {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") || word.ends_with("shes") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is") {
        word.pop();
    }
}

/// True for abbreviations with an *s*, but not for longer words with the same ending: *prs*, *dbs*, *apis*, *uris*.
fn is_short_plural(word: &[u8]) -> bool {
    match word {
        [_, last, b's'] => !matches!(last, b'a' | b'e' | b'i' | b'o' | b'u' | b's'),
        [_, _, last, b's'] => *last == b'i',
        _ => false,
    }
}

/// Cuts an ending if that many letters remain.
fn cut(word: &mut String, ending: &str, remaining: usize) -> bool {
    let fits = word.len() >= ending.len() + remaining && word.ends_with(ending);
    if fits {
        word.truncate(word.len() - ending.len());
    }
    fits
}

/// *planning* → *plann* → *plan*; *process* keeps its two.
fn undouble(word: &mut String) {
    let mut ending = word.bytes().rev();
    if let (Some(last), Some(before)) = (ending.next(), ending.next())
        && last == before
        && !matches!(last, b'a' | b'e' | b'i' | b'l' | b'o' | b's' | b'u')
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use crate::matching::stem::stem;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn related_words_have_one_stem() {
        for family in [
            &["review", "reviews", "reviewer", "reviewers", "reviewed", "reviewing"][..],
            &["test", "tests", "tester", "testing", "tested"],
            &["plan", "plans", "planner", "planning", "planned"],
            &["explore", "explores", "explorer", "exploring", "explored"],
            &["debug", "debugs", "debugger", "debugging"],
            &["document", "documents", "documentation", "documenting"],
            &["migrate", "migration", "migrations", "migrating"],
            &["optimize", "optimise", "optimization", "optimiser"],
            &["dependency", "dependencies"],
            &["fix", "fixes", "fixing", "fixer"],
            &["deploy", "deployment", "deploying"],
            &["refactor", "refactors", "refactoring"],
            &["analyze", "analyzer", "analysis", "analysing"],
            &["api", "apis"],
            &["pr", "prs"],
            &["cli", "clis"],
            &["uri", "uris"],
            &["architect", "architects", "architecture", "architectures"],
            &["restructure", "restructuring", "restructured"],
        ] {
            let stems: Vec<String> = family.iter().map(|word| stemmed(word)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{family:?} became {stems:?}");
        }
    }

    #[test]
    fn unrelated_words_stay_apart() {
        for (left, right) in [
            ("test", "text"),
            ("plan", "plant"),
            ("class", "clan"),
            ("error", "errand"),
            ("api", "app"),
            ("ios", "io"),
            ("bus", "bu"),
        ] {
            assert_ne!(stemmed(left), stemmed(right));
        }
    }
}
