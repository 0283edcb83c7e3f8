//! Rank of each passage for a question.
//!
//! Each term adds by its location (name, documentation, body, path), with diminishing returns. Rarer terms count more.
//! Passages with several terms close together come first. The figures were tuned on questions about libraries in
//! several languages.

use std::collections::{BTreeMap, HashMap};

use super::evidence::Evidence;
use super::file_kind::FileKind;
use super::importance::Importance;
use super::matching::{Match, Matcher, Tokens};
use crate::language::words::pieces;
use crate::question::Question;
use crate::question::intent::{Focus, Intent};
use crate::source_code::location::{Location, describe};
use crate::source_code::passages::{LineRole, Passage, View, passages};

/// Weight of a mention by its location.
struct Weights {
    name: f64,
    documentation: f64,
    body: f64,
}

const IMPLEMENTATION: Weights = Weights { name: 3.0, documentation: 1.2, body: 0.6 };
const USES: Weights = Weights { name: 0.8, documentation: 0.4, body: 3.0 };
const PARENT: f64 = 0.8;
const FOLDER: f64 = 0.5;
const FILE_NAME: f64 = 0.8;
/// Weight of a comment relative to a line of code.
const COMMENT_SHARE: f64 = 0.2;
const IMPORT: f64 = 0.1;

/// Documentation counts fully within this many lines, and by this share elsewhere.
const WINDOW: usize = 3;
const FAR_SHARE: f64 = 0.25;
/// A body of this many lines counts each mention fully; longer ones count less, down to `LEAST_SHARE`.
const USUAL_SPAN: f64 = 30.0;
const LEAST_SHARE: f64 = 0.25;

/// Weighted mentions at which a term reaches half its highest score.
const HALF: f64 = 2.25;
/// Bonus for the densest line, and for words that are neighbours both in the question and in a name.
const DENSITY: f64 = 0.35;
const ADJACENCY: f64 = 0.3;
/// Weighted mentions that cover a term, and the share of its score that a passage keeps if it covers nothing.
const COVERED: f64 = 0.9;
const UNCOVERED: f64 = 0.3;

/// Factors for a definition without code of its own, and for text outside definitions.
const TYPE_FORM: f64 = 0.85;
const LOOSE_FORM: f64 = 0.85;
const MODULE_FORM: f64 = 0.7;
/// Factors for a yes-or-no function if the question is about a decision, and for the setter of an option.
const DECISION_FORM: f64 = 1.25;
const SETTER_FORM: f64 = 0.85;
const DECISION_WORDS: [&str; 9] =
    ["whether", "decide", "decides", "decided", "check", "checks", "checked", "allowed", "detected"];
const DECISION_NAMES: [&str; 8] = ["is", "has", "can", "may", "should", "needs", "check", "skip"];
/// Factor for a branch on all topics, if the question is about how something is handled.
const BRANCH_FORM: f64 = 1.5;
const HANDLING_WORDS: [&str; 5] = ["handled", "handle", "handles", "handling", "treated"];
const BRANCHES: [&str; 6] = ["=>", "if ", "match ", "case ", "catch", "except"];
/// Factors for the definition that the question names: spelled like it, and otherwise; and more for a type.
const ASKED_FORM: f64 = 4.0;
const ASKED_LIKE_FORM: f64 = 2.0;
const ASKED_TYPE_FORM: f64 = 1.5;
/// Factor for a definition that everybody may use.
const PUBLIC_FORM: f64 = 1.25;
const TYPES: [&str; 8] = ["struct", "enum", "trait", "type", "class", "interface", "union", "protocol"];
/// Factor for a list of values: its words are data, and do nothing.
const LIST_FORM: f64 = 0.3;
/// Factor for files that the question names, if it names any.
const NAMED_FILE: f64 = 4.0;
/// Factor for files that quote the question.
const QUOTING: f64 = 0.05;
/// Factor for a passage without uses if uses are wanted.
const NO_USE: f64 = 0.2;
/// Factor for a place whose line was already shown from elsewhere.
const REPEATED: f64 = 0.6;

