//! Intent of a question, the kind of answer it wants, and the focus of its search.

use crate::language::lexicon::{is_stop_word, is_work};
use crate::language::sentences::is_path;
use crate::language::words::words;

/// Kind of answer wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Asks where something is, or which code does it.
    Locate,
    /// Asks where something is defined, or what it is.
    Define,
    /// Asks for callers or uses of something.
    Uses,
    /// Asks for files, or for all of something.
    List,
    /// Asks how something works.
    Explain,
    /// Asks about the workspace as a whole.
    Overview,
    /// Asks for the notes of work left to do.
    Todos,
    /// Asks for the dependencies of the workspace.
    Dependencies,
    /// Asks how to run the tests.
    RunTests,
    /// Work other than finding: writing, changing, running.
    Work,
}

/// Kind of code to prefer in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Implementation,
    Uses,
    /// Tests, examples and documents.
    Supporting,
}

/// Phrases that reveal an intent; the first match decides.
const SIGNS: &[(Intent, &[&str])] = &[
    (Intent::Uses, &["what calls", "who calls", "callers of", "what uses", "who uses", "used by", "usages of"]),
    (Intent::Uses, &["uses of", "is called", "are called", "is used", "are used", "call sites", "called from"]),
    (Intent::List, &["which files", "what files", "list all", "list the", "list every", "all the places", "enumerate"]),
    (Intent::Define, &["defined", "declared", "definition of", "declaration of"]),
    (Intent::Explain, &["explain", "how does", "how do", "how is", "how are", "how can", "why "]),
];

/// Words for a workspace as a whole.
const WHOLE: &[&str] =
    &["project", "repo", "repository", "codebase", "crate", "package", "workspace", "library", "code"];
const OVERVIEW: &[&str] = &[
    "overview",
    "architecture",
    "structure",
    "structured",
    "organized",
    "organised",
    "about",
    "summary",
    "summarise",
    "summarize",
    "describe",
    "readme",
];
const DEPENDENCIES: &[&str] = &["dependency", "dependencies"];
const RUN_TESTS: &[&str] =
    &["run the tests", "run tests", "run its tests", "run all tests", "tests run", "run the test"];
/// Words before a name that say what kind of thing it is.
const KINDS: &[&str] = &[
    "function",
    "fn",
    "method",
    "struct",
    "type",
    "class",
    "trait",
    "enum",
    "macro",
    "module",
    "constant",
    "interface",
];

impl Intent {
    /// Derives the intent from the asking part of a prompt and the number of its topics.
    pub(crate) fn of(text: &str, topics: usize) -> Self {
        let lower = text.to_lowercase();
        if is_request_for_work(&lower) {
            return Self::Work;
        }
        let says = |any_of: &[&str]| words(&lower).any(|word| any_of.contains(&word));
        let places = ["where", "which"].iter().any(|opening| lower.trim_start().starts_with(opening));
        if words(text).any(|word| ["TODO", "TODOs", "TODOS", "FIXME", "FIXMEs"].contains(&word)) && !lower.contains('`')
        {
            return Self::Todos;
        }
        if says(DEPENDENCIES) && !lower.starts_with("where") && (says(WHOLE) || topics <= 1) {
            return Self::Dependencies;
        }
        if !places && RUN_TESTS.iter().any(|phrase| lower.contains(phrase)) {
            return Self::RunTests;
        }
        let covers_all = || words(&lower).all(|word| is_stop_word(word) || [WHOLE, OVERVIEW].concat().contains(&word));
        if says(WHOLE) && (topics == 0 || says(OVERVIEW)) || (says(OVERVIEW) && covers_all()) {
            return Self::Overview;
        }
        if asked_name(text).is_some() {
            return Self::Define;
        }
        let sign = SIGNS.iter().find(|(_, phrases)| phrases.iter().any(|phrase| lower.contains(phrase)));
        sign.map_or(Self::Locate, |(intent, _)| *intent)
    }
}

