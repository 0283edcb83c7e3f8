//! Question read from a prompt: its terms, the kind of answer it wants, and the focus of the search.
//!
//! Any prose will do, written by a person, another model or the main agent; there is no side channel.

pub(crate) mod intent;
pub(crate) mod term;
pub(crate) mod unsearchable;

use std::collections::BTreeSet;

use crate::language::lexicon::{is_action, is_stop_word, is_weak};
use crate::language::sentences::{instructs, is_path, plainly, sentences, split_quoted};
use crate::language::words::{is_identifier, pieces, words};
use intent::{Focus, Intent, asked_name};
use term::{Term, WEAK};

const MAX_TERMS: usize = 8;
/// Weights of a common verb, of a word outside the question, and of code or quoted text; a noun has 1.
const ACTION: f64 = 0.75;
const ASIDE: f64 = 0.35;
const VERBATIM: f64 = 1.6;
/// Weak words count more if there are at most this many others.
const FEW: usize = 2;
/// Fewest words of a question that are not in a line by chance.
const QUOTED_WORDS: usize = 4;
/// Letters of a word that are searched for if the whole word is not found.
const LOOSE_LETTERS: usize = 5;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    /// The part of the prompt that asks.
    pub(crate) text: String,
    /// Its words, in lower case.
    words: BTreeSet<String>,
    pub(crate) terms: Vec<Term>,
    /// Terms that are neighbours in the text.
    pub(crate) neighbours: Vec<(usize, usize)>,
    /// Paths named in the prompt.
    pub(crate) paths: Vec<String>,
    pub(crate) intent: Intent,
    pub(crate) focus: Focus,
}

impl Question {
    pub(crate) fn parse(prompt: &str) -> Self {
        let sentences = sentences(prompt);
        let asks = sentences.iter().any(|sentence| sentence.ends_with('?'));
        let mut gathered = Gathered::default();
        let mut text = Vec::new();
        for (at, sentence) in sentences.iter().enumerate() {
            let main = if asks { sentence.ends_with('?') } else { at == 0 };
            if main {
                text.push(*sentence);
            } else if instructs(sentence) {
                continue;
            }
            gathered.take_sentence(sentence, if main { 1.0 } else { ASIDE });
        }
        let text = text.join(" ");
        let intent = Intent::of(&text, gathered.terms.iter().filter(|term| !term.is_weak()).count());
        if let Some(name) = asked_name(&text).filter(|_| intent == Intent::Define) {
            gathered.terms = vec![Term::identifier(name, VERBATIM)];
            gathered.neighbours.clear();
        }
        let focus = Focus::of(&sentences, intent);
        let paths = gathered.paths.clone();
        let (terms, neighbours) = gathered.finish();
        let words = words(&text).map(str::to_lowercase).collect();
        Self { text, words, terms, neighbours, paths, intent, focus }
    }

    /// True if all that it names are files.
    pub(crate) fn is_about_files(&self) -> bool {
        !self.paths.is_empty() && !self.terms.iter().any(Term::is_topic)
    }

    /// True if facts answer it, without a search and its ranking.
    pub(crate) fn is_about_facts(&self) -> bool {
        let facts = [Intent::Overview, Intent::Todos, Intent::Dependencies, Intent::RunTests];
        self.is_about_files() || facts.contains(&self.intent)
    }

    /// True if a line says the question itself, as its documentation and its tests do.
    pub(crate) fn is_quoted_in(&self, line: &str) -> bool {
        let letters = |text: &str| words(text).collect::<Vec<&str>>().join(" ").to_lowercase();
        words(&self.text).nth(QUOTED_WORDS - 1).is_some() && letters(line).contains(&letters(&self.text))
    }

    /// True if the question has one of these words.
    pub(crate) fn mentions(&self, any_of: &[&str]) -> bool {
        any_of.iter().any(|word| self.words.contains(*word))
    }

    /// Terms that deserve a search of their own, with their index.
    pub(crate) fn strong_terms(&self) -> impl Iterator<Item = (usize, &Term)> {
        self.terms.iter().enumerate().filter(|(_, term)| !term.is_weak())
    }