/// Returns all locations seen so far, the best first.
pub(crate) fn locations(question: &Question, evidence: &Evidence) -> Vec<Location> {
    let scorer = Scorer::new(question, evidence);
    let mut places: Vec<Location> = Vec::new();
    for (path, lines) in &evidence.lines {
        let named = scorer.path_mentions(path);
        // A file that says the question itself speaks of it, and does not answer it.
        let quotes = lines.values().any(|line| question.is_quoted_in(line));
        let share = if quotes { QUOTING } else { 1.0 };
        let view = if evidence.outlined.contains(path) { View::Outline } else { View::Parts };
        let passages = passages(path, lines, view);
        let found = passages.iter().filter_map(|passage| scorer.place(passage, &named));
        places.extend(found.map(|place| Location { score: place.score * share, ..place }));
    }
    sort(&mut places);
    // A repeated definition, as in variants for other platforms, adds little.
    let mut seen: HashMap<String, f64> = HashMap::new();
    for place in &mut places {
        let worth = seen.entry(place.text.clone()).or_insert(1.0);
        place.score *= *worth;
        *worth *= REPEATED;
    }
    sort(&mut places);
    places
}

fn sort(places: &mut [Location]) {
    places.sort_by(|left, right| {
        right.score.total_cmp(&left.score).then_with(|| (&left.path, left.line).cmp(&(&right.path, right.line)))
    });
}

/// Mentions of one term.
#[derive(Debug, Clone, Copy, Default)]
struct Mention {
    /// Sum of the mentions, each weighted by its location.
    weight: f64,
    /// Highest value of a single mention.
    said: f64,
}

/// Mentions by term, in a fixed order, so that sums are reproducible.
type Mentions = BTreeMap<usize, Mention>;

/// Score of one passage, collected line by line.
#[derive(Debug, Default)]
struct Tally {
    mentions: Mentions,
    /// The best line of the body and its value.
    best_body: Option<(usize, f64)>,
    densest: f64,
    adjacency: f64,
    /// True if a line branches on all topics.
    branches: bool,
    /// Value of name and documentation, compared with the body.
    head: f64,
}

struct Scorer<'q> {
    question: &'q Question,
    matcher: Matcher<'q>,
    importance: Importance,
    weights: &'static Weights,
    /// True if the question is about how something is decided.
    wants_decision: bool,
    /// True if the question is about how something is handled.
    wants_branch: bool,
}

impl<'q> Scorer<'q> {
    fn new(question: &'q Question, evidence: &Evidence) -> Self {
        let weights = if question.focus == Focus::Uses { &USES } else { &IMPLEMENTATION };
        let importance = Importance::of(question, evidence);
        let wants_decision = question.mentions(&DECISION_WORDS);
        let wants_branch = question.mentions(&HANDLING_WORDS);
        Self { question, matcher: Matcher::new(&question.terms), importance, weights, wants_decision, wants_branch }
    }

    fn place(&self, passage: &Passage<'_>, path: &Mentions) -> Option<Location> {
        let mut tally = self.tally(passage);
        if tally.mentions.is_empty() {
            return None;
        }
        for (term, mention) in path {
            raise(&mut tally.mentions, *term, *mention);
        }
        self.add(&mut tally.mentions, &self.matcher.find_in(&passage.parents.join(" ")), PARENT);
        let uses = self.wants_uses();
        let branch = if self.wants_branch && tally.branches { BRANCH_FORM } else { 1.0 };
        let mut score = self.worth(&tally) * self.form(passage) * self.file(passage) * branch;
        let line = match tally.best_body {
            Some((line, said)) if uses || passage.definition.is_none() || said > tally.head => line,
            _ => passage.first_line(),
        };
        if uses && (tally.best_body.is_none() || self.is_asked_for(passage)) {
            score *= NO_USE;
        }
        let mut place = describe(passage, line, score);
        if !self.is_asked_for(passage) {
            place.code.clear();
        }
        Some(place)
    }

    fn wants_uses(&self) -> bool {
        self.question.focus == Focus::Uses
    }

    /// True if it defines exactly what the question names.
    fn is_asked_for(&self, passage: &Passage<'_>) -> bool {
        let Some((_, definition)) = &passage.definition else { return false };
        let whole = |found: &Match| self.question.terms[found.term].is_verbatim() && found.strength >= 1.0;
        self.matcher.find_in(&definition.name).iter().any(whole)
    }

