//! What a passage is worth for a question.
//!
//! Each term adds by where it stands (name, documentation, body, path) with diminishing returns; rarer terms count
//! more; passages that speak of several terms, close together, come first.

use std::collections::{BTreeMap, HashMap};

use super::evidence::Evidence;
use super::files::FileKind;
use super::passages::{Part, Passage, label, passages};
use super::question::{Focus, Intent, Question};
use super::terms::{Match, Tokens};

/// A place worth pointing at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: usize,
    /// The line itself, trimmed.
    pub(super) text: String,
    /// The definition that it is in, or is: `fn open (impl Store)`.
    pub(super) within: Option<String>,
    /// The first sentence of the definition's documentation.
    pub(super) summary: Option<String>,
    pub(super) score: f64,
    /// Lines that belong to it, for reading around it.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The terms that it speaks of, by their index in the question.
    pub(super) matched: Vec<usize>,
}

/// How much a term counts by where it stands.
struct Weights {
    name: f64,
    parent: f64,
    path: f64,
    doc: f64,
    body: f64,
}

const IMPLEMENTATION: Weights = Weights { name: 3.0, parent: 0.8, path: 0.8, doc: 1.5, body: 0.6 };
const USES: Weights = Weights { name: 0.8, parent: 0.5, path: 0.5, doc: 0.4, body: 2.0 };

/// Terms at half their possible worth when the weighted number of their occurrences reaches this.
const HALF: f64 = 1.5;
/// What a place is worth whose line was already shown from another file.
const REPEATED: f64 = 0.6;
/// A body of this many lines counts each occurrence fully; longer ones count less for each.
const USUAL_SPAN: f64 = 30.0;

/// How much each term says about the question: its weight times its rarity among the files found.
pub(super) fn importance(question: &Question, evidence: &Evidence) -> Vec<f64> {
    let files = evidence.files().len() as f64;
    let rarity = |term: usize| {
        let found = evidence.counts.get(term).map_or(0, BTreeMap::len) as f64;
        if found > 0.0 { (1.0 + files / found).ln() } else { (1.0 + files).ln().min(2.0) }
    };
    question.terms.iter().enumerate().map(|(index, term)| term.weight * rarity(index)).collect()
}

/// Files by how much of the question they speak of, the best first.
pub(super) fn files<'e>(question: &Question, evidence: &'e Evidence) -> Vec<(&'e str, f64)> {
    let importance = importance(question, evidence);
    let mut ranked: Vec<(&str, f64)> = evidence
        .files()
        .into_iter()
        .map(|path| {
            let name = Tokens::of(path);
            let mut score = 0.0;
            for (index, term) in question.terms.iter().enumerate() {
                let hits = evidence.counts[index].get(path).copied().unwrap_or_default() as f64;
                let named = term.find_in(&name).map_or(0.0, |found| found.strength);
                score += importance[index] * (hits / (hits + 3.0) + 0.7 * named);
            }
            let asked = question.paths.iter().any(|asked| path.contains(asked.as_str()));
            (path, (score + if asked { 5.0 } else { 0.0 }) * FileKind::of(path).worth(question))
        })
        .collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(right.0)));
    ranked
}

/// All places seen so far, the best first.
pub(super) fn places(question: &Question, evidence: &Evidence) -> Vec<Place> {
    let scorer = Scorer::new(question, evidence);
    let mut places: Vec<Place> = Vec::new();
    for (path, lines) in &evidence.lines {
        let path_tokens = Tokens::of(path);
        places.extend(passages(path, lines).iter().filter_map(|passage| scorer.place(passage, &path_tokens)));
    }
    sort(&mut places);
    // The same definition once more, as in variants for other platforms, says little new.
    let mut seen: HashMap<String, f64> = HashMap::new();
    for place in &mut places {
        let worth = seen.entry(place.text.clone()).or_insert(1.0);
        place.score *= *worth;
        *worth *= REPEATED;
    }
    sort(&mut places);
    places
}