    /// Returns the question with shortened words, for a second search if the first found nothing.
    pub(crate) fn loosened(&self) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        for term in self.terms.iter().filter(|term| !term.is_weak()) {
            let parts = if term.is_verbatim() { term.parts() } else { pieces(&term.label) };
            for part in parts.iter().filter(|part| part.len() > 2 && !is_stop_word(part)) {
                let start = part.get(..LOOSE_LETTERS).unwrap_or(part);
                let loose = if term.is_verbatim() {
                    Term::word(part, 1.0)
                } else {
                    Term::start(&term.label, start, term.weight)
                };
                if !terms.iter_mut().any(|known| known.absorb(&loose)) {
                    terms.push(loose);
                }
            }
        }
        terms.truncate(MAX_TERMS);
        Self { terms, neighbours: Vec::new(), ..self.clone() }
    }
}

/// Terms and paths found in the sentences so far.
#[derive(Default)]
struct Gathered {
    terms: Vec<Term>,
    paths: Vec<String>,
    neighbours: Vec<(usize, usize)>,
}

/// An ordinary word that became a term.
struct Taken {
    term: usize,
    word: String,
}

impl Gathered {
    fn take_sentence(&mut self, sentence: &str, weight: f64) {
        let (quoted, rest) = split_quoted(sentence);
        for quote in quoted {
            self.take_quoted(quote.trim(), weight);
        }
        let plain = plainly(&rest);
        let tokens: Vec<&str> = plain.split_whitespace().collect();
        let mut before: Option<Taken> = None;
        for (at, token) in tokens.iter().enumerate() {
            let share = if follows_as_verb(&tokens[..at]) { ACTION } else { 1.0 };
            let taken = self.take_token(token, weight * share, before.take());
            before = taken.filter(|_| !token.ends_with([',', ';', ':', ')']));
        }
    }

    fn take_quoted(&mut self, quote: &str, weight: f64) {
        if is_path(quote) {
            self.paths.push(quote.trim_start_matches("./").to_owned());
        } else if quote.contains(char::is_whitespace) {
            self.add(Term::phrase(quote, weight * VERBATIM));
        } else if quote.contains(char::is_alphanumeric) {
            self.add(Term::identifier(quote, weight * VERBATIM));
        }
    }

