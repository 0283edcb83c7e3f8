//! Importance of each term of a question, by its rarity, and the most relevant files.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::file_kind::FileKind;
use super::matching::{Match, Matcher};
use crate::question::Question;

/// Upper limit of rarity: a word in a single file may be there by chance.
const RAREST: f64 = 3.5;
/// Weight of a synonym relative to the word itself.
const SYNONYM: f64 = 0.75;
/// Upper limit of a verb relative to the most important noun.
const ACTION_SHARE: f64 = 1.0;
/// Weight of a file's name relative to its hits, for choosing files.
const NAMED_FILE: f64 = 0.7;
/// Number of hits that gives half the highest score.
const HALF_HITS: f64 = 3.0;
/// Bonus for a file that the question names.
const ASKED_FOR: f64 = 5.0;

/// Hits by file.
type Counts = BTreeMap<String, usize>;

/// The weight of each term times its rarity among the files found, for the word itself and for its synonyms.
#[derive(Debug)]
pub(crate) struct Importance {
    own: Vec<f64>,
    akin: Vec<f64>,
}

impl Importance {
    pub(crate) fn of(question: &Question, evidence: &Evidence) -> Self {
        let files = evidence.files().len() as f64;
        let rarity = |found: &Counts| {
            if found.is_empty() { 0.0 } else { (1.0 + files / found.len() as f64).ln().min(RAREST) }
        };
        let weigh = |counts: &[Counts], share: f64| {
            let terms = question.terms.iter().zip(counts);
            terms.map(|(term, found)| share * term.weight * rarity(found)).collect::<Vec<f64>>()
        };
        let mut own = weigh(&evidence.counts, 1.0);
        let akin = weigh(&evidence.synonym_counts, SYNONYM);
        // A weak term is not counted, but still distinguishes places.
        for (own, term) in own.iter_mut().zip(&question.terms) {
            if *own == 0.0 && term.is_weak() {
                *own = term.weight;
            }
        }
        let mut importance = Self { own, akin };
        importance.subordinate_actions(question);
        importance
    }

    /// Limits verbs: an action never counts more than its object, however rare the verb.
    fn subordinate_actions(&mut self, question: &Question) {
        let topics = question.terms.iter().enumerate().filter(|(_, term)| term.is_topic());
        let most = topics.map(|(index, _)| self.most(index)).fold(0.0, f64::max);
        if most == 0.0 {
            return;
        }
        for (index, term) in question.terms.iter().enumerate() {
            if !term.is_topic() {
                self.own[index] = self.own[index].min(ACTION_SHARE * most);
                self.akin[index] = self.akin[index].min(ACTION_SHARE * most);
            }
        }
    }

    /// Highest value of a mention of the term.
    pub(crate) fn most(&self, term: usize) -> f64 {
        self.own[term].max(self.akin[term])
    }

    /// Value of a text that mentions every term.
    pub(super) fn total(&self) -> f64 {
        (0..self.own.len()).map(|term| self.most(term)).sum()
    }

    /// Value of one mention. A synonym never counts more than the word itself, if that is found at all.
    pub(super) fn said(&self, found: &Match) -> f64 {
        let (own, akin) = (self.own[found.term], self.akin[found.term]);
        let worth = match (found.akin, own > 0.0) {
            (false, _) => own,
            (true, true) => akin.min(own),
            (true, false) => akin,
        };
        worth * found.strength
    }

    /// Value of all mentions in a text.
    pub(super) fn said_by(&self, found: &[Match]) -> f64 {
        found.iter().map(|found| self.said(found)).sum()
    }
}

/// Returns files by the share of the question that they cover, the best first.
pub(crate) fn best_files<'e>(question: &Question, evidence: &'e Evidence) -> Vec<&'e str> {
    let importance = Importance::of(question, evidence);
    let matcher = Matcher::new(&question.terms);
    let hits = |counts: &Counts, path: &str| {
        let hits = counts.get(path).copied().unwrap_or_default() as f64;
        hits / (hits + HALF_HITS)
    };
    let score = |path: &str| {
        let mut score = NAMED_FILE * importance.said_by(&matcher.find_in(path));
        for term in 0..question.terms.len() {
            let own = importance.own[term] * hits(&evidence.counts[term], path);
            let akin = importance.akin[term] * hits(&evidence.synonym_counts[term], path);
            score += own.max(akin);
        }
        if question.paths.iter().any(|asked| path.contains(asked.as_str())) {
            score += ASKED_FOR;
        }
        score * FileKind::of(path).worth(question)
    };
    let mut ranked: Vec<(&str, f64)> = evidence.files().into_iter().map(|path| (path, score(path))).collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(right.0)));
    ranked.into_iter().map(|(path, _)| path).collect()
}
