//! What a passage is worth for a question.
//!
//! Each term adds by where it stands (name, documentation, body, path) with diminishing returns; rarer terms count
//! more; passages that speak of several terms, close together, come first.

use std::collections::{BTreeMap, HashMap};

use super::evidence::Evidence;
use super::files::FileKind;
use super::passages::{Part, Passage, passages};
use super::place::{Place, describe};
use super::question::{Focus, Intent, Question};
use super::matching::{Match, Matcher, Tokens};

/// What a mention is worth by where it stands, where the implementation is wanted…
const NAME: f64 = 3.0;
const PARENT: f64 = 0.8;
const PATH: f64 = 0.8;
const DOC: f64 = 1.5;
const BODY: f64 = 0.6;
/// … and where uses are.
const USE_NAME: f64 = 0.8;
const USE_DOC: f64 = 0.4;
const USE_BODY: f64 = 2.0;
/// Documentation counts fully within this many lines, elsewhere by this share.
const DOC_WINDOW: usize = 3;
const FAR_DOC: f64 = 0.25;
const COMMENT_SHARE: f64 = 0.6;
const IMPORT: f64 = 0.1;

/// What a file's name says, against its hits, when files are chosen.
const NAMED_FILE: f64 = 0.7;

/// A term is at half its possible worth when its weighted mentions reach this.
const HALF: f64 = 1.5;
/// What a synonym says of a term, against the word itself.
const SYNONYM: f64 = 0.6;
/// What the densest line adds, and words that are neighbours in the question and in a name.
const DENSITY: f64 = 0.5;
const ADJACENCY: f64 = 0.5;
/// The weighted mentions that cover a term.
const COVERED: f64 = 0.6;
/// What is left of a passage that covers almost nothing of the question.
const UNCOVERED: f64 = 0.3;
/// What a place is worth whose line was already shown from another file.
const REPEATED: f64 = 0.6;
/// A body of this many lines counts each mention fully; longer ones count less for each.
const USUAL_SPAN: f64 = 30.0;
/// What the definition of a value without code of its own is worth, where code is asked for.
const TYPE_FORM: f64 = 0.85;
const TINY_FORM: f64 = 0.8;
const LOOSE_FORM: f64 = 0.6;

/// How much each term says about the question: its weight times its rarity among the files found.
pub(super) struct Importance {
    own: Vec<f64>,
    akin: Vec<f64>,
}

impl Importance {
    pub(super) fn of(question: &Question, evidence: &Evidence) -> Self {
        let files = evidence.files().len() as f64;
        let rarity = |found: &BTreeMap<String, usize>| {
            if found.is_empty() { 0.0 } else { (1.0 + files / found.len() as f64).ln() }
        };
        let weigh = |counts: &[BTreeMap<String, usize>], share: f64| {
            let terms = question.terms.iter().zip(counts);
            terms.map(|(term, found)| share * term.weight * rarity(found)).collect::<Vec<f64>>()
        };
        let mut own = weigh(&evidence.counts, 1.0);
        let akin = weigh(&evidence.synonym_counts, SYNONYM);
        // A term that was not counted, because it is weak, still tells places apart.
        for (own, term) in own.iter_mut().zip(&question.terms) {
            if *own == 0.0 && term.is_weak() {
                *own = term.weight;
            }
        }
        Self { own, akin }
    }

    /// The most that a mention of the term can say.
    pub(super) fn most(&self, term: usize) -> f64 {
        self.own[term].max(self.akin[term])
    }

    /// What one mention says. A synonym never says more than the word itself, where that is found at all.
    fn said(&self, found: Match) -> f64 {
        let (own, akin) = (self.own[found.term], self.akin[found.term]);
        found.strength * if !found.akin { own } else if own > 0.0 { akin.min(own) } else { akin }
    }
}