    /// Reads one token, which may be several words joined by hyphens; returns the last of them.
    fn take_token(&mut self, token: &str, weight: f64, before: Option<Taken>) -> Option<Taken> {
        let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '.'));
        let bare = bare.trim_end_matches('.');
        if is_path(bare) {
            self.paths.push(bare.trim_start_matches("./").to_owned());
            return None;
        }
        if is_identifier(bare) || token.contains("()") {
            self.add(Term::identifier(bare, weight * VERBATIM));
            return None;
        }
        let mut last = before;
        for part in words(bare) {
            let previous = last.take();
            last = self.take_word(&part.to_lowercase(), weight, previous.as_ref());
            if let (Some(previous), Some(taken)) = (&previous, &last)
                && previous.term != taken.term
            {
                self.join(previous, taken);
            }
        }
        last
    }

    fn take_word(&mut self, word: &str, weight: f64, before: Option<&Taken>) -> Option<Taken> {
        let aside = weight <= ASIDE;
        let number = word.len() < 3 && word.chars().all(|c| c.is_ascii_digit());
        if word.len() < 2 || number || is_stop_word(word) || (aside && is_weak(word)) {
            return None;
        }
        let share = if is_weak(word) {
            WEAK
        } else if is_action(word) {
            ACTION
        } else {
            1.0
        };
        let term = Term::word(word, weight * share);
        // Neighbours are two words of one name, even if they mean much the same: `error code`, `log trace`.
        let beside = before.map(|before| before.term);
        let known = (0..self.terms.len()).find(|&known| Some(known) != beside && self.terms[known].absorb(&term));
        let term = known.unwrap_or_else(|| self.push(term));
        Some(Taken { term, word: word.to_owned() })
    }

    fn add(&mut self, term: Term) {
        if !self.terms.iter_mut().any(|known| known.absorb(&term)) {
            self.push(term);
        }
    }

    fn push(&mut self, term: Term) -> usize {
        self.terms.push(term);
        self.terms.len() - 1
    }

    fn join(&mut self, left: &Taken, right: &Taken) {
        let compound = format!("{}{}", left.word, right.word);
        self.terms[left.term].add_compound(compound.clone());
        self.terms[right.term].add_compound(compound);
        self.neighbours.push((left.term, right.term));
    }

    /// Keeps the strongest terms, in the order of the text.
    fn finish(mut self) -> (Vec<Term>, Vec<(usize, usize)>) {
        // With few other terms and no file, the common words must do.
        let strong = self.terms.iter().filter(|term| !term.is_weak()).count();
        if strong < FEW && self.paths.is_empty() && !self.terms.iter().any(Term::is_verbatim) {
            for term in self.terms.iter_mut().filter(|term| term.is_weak()) {
                term.weight *= if strong == 0 { 4.0 } else { 2.0 };
            }
        }
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        order.sort_by(|&left, &right| self.terms[right].weight.total_cmp(&self.terms[left].weight));
        order.truncate(MAX_TERMS);
        order.sort_unstable();
        let place = |index: usize| order.iter().position(|&kept| kept == index);
        let neighbours =
            self.neighbours.iter().filter_map(|&(left, right)| Some((place(left)?, place(right)?))).collect();
        (order.iter().map(|&index| self.terms[index].clone()).collect(), neighbours)
    }
}

/// True if the next word can only be a verb: `how does it … `, `where do they … `.
fn follows_as_verb(before: &[&str]) -> bool {
    let [.., auxiliary, subject] = before else { return false };
    let auxiliary = matches!(auxiliary.to_lowercase().as_str(), "does" | "do" | "did" | "can" | "will" | "should");
    auxiliary && matches!(subject.to_lowercase().as_str(), "it" | "they" | "we" | "i" | "you" | "this" | "that")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(prompt: &str) -> Vec<String> {
        let mut terms = Question::parse(prompt).terms;
        terms.sort_by(|left, right| right.weight.total_cmp(&left.weight));
        terms.into_iter().map(|term| term.label).collect()
    }

    #[test]
    fn topics_come_before_actions_and_common_words() {
        assert_eq!(labels("Where are authentication errors handled?"), ["authentication", "errors", "handled"]);
        assert_eq!(labels("Which code decides how a cookie is parsed?"), ["cookie", "parsed", "code", "decides"]);
        assert_eq!(labels("How does it protect passwords?"), ["passwords", "protect"]);
    }

    #[test]
    fn instructions_for_the_answer_are_not_searched_for() {
        let prompt = "Where is the cache filled?\n\nFocus on the code that implements it.\nReport paths and lines.";
        assert_eq!(labels(prompt), ["cache", "filled"]);
    }

    #[test]
    fn names_quotes_and_paths_are_taken_as_they_stand() {
        let question = Question::parse("Why does `WalkBuilder` print \"too deep\" in src/walk.rs for max_depth()?");
        let labels: Vec<&str> = question.terms.iter().map(|term| term.label.as_str()).collect();
        assert_eq!(labels, ["WalkBuilder", "too deep", "print", "max_depth"]);
        assert_eq!(question.paths, ["src/walk.rs"]);
    }

    #[test]
    fn adjacent_words_are_remembered_as_neighbours() {
        let question = Question::parse("Where is the user agent set?");
        assert_eq!(question.neighbours.first(), Some(&(0, 1)));
    }

    #[test]
    fn a_greeting_has_no_topic() {
        assert_eq!(labels("hello, how are you?"), Vec::<String>::new());
    }

    #[test]
    fn common_words_count_if_there_are_no_others() {
        assert!(Question::parse("How do the tests work?").strong_terms().count() > 0);
    }
}