    fn worth(&self, tally: &Tally) -> f64 {
        let mentions = || tally.mentions.values();
        let worth: f64 = mentions().map(|mention| mention.said * mention.weight / (mention.weight + HALF)).sum();
        let covered: f64 = mentions().map(|mention| mention.said * (mention.weight / COVERED).min(1.0)).sum();
        let coverage = covered / self.importance.total().max(f64::MIN_POSITIVE);
        let together = worth + DENSITY * tally.densest + ADJACENCY * tally.adjacency;
        together * (UNCOVERED + (1.0 - UNCOVERED) * coverage)
    }

    fn tally(&self, passage: &Passage<'_>) -> Tally {
        let mut tally = Tally::default();
        let body = self.weights.body * (USUAL_SPAN / passage.span as f64).clamp(LEAST_SHARE, 1.0);
        let mut documentation: Vec<(usize, Vec<Match>)> = Vec::new();
        for line in &passage.lines {
            let found = self.matcher.find_in(line.text);
            let said = self.importance.said_by(&found);
            tally.branches |= line.role == LineRole::Body
                && BRANCHES.iter().any(|sign| line.text.contains(sign))
                && self.has_all_topics(&found);
            match line.role {
                LineRole::Doc => {
                    tally.head = tally.head.max(0.8 * said);
                    documentation.push((line.number, found));
                }
                LineRole::Head => self.add(&mut tally.mentions, &found, self.weights.body),
                LineRole::Body => self.add(&mut tally.mentions, &found, body),
                LineRole::Comment => self.add(&mut tally.mentions, &found, COMMENT_SHARE * body),
                LineRole::Import => {
                    self.add(&mut tally.mentions, &found, IMPORT);
                    continue;
                }
            }
            tally.densest = tally.densest.max(said);
            let in_body = line.role == LineRole::Body || (line.role == LineRole::Comment && !self.wants_uses());
            if in_body && said > tally.best_body.map_or(0.0, |(_, best)| best) {
                tally.best_body = Some((line.number, said));
            }
        }
        self.add_documentation(&mut tally.mentions, &documentation);
        self.add_name(&mut tally, passage);
        tally
    }

    fn has_all_topics(&self, found: &[Match]) -> bool {
        let topics = self.question.terms.iter().enumerate().filter(|(_, term)| term.is_topic());
        topics.map(|(topic, _)| topic).all(|topic| found.iter().any(|found| found.term == topic))
    }

    /// Long documentation mentions everything once, so only its densest window counts fully.
    fn add_documentation(&self, mentions: &mut Mentions, lines: &[(usize, Vec<Match>)]) {
        let mut anywhere = Mentions::new();
        let mut closest = Mentions::new();
        let said = |mentions: &Mentions| mentions.values().map(|mention| mention.said).sum::<f64>();
        for (at, (number, found)) in lines.iter().enumerate() {
            self.add(&mut anywhere, found, 1.0);
            let mut window = Mentions::new();
            for (_, near) in lines[at..].iter().take_while(|(near, _)| *near < number + WINDOW) {
                self.add(&mut window, near, 1.0);
            }
            if said(&window) > said(&closest) {
                closest = window;
            }
        }
        for (term, mention) in anywhere {
            let share = if closest.contains_key(&term) { 1.0 } else { FAR_SHARE };
            let weight = share * self.weights.documentation * mention.weight.min(1.0);
            raise(mentions, term, Mention { weight, ..mention });
        }
    }

    fn add_name(&self, tally: &mut Tally, passage: &Passage<'_>) {
        let Some((_, definition)) = &passage.definition else { return };
        let name = Tokens::of(&definition.name);
        let found = self.matcher.find(&definition.name, &name);
        self.add(&mut tally.mentions, &found, self.weights.name * fit(&name, &found));
        tally.head = tally.head.max(1.5 * self.importance.said_by(&found));
        tally.adjacency = self.adjacency(&found);
    }

    /// Mentions in a path: its folders, and the file's own name by how well it fits.
    fn path_mentions(&self, path: &str) -> Mentions {
        let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = file.split('.').next().unwrap_or(file);
        let name = Tokens::of(stem);
        let found = self.matcher.find(stem, &name);
        let mut mentions = Mentions::new();
        self.add(&mut mentions, &found, FILE_NAME * fit(&name, &found));
        self.add(&mut mentions, &self.matcher.find_in(folders), FOLDER);
        mentions
    }