/// Files by how much of the question they speak of, the best first.
pub(super) fn files<'e>(question: &Question, evidence: &'e Evidence) -> Vec<(&'e str, f64)> {
    let importance = Importance::of(question, evidence);
    let hits = |counts: &BTreeMap<String, usize>, path: &str| {
        let hits = counts.get(path).copied().unwrap_or_default() as f64;
        hits / (hits + 3.0)
    };
    let matcher = Matcher::new(&question.terms);
    let mut ranked: Vec<(&str, f64)> = evidence
        .files()
        .into_iter()
        .map(|path| {
            let named = matcher.find_in(path).into_iter().map(|found| importance.said(found)).sum::<f64>();
            let mut score = NAMED_FILE * named;
            for index in 0..question.terms.len() {
                let own = importance.own[index] * hits(&evidence.counts[index], path);
                let akin = importance.akin[index] * hits(&evidence.synonym_counts[index], path);
                score += own.max(akin);
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
        let named = scorer.matcher.find_in(path);
        places.extend(passages(path, lines).iter().filter_map(|passage| scorer.place(passage, &named)));
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
    matcher: Matcher<'q>,
    importance: Importance,
    /// What a passage that speaks of every term would say.
    total: f64,
}

/// What one passage says, gathered line by line.
#[derive(Default)]
struct Tally {
    /// Weighted mentions by term, and the most that one of them says.
    mentions: HashMap<usize, (f64, f64)>,
    /// The best line of the body and what it says.
    best_body: Option<(usize, f64)>,
    densest: f64,
    adjacency: f64,
    /// What name and documentation say, against the body.
    head: f64,
}

impl<'q> Scorer<'q> {
    fn new(question: &'q Question, evidence: &Evidence) -> Self {
        let importance = Importance::of(question, evidence);
        let total = (0..question.terms.len()).map(|term| importance.most(term)).sum::<f64>().max(f64::MIN_POSITIVE);
        Self { question, matcher: Matcher::new(&question.terms), importance, total }
    }

    fn uses(&self) -> bool {
        self.question.focus == Focus::Uses
    }

    fn place(&self, passage: &Passage<'_>, path: &[Match]) -> Option<Place> {
        let mut tally = self.tally(passage);
        if tally.mentions.is_empty() {
            return None;
        }
        self.add(&mut tally, path, PATH);
        self.add(&mut tally, &self.matcher.find_in(&passage.parents.join(" ")), PARENT);
        let worth: f64 = tally.mentions.values().map(|(mentions, said)| said * mentions / (mentions + HALF)).sum();
        let covered = |(mentions, said): &(f64, f64)| said * (mentions / COVERED).min(1.0);
        let coverage = tally.mentions.values().map(covered).sum::<f64>() / self.total;
        let score = (worth + DENSITY * tally.densest + ADJACENCY * tally.adjacency)
            * (UNCOVERED + (1.0 - UNCOVERED) * coverage)
            * self.form(passage)
            * self.file(passage);
        let line = match tally.best_body {
            Some((line, said)) if passage.definition.is_none() || said > tally.head => line,
            _ => passage.first_line(),
        };
        let mut matched: Vec<usize> = tally.mentions.keys().copied().collect();
        matched.sort_unstable();
        Some(describe(passage, line, score, matched))
    }

    fn tally(&self, passage: &Passage<'_>) -> Tally {
        let mut tally = Tally::default();
        let body = if self.uses() { USE_BODY } else { BODY };
        let thinning = (USUAL_SPAN / passage.span as f64).clamp(0.25, 1.0);
        let mut documentation: Vec<(usize, Vec<Match>)> = Vec::new();
        for line in &passage.lines {
            let found = self.matcher.find_in(line.text);
            if found.is_empty() {
                continue;
            }
            let said = self.say(&found);
            match line.part {
                Part::Doc => documentation.push((line.number, found)),
                Part::Head => self.add(&mut tally, &found, body),
                Part::Body => self.add(&mut tally, &found, body * thinning),
                Part::Comment => self.add(&mut tally, &found, COMMENT_SHARE * body * thinning),
                Part::Import => {
                    self.add(&mut tally, &found, IMPORT);
                    continue;
                }
            }
            tally.densest = tally.densest.max(said);
            match line.part {
                Part::Doc => tally.head = tally.head.max(0.8 * said),
                Part::Body | Part::Comment if said > tally.best_body.map_or(0.0, |(_, best)| best) => {
                    tally.best_body = Some((line.number, said));
                }
                _ => {}
            }
        }
        self.add_documentation(&mut tally, &documentation);
        self.add_name(&mut tally, passage);
        tally
    }

    /// Long documentation speaks of everything once: only what stands close together there counts fully.
    fn add_documentation(&self, tally: &mut Tally, lines: &[(usize, Vec<Match>)]) {
        let mut best: (f64, Tally) = (0.0, Tally::default());
        let mut anywhere = Tally::default();
        for (at, (number, found)) in lines.iter().enumerate() {
            let mut window = Tally::default();
            for (_, found) in lines[at..].iter().take_while(|(near, _)| *near < number + DOC_WINDOW) {
                self.add(&mut window, found, 1.0);
            }
            self.add(&mut anywhere, found, 1.0);
            let said = window.mentions.values().map(|(_, said)| said).sum();
            if said > best.0 {
                best = (said, window);
            }
        }
        let doc = if self.uses() { USE_DOC } else { DOC };
        for (term, (mentions, said)) in anywhere.mentions {
            let weight = if best.1.mentions.contains_key(&term) { doc } else { doc * FAR_DOC };
            let known = tally.mentions.entry(term).or_default();
            *known = (known.0 + weight * mentions.min(1.0), known.1.max(said));
        }
    }

    fn add_name(&self, tally: &mut Tally, passage: &Passage<'_>) {
        let Some((_, definition)) = &passage.definition else { return };
        let name = Tokens::of(&definition.name);
        let found = self.matcher.find(&definition.name, &name);
        let weight = if self.uses() { USE_NAME } else { NAME };
        self.add(tally, &found, weight * fit(&name, &found));
        tally.head = tally.head.max(1.5 * self.say(&found));
        tally.adjacency = self.adjacency(&found);
    }

    /// Adds what a text says of each term.
    fn add(&self, tally: &mut Tally, found: &[Match], weight: f64) {
        for found in found {
            let known = tally.mentions.entry(found.term).or_default();
            *known = (known.0 + weight * found.strength, known.1.max(self.importance.said(*found)));
        }
    }

    /// All that a text says.
    fn say(&self, found: &[Match]) -> f64 {
        found.iter().map(|found| self.importance.said(*found)).sum()
    }

    /// Words that are neighbours in the question and in the name.
    fn adjacency(&self, found: &[Match]) -> f64 {
        let of = |term: usize| found.iter().find(|found| found.term == term);
        let pairs = self.question.neighbours.iter().filter_map(|(left, right)| {
            let (first, second) = (of(*left)?, of(*right)?);
            let near = first.position.abs_diff(second.position) <= 1;
            near.then(|| self.importance.said(*first) + self.importance.said(*second))
        });
        pairs.sum()
    }

    /// What the form of a passage is worth for this kind of question.
    fn form(&self, passage: &Passage<'_>) -> f64 {
        let Some((line, definition)) = &passage.definition else { return LOOSE_FORM };
        let first = passage.lines.first().map_or(*line, |seen| seen.number);
        let body = (first + passage.span).saturating_sub(*line);
        let defines = matches!(self.question.intent, Intent::Define | Intent::List);
        match definition.keyword {
            "mod" | "module" | "namespace" => 0.7,
            _ if defines => 1.0,
            "struct" | "enum" | "trait" | "type" | "interface" | "const" | "static" | "let" | "var" => TYPE_FORM,
            "impl" => TYPE_FORM,
            _ if body <= 4 => TINY_FORM,
            _ => 1.0,
        }
    }

    fn file(&self, passage: &Passage<'_>) -> f64 {
        let worth = FileKind::of(passage.path).worth(self.question);
        if passage.in_tests { worth.min(FileKind::Test.worth(self.question)) } else { worth }
    }
}

/// Which share of a name the question asks about: `Error` fits better than `ErrorStackFactory`.
fn fit(name: &Tokens, found: &[Match]) -> f64 {
    let mut positions: Vec<usize> = found.iter().map(|found| found.position).collect();
    positions.sort_unstable();
    positions.dedup();
    (positions.len() as f64 / name.topical().max(1) as f64).min(1.0).sqrt()
}