/// Returns the name whose meaning is asked for: `what is JoinSet`, `What does the function poll_acquire do?`, `Mutex`.
pub(crate) fn asked_name(text: &str) -> Option<&str> {
    let tokens: Vec<&str> = text.trim_end_matches(['?', '.', '!', ' ']).split_whitespace().collect();
    let lower: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let skipped = match &lower[..] {
        ["what", "is" | "are", ..] | ["what", "does", .., "do" | "mean"] => 2,
        ["what's" | "whats" | "define", ..] => 1,
        [_] if tokens[0].starts_with(|first: char| first.is_uppercase() || first == '`') => 0,
        _ => return None,
    };
    let end = lower.len() - usize::from(lower.get(1) == Some(&"does"));
    let mut rest = tokens.get(skipped..end)?;
    while let [first, others @ ..] = rest
        && !others.is_empty()
        && (["a", "an", "the"].contains(first) || KINDS.contains(first))
    {
        rest = others;
    }
    let [name] = rest else { return None };
    let name = name.trim_matches('`').trim_end_matches("()").rsplit("::").next()?;
    let plain = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (plain && !is_stop_word(&name.to_lowercase()) && !is_path(name)).then_some(name)
}

/// True if it begins with a verb of work: an order, or a polite question for one.
fn is_request_for_work(lower: &str) -> bool {
    let mut request = lower.trim();
    for opening in ["please ", "can you ", "could you ", "would you ", "i want you to ", "i need you to ", "please "] {
        request = request.strip_prefix(opening).unwrap_or(request);
    }
    let polite = request.len() < lower.trim().len();
    let begins = words(request).next().is_some_and(is_work);
    begins && (polite || !lower.trim().ends_with('?'))
}

impl Focus {
    /// Returns the focus that the prompt states, else the one that its intent suggests.
    pub(crate) fn of(sentences: &[&str], intent: Intent) -> Self {
        let said = sentences.iter().map(|sentence| sentence.to_lowercase()).find(|said| said.starts_with("focus on"));
        match said {
            Some(said) if said.contains("tests") => Self::Supporting,
            Some(said) if said.contains("called") || said.contains("used") => Self::Uses,
            None if intent == Intent::Uses => Self::Uses,
            _ => Self::Implementation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_answer_is_read_from_the_words() {
        for (text, intent) in [
            ("Where is the cache filled?", Intent::Locate),
            ("Where is Walk defined?", Intent::Define),
            ("What calls flush?", Intent::Uses),
            ("Which files deal with locks?", Intent::List),
            ("How does paging work?", Intent::Explain),
            ("Fix the bug in the parser", Intent::Work),
            ("Can you write tests for the parser?", Intent::Work),
            ("Add retries where?", Intent::Locate),
            ("what is JoinSet", Intent::Define),
            ("What does function poll_acquire do?", Intent::Define),
            ("Where are TODO comments?", Intent::Todos),
            ("What dependencies does this project have?", Intent::Dependencies),
            ("Where are dependencies resolved?", Intent::Locate),
            ("How do I run the tests?", Intent::RunTests),
        ] {
            assert_eq!(Intent::of(text, 1), intent, "{text}");
        }
    }

    #[test]
    fn a_question_about_the_whole_is_recognised() {
        assert_eq!(Intent::of("What does this project do?", 0), Intent::Overview);
        assert_eq!(Intent::of("Give me an overview of this repo's architecture", 1), Intent::Overview);
        assert_eq!(Intent::of("Where does this crate parse urls?", 1), Intent::Locate);
        assert_eq!(Intent::of("Summarise this project", 1), Intent::Overview);
        assert_eq!(Intent::of("show me the README", 1), Intent::Overview);
        assert_eq!(Intent::of("Give me an overview of the architecture", 2), Intent::Overview);
        assert_eq!(Intent::of("Where is the architecture detected?", 2), Intent::Locate);
    }

    #[test]
    fn the_name_that_a_question_is_about_is_found() {
        for (text, name) in [
            ("what is JoinSet", Some("JoinSet")),
            ("What is a slot?", Some("slot")),
            ("Mutex", Some("Mutex")),
            ("What does the method `Slot::lend()` do?", Some("lend")),
            ("What does this do?", None),
            ("What is the default timeout?", None),
            ("flush", None),
        ] {
            assert_eq!(asked_name(text), name, "{text}");
        }
    }

    #[test]
    fn a_stated_focus_wins() {
        assert_eq!(Focus::of(&["What?", "Focus on where it is called and used."], Intent::Locate), Focus::Uses);
        assert_eq!(Focus::of(&["What?", "Focus on tests."], Intent::Locate), Focus::Supporting);
        assert_eq!(Focus::of(&["What calls x?"], Intent::Uses), Focus::Uses);
    }
}