fn sort(places: &mut [Place]) {
    places.sort_by(|left, right| {
        right.score.total_cmp(&left.score).then_with(|| (&left.path, left.line).cmp(&(&right.path, right.line)))
    });
}

struct Scorer<'q> {
    question: &'q Question,
    importance: Vec<f64>,
    total: f64,
    weights: &'static Weights,
}

/// What one passage says of each term, gathered line by line.
#[derive(Default)]
struct Tally {
    /// Weighted occurrences by term.
    occurrences: HashMap<usize, f64>,
    /// The best line of the body and what it is worth.
    best_body: Option<(usize, f64)>,
    /// The most that any one line says.
    densest: f64,
    adjacency: f64,
    /// What name and documentation say, against the body.
    head: f64,
}

impl<'q> Scorer<'q> {
    fn new(question: &'q Question, evidence: &Evidence) -> Self {
        let importance = importance(question, evidence);
        let total = importance.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let weights = if question.focus == Focus::Uses { &USES } else { &IMPLEMENTATION };
        Self { question, importance, total, weights }
    }

    fn place(&self, passage: &Passage<'_>, path: &Tokens) -> Option<Place> {
        let mut tally = self.tally(passage);
        if tally.occurrences.is_empty() {
            return None;
        }
        let parents = Tokens::of(&passage.parents.join(" "));
        self.add(&mut tally, path, self.weights.path);
        self.add(&mut tally, &parents, self.weights.parent);
        let mut matched: Vec<usize> = tally.occurrences.keys().copied().collect();
        matched.sort_unstable();
        let worth: f64 = matched
            .iter()
            .map(|term| {
                let occurrences = tally.occurrences[term];
                self.importance[*term] * occurrences / (occurrences + HALF)
            })
            .sum();
        let coverage = matched.iter().map(|term| self.importance[*term]).sum::<f64>() / self.total;
        let kind = if passage.in_tests { FileKind::Test } else { FileKind::of(passage.path) };
        let score = (worth + 0.5 * tally.densest + tally.adjacency)
            * (0.3 + 0.7 * coverage)
            * self.form(passage)
            * kind.worth(self.question).min(FileKind::of(passage.path).worth(self.question));
        let body_line = tally.best_body.map(|(line, _)| line);
        let body_worth = tally.best_body.map_or(0.0, |(_, worth)| worth);
        let line = match body_line {
            Some(line) if passage.definition.is_none() || body_worth > tally.head => line,
            _ => passage.first_line(),
        };
        Some(describe(passage, line, score, matched))
    }

    fn tally(&self, passage: &Passage<'_>) -> Tally {
        let mut tally = Tally::default();
        let thinning = (USUAL_SPAN / passage.span as f64).clamp(0.25, 1.0);
        let mut documented: HashMap<usize, f64> = HashMap::new();
        for line in &passage.lines {
            let tokens = Tokens::of(line.text);
            let weight = match line.part {
                Part::Doc => {
                    let said = self.document(&mut documented, &tokens);
                    tally.densest = tally.densest.max(said);
                    tally.head = tally.head.max(0.8 * said);
                    continue;
                }
                Part::Head => self.weights.body,
                Part::Body => self.weights.body * thinning,
                Part::Comment => 0.6 * self.weights.body * thinning,
                Part::Import => 0.1,
            };
            let said = self.add(&mut tally, &tokens, weight);
            if line.part == Part::Import {
                continue;
            }
            tally.densest = tally.densest.max(said);
            match line.part {
                Part::Body | Part::Comment if said > tally.best_body.map_or(0.0, |(_, best)| best) => {
                    tally.best_body = Some((line.number, said));
                }
                _ => {}
            }
        }
        // Long documentation repeats itself: each term counts once.
        for (term, strength) in documented {
            *tally.occurrences.entry(term).or_default() += self.weights.doc * strength;
        }
        if let Some((_, definition)) = &passage.definition {
            let name = Tokens::of(&definition.name);
            let fit = self.fit(&name);
            let said = self.add(&mut tally, &name, self.weights.name * fit);
            tally.head = tally.head.max(1.5 * said);
            tally.adjacency += 0.5 * self.adjacency(&name);
        }
        tally
    }

