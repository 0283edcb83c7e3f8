//! Intent of a question, the kind of answer it wants, and the focus of its search.

use crate::language::lexicon::is_work;
use crate::language::words::words;

/// Kind of answer wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Asks where something is, or which code does it.
    Locate,
    /// Asks where something is defined.
    Define,
    /// Asks for callers or uses of something.
    Uses,
    /// Asks for files, or for all of something.
    List,
    /// Asks how something works.
    Explain,
    /// Asks about the workspace as a whole.
    Overview,
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
const OVERVIEW: &[&str] = &["overview", "architecture", "structure", "structured", "organized", "organised", "about"];

impl Intent {
    /// Derives the intent from the asking part of a prompt and the number of its topics.
    pub(crate) fn of(text: &str, topics: usize) -> Self {
        let lower = text.to_lowercase();
        if is_request_for_work(&lower) {
            return Self::Work;
        }
        let says = |any_of: &[&str]| words(&lower).any(|word| any_of.contains(&word));
        if says(WHOLE) && (topics == 0 || says(OVERVIEW)) {
            return Self::Overview;
        }
        let sign = SIGNS.iter().find(|(_, phrases)| phrases.iter().any(|phrase| lower.contains(phrase)));
        sign.map_or(Self::Locate, |(intent, _)| *intent)
    }
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
        ] {
            assert_eq!(Intent::of(text, 1), intent, "{text}");
        }
    }

    #[test]
    fn a_question_about_the_whole_is_recognised() {
        assert_eq!(Intent::of("What does this project do?", 0), Intent::Overview);
        assert_eq!(Intent::of("Give me an overview of this repo's architecture", 1), Intent::Overview);
        assert_eq!(Intent::of("Where does this crate parse urls?", 1), Intent::Locate);
    }

    #[test]
    fn a_stated_focus_wins() {
        assert_eq!(Focus::of(&["What?", "Focus on where it is called and used."], Intent::Locate), Focus::Uses);
        assert_eq!(Focus::of(&["What?", "Focus on tests."], Intent::Locate), Focus::Supporting);
        assert_eq!(Focus::of(&["What calls x?"], Intent::Uses), Focus::Uses);
    }
}