    fn add(&self, mentions: &mut Mentions, found: &[Match], weight: f64) {
        for found in found {
            let mention = Mention { weight: weight * found.strength, said: self.importance.said(found) };
            raise(mentions, found.term, mention);
        }
    }

    /// Value of words that are neighbours both in the question and in the name.
    fn adjacency(&self, found: &[Match]) -> f64 {
        let of = |term: usize| found.iter().find(|found| found.term == term);
        let pairs = self.question.neighbours.iter().filter_map(|(left, right)| {
            let (first, second) = (of(*left)?, of(*right)?);
            let near = first.position.abs_diff(second.position) <= 1;
            near.then(|| self.importance.said(first) + self.importance.said(second))
        });
        pairs.sum()
    }

    /// Factor for the form of a passage in this kind of question.
    fn form(&self, passage: &Passage<'_>) -> f64 {
        let Some((_, definition)) = &passage.definition else { return LOOSE_FORM };
        let defines = matches!(self.question.intent, Intent::Define | Intent::List);
        if defines && self.is_asked_for(passage) && !["impl", "mod"].contains(&definition.keyword) {
            let exact = self.question.terms.iter().any(|term| term.label == definition.name);
            let of_type = if TYPES.contains(&definition.keyword) { ASKED_TYPE_FORM } else { 1.0 };
            let is_public = head(passage).trim_start().starts_with("pub ") || head(passage).starts_with("export ");
            let of_reach = if is_public { PUBLIC_FORM } else { 1.0 };
            return of_type * of_reach * if exact { ASKED_FORM } else { ASKED_LIKE_FORM };
        }
        if !defines && is_list(passage) {
            return LIST_FORM;
        }
        match definition.keyword {
            "mod" | "module" | "namespace" => MODULE_FORM,
            _ if defines => 1.0,
            _ if self.wants_decision && decides(passage) => DECISION_FORM,
            _ if sets(passage) => SETTER_FORM,
            "fn" | "def" | "func" | "function" | "fun" | "sub" | "defp" | "macro_rules!" | "class" | "" => 1.0,
            _ => TYPE_FORM,
        }
    }

    fn file(&self, passage: &Passage<'_>) -> f64 {
        let worth = FileKind::of(passage.path).worth(self.question);
        let named = self.question.paths.iter().any(|asked| passage.path.ends_with(asked.as_str()));
        let worth = if named { NAMED_FILE * worth } else { worth };
        if passage.in_tests { worth.min(FileKind::Test.worth(self.question)) } else { worth }
    }
}

/// The first line of a definition.
fn head<'a>(passage: &Passage<'a>) -> &'a str {
    passage.lines.iter().find(|line| line.role == LineRole::Head).map_or("", |line| line.text)
}

/// True if a passage answers yes or no.
fn decides(passage: &Passage<'_>) -> bool {
    let head = head(passage);
    let named = passage.definition.as_ref().and_then(|(_, definition)| pieces(&definition.name).into_iter().next());
    head.contains("-> bool") || named.is_some_and(|first| DECISION_NAMES.contains(&first.as_str()))
}

/// True for a constant or a variable that holds a list.
fn is_list(passage: &Passage<'_>) -> bool {
    let keyword = passage.definition.as_ref().map_or("", |(_, definition)| definition.keyword);
    ["const", "static", "let", "var", "val"].contains(&keyword) && head(passage).contains('[')
}

/// True if a passage only sets an option and returns its owner.
fn sets(passage: &Passage<'_>) -> bool {
    let head = head(passage);
    head.contains("self") && (head.contains("-> Self") || head.contains("-> &mut Self") || head.ends_with("Builder {"))
}

fn raise(mentions: &mut Mentions, term: usize, by: Mention) {
    let known = mentions.entry(term).or_default();
    *known = Mention { weight: known.weight + by.weight, said: known.said.max(by.said) };
}

/// Share of a name that the question asks about: `Error` fits better than `ErrorStackFactory`.
fn fit(name: &Tokens, found: &[Match]) -> f64 {
    let mut positions: Vec<usize> = found.iter().map(|found| found.position).collect();
    positions.sort_unstable();
    positions.dedup();
    (positions.len() as f64 / name.topical().max(1) as f64).min(1.0).sqrt()
}
