//! Angles on a question: each gets an explorer of its own, all at once.
//!
//! An explorer gets only prose, so an angle is a sentence that a person could have written.

use crate::language::words::words;
use crate::question::Question;
use crate::question::intent::Focus;

/// One way to look at a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Angle {
    /// A few words for displays.
    pub(super) description: String,
    /// Question for the explorer; `None` for the whole request as it is.
    pub(super) question: Option<String>,
    /// Sentence that sets the focus.
    pub(super) focus: &'static str,
    /// Weight of its report in the answer.
    pub(super) weight: f64,
}

const IMPLEMENTATION: &str = "Focus on the code that implements it.";
const USES: &str = "Focus on where it is called and used.";
const SUPPORTING: &str = "Focus on tests, examples and documentation of it.";

/// Weights of the second and the third angle; the first has 1.
const SECOND: f64 = 0.45;
const THIRD: f64 = 0.2;

/// Returns the angles that fit a question, the most important first.
pub(super) fn angles(question: &Question) -> Vec<Angle> {
    let whole =
        |description: &str, focus, weight| Angle { description: description.to_owned(), question: None, focus, weight };
    let implementation = |weight| whole("Find the implementation", IMPLEMENTATION, weight);
    let uses = |weight| whole("Find where it is used", USES, weight);
    let supporting = |weight| whole("Find tests and documents", SUPPORTING, weight);
    if question.is_about_facts() {
        return vec![whole("Look around", "", 1.0)];
    }
    if let Some(topics) = topics(question) {
        let of_topic = |(topic, text)| Angle {
            description: format!("Find out about {topic}"),
            question: Some(text),
            focus: IMPLEMENTATION,
            weight: SECOND,
        };
        return std::iter::once(implementation(1.0)).chain(topics.map(of_topic)).collect();
    }
    match question.focus {
        Focus::Uses => vec![uses(1.0), implementation(SECOND)],
        Focus::Supporting => vec![supporting(1.0), implementation(SECOND)],
        Focus::Implementation => vec![implementation(1.0), uses(SECOND), supporting(THIRD)],
    }
}

/// Returns two topics joined by `and`, each with the question narrowed to it.
fn topics(question: &Question) -> Option<[(String, String); 2]> {
    let (before, after) = question.text.split_once(" and ")?;
    let left = before.rsplit(' ').next()?;
    let right = after.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').next()?;
    let around = (before[..before.len() - left.len()].split_whitespace().next_back(), after.split_whitespace().nth(1));
    // Only if both sides are one word each; `user agents and proxy settings` cannot be split without a parser.
    let topic = |word: &str| words(word).next().is_some_and(|word| is_topic(question, word));
    let alone = |word: Option<&str>| !word.is_some_and(topic);
    if !(topic(left) && topic(right) && alone(around.0) && alone(around.1)) {
        return None;
    }
    let only_left = format!("{before}{}", &after[right.len()..]);
    let only_right = format!("{}{after}", &before[..before.len() - left.len()]);
    Some([(left.to_owned(), only_left), (right.to_owned(), only_right)])
}

fn is_topic(question: &Question, word: &str) -> bool {
    question.terms.iter().any(|term| term.is_topic() && term.label.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptions(prompt: &str) -> Vec<String> {
        angles(&Question::parse(prompt)).into_iter().map(|angle| angle.description).collect()
    }

    #[test]
    fn a_question_is_looked_at_from_several_sides() {
        assert_eq!(
            descriptions("Where are redirects limited?"),
            ["Find the implementation", "Find where it is used", "Find tests and documents"]
        );
        assert_eq!(descriptions("What calls flush?"), ["Find where it is used", "Find the implementation"]);
        for facts in ["What does this project do?", "Explain src/a.rs", "Where are TODO comments?"] {
            assert_eq!(descriptions(facts), ["Look around"], "{facts}");
        }
    }

    #[test]
    fn two_topics_get_an_explorer_each() {
        let angles = angles(&Question::parse("Where are transactions and backups implemented?"));
        let questions: Vec<Option<&str>> = angles.iter().map(|angle| angle.question.as_deref()).collect();
        assert_eq!(
            questions,
            [None, Some("Where are transactions implemented?"), Some("Where are backups implemented?")]
        );
    }

    #[test]
    fn a_question_that_cannot_be_split_safely_stays_whole() {
        assert_eq!(descriptions("How are user agents and proxy settings read?").len(), 3);
        assert!(!descriptions("How are user agents and proxy settings read?")[1].contains("about"));
    }
}