    /// Notes the best that documentation says of each term; returns the importance of all that this line says.
    fn document(&self, documented: &mut HashMap<usize, f64>, tokens: &Tokens) -> f64 {
        let mut said = 0.0;
        for (term, found) in self.matches(tokens) {
            let best = documented.entry(term).or_default();
            *best = best.max(found.strength);
            said += self.importance[term] * found.strength;
        }
        said
    }

    /// Adds what a text says of each term; returns the importance of all that it says.
    fn add(&self, tally: &mut Tally, tokens: &Tokens, weight: f64) -> f64 {
        let mut said = 0.0;
        for (term, found) in self.matches(tokens) {
            *tally.occurrences.entry(term).or_default() += weight * found.strength;
            said += self.importance[term] * found.strength;
        }
        said
    }

    fn matches(&self, tokens: &Tokens) -> impl Iterator<Item = (usize, Match)> {
        let found = self.question.terms.iter().enumerate().filter_map(|(at, term)| Some((at, term.find_in(tokens)?)));
        found.collect::<Vec<_>>().into_iter()
    }

    /// Which share of a name the question asks about: `Error` fits better than `ErrorStackFactory`.
    fn fit(&self, name: &Tokens) -> f64 {
        let mut positions: Vec<usize> = self.matches(name).map(|(_, found)| found.position).collect();
        positions.sort_unstable();
        positions.dedup();
        (positions.len() as f64 / name.topical().max(1) as f64).min(1.0).sqrt()
    }

    /// Words that are neighbours in the question and in the name.
    fn adjacency(&self, tokens: &Tokens) -> f64 {
        let found: HashMap<usize, Match> = self.matches(tokens).collect();
        self.question
            .neighbours
            .iter()
            .filter_map(|(left, right)| {
                let (first, second) = (found.get(left)?, found.get(right)?);
                let near = first.position.abs_diff(second.position) <= 1;
                near.then_some((self.importance[*left] + self.importance[*right]) * first.strength * second.strength)
            })
            .sum()
    }

    /// What the form of a passage is worth for this kind of question.
    fn form(&self, passage: &Passage<'_>) -> f64 {
        let Some((_, definition)) = &passage.definition else { return 0.6 };
        match (self.question.intent, definition.keyword) {
            (_, "mod" | "module" | "namespace") => 0.7,
            (Intent::Define, "struct" | "enum" | "trait" | "class" | "interface" | "type" | "const" | "fn" | "def") => {
                1.2
            }
            (_, "impl") => 0.8,
            (_, "const" | "static" | "let" | "var") => 0.9,
            _ => 1.0,
        }
    }
}

fn describe(passage: &Passage<'_>, line: usize, score: f64, matched: Vec<usize>) -> Place {
    let text = passage.lines.iter().find(|seen| seen.number == line).map_or("", |seen| seen.text.trim());
    let within = passage.definition.as_ref().map(|(_, definition)| {
        let own = label(definition);
        match passage.parents.last() {
            Some(parent) => format!("{own}, {parent}"),
            None => own,
        }
    });
    let first = passage.lines.first().map_or(line, |seen| seen.number);
    Place {
        path: passage.path.to_owned(),
        line,
        text: text.to_owned(),
        within: within.or_else(|| passage.parents.last().cloned()),
        summary: summary(passage),
        score,
        first,
        last: first + passage.span,
        matched,
    }
}

/// The first sentence of the documentation.
fn summary(passage: &Passage<'_>) -> Option<String> {
    let mut text = String::new();
    for line in passage.lines.iter().filter(|line| line.part == Part::Doc) {
        let bare = line.text.trim();
        if bare.starts_with("#[") || bare.starts_with('@') {
            continue;
        }
        let bare = bare.trim_start_matches(['/', '*', '!', '#', '-']).trim();
        if bare.is_empty() && !text.is_empty() {
            break;
        }
        text.push_str(bare);
        text.push(' ');
        if bare.ends_with('.') {
            break;
        }
    }
    let sentence = text.split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}
