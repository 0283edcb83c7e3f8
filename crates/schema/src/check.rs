//! Checks a value against a schema.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde_json::{Map, Number, Value};

use crate::rule::{Bound, Kind, Measured, Part, PartId, Rule, Schema, normal};

/// After so many corrections the next check shows the rest.
const MAX_PROBLEMS: usize = 8;
/// A schema that refers to itself is as deep as the value, or deeper.
const MAX_DEPTH: usize = 256;
/// Nested alternatives can take forever.
const MAX_STEPS: u32 = 500_000;
/// Length of a value in a message.
const SHOWN_CHARS: usize = 60;
/// Length of a list in a message.
const SHOWN_WORDS: usize = 20;
/// Number of alternatives whose first problem a message shows.
const SHOWN_ALTERNATIVES: usize = 4;

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A JSON pointer; empty for the whole value.
    pub place: String,
    /// Continues the sentence that begins with the place: `must be a string, not 5`.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "the value {}", self.what),
            place => write!(f, "`{place}` {}", self.what),
        }
    }
}

impl Schema {
    /// Returns the first few problems of a value; none if it fits.
    pub fn check(&self, value: &Value) -> Vec<Problem> {
        let mut check =
            Check { schema: self, place: String::new(), depth: 0, steps: 0, gave_up: false, problems: Vec::new() };
        check.part(PartId(0), &normal(value));
        if check.gave_up {
            // A problem found so far may depend on a part that was not checked.
            let what = "could not be checked: the schema is too deep or has too many alternatives".to_owned();
            return vec![Problem { place: String::new(), what }];
        }
        check.problems
    }
}

/// A check in progress.
struct Check<'a> {
    schema: &'a Schema,
    place: String,
    depth: usize,
    steps: u32,
    gave_up: bool,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn problem(&mut self, what: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { place: self.place.clone(), what: what.into() });
        }
    }

    fn part(&mut self, id: PartId, value: &Value) {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.depth == MAX_DEPTH {
            self.gave_up = true;
            return;
        }
        self.depth += 1;
        match &self.schema.parts[id.0] {
            Part::Never => self.problem("must not be there"),
            Part::Rules(rules) => rules.iter().for_each(|rule| self.rule(rule, value)),
        }
        self.depth -= 1;
    }

    /// Checks a value nested under `key`.
    fn below(&mut self, key: &str, id: PartId, value: &Value) {
        let length = self.place.len();
        self.place += "/";
        self.place += &key.replace('~', "~0").replace('/', "~1");
        self.part(id, value);
        self.place.truncate(length);
    }

    fn rule(&mut self, rule: &Rule, value: &Value) {
        match (rule, value) {
            (Rule::Kinds(kinds), _) => {
                if !kinds.iter().any(|kind| kind.includes(value)) {
                    self.problem(format!("must be {}, not {}", any_of(kinds), shown(value)));
                }
            }
            (Rule::Values(allowed), _) => {
                if !allowed.contains(value) {
                    self.problem(format!("must be {}, not {}", any_of_values(allowed), shown(value)));
                }
            }
            (Rule::Same(part), _) => self.part(*part, value),
            (Rule::All(parts), _) => parts.iter().for_each(|part| self.part(*part, value)),
            (Rule::Any(parts), _) => self.alternatives(parts, value, false),
            (Rule::One(parts), _) => self.alternatives(parts, value, true),
            (Rule::Members { known, others }, Value::Object(members)) => self.members(known, *others, members),
            (Rule::Required(names), Value::Object(members)) => self.required(names, members),
            (Rule::Items(part), Value::Array(items)) => {
                items.iter().enumerate().for_each(|(at, item)| self.below(&at.to_string(), *part, item));
            }
            (Rule::Unique, Value::Array(items)) => {
                let mut seen = HashSet::new();
                if let Some(twice) = items.iter().find(|item| !seen.insert(*item)) {
                    self.problem(format!("must not repeat items, and repeats {}", shown(twice)));
                }
            }
            (Rule::Length { of: Measured::Characters, bound }, Value::String(text)) => {
                self.length(text.chars().count(), "character", bound);
            }
            (Rule::Length { of: Measured::Items, bound }, Value::Array(items)) => {
                self.length(items.len(), "item", bound);
            }
            (Rule::Length { of: Measured::Keys, bound }, Value::Object(members)) => {
                self.length(members.len(), "key", bound);
            }
            (Rule::Range(bound), Value::Number(number)) => {
                if !is_within(number, bound, compared) {
                    self.problem(format!("must be {bound}, not {number}"));
                }
            }
            (Rule::Pattern(pattern), Value::String(text)) => {
                if !pattern.is_match(text) {
                    self.problem(format!("must match the pattern `{pattern}`, not {}", shown(value)));
                }
            }
            // The rule is about values of another kind.
            (
                Rule::Members { .. }
                | Rule::Required(_)
                | Rule::Items(_)
                | Rule::Unique
                | Rule::Length { .. }
                | Rule::Range(_)
                | Rule::Pattern(_),
                _,
            ) => {}
        }
    }

    fn members(&mut self, known: &BTreeMap<String, PartId>, others: Option<PartId>, members: &Map<String, Value>) {
        for (key, value) in members {
            match known.get(key).copied().or(others) {
                Some(part) if matches!(self.schema.parts[part.0], Part::Never) => {
                    let keys = listed(known.keys().cloned());
                    let instead = if keys.is_empty() { keys } else { format!("; its keys are {keys}") };
                    self.problem(format!("must not have the key `{}`{instead}", cut(key)));
                }
                Some(part) => self.below(key, part, value),
                None => {}
            }
        }
    }

    fn required(&mut self, names: &[String], members: &Map<String, Value>) {
        for name in names.iter().filter(|name| !members.contains_key(*name)) {
            self.problem(format!("must have the key `{name}`"));
        }
    }

    fn length(&mut self, count: usize, unit: &str, bound: &Bound<u64>) {
        if !is_within(&(count as u64), bound, |a, b| Some(a.cmp(b))) {
            let plural = if matches!(bound, Bound::AtLeast(1) | Bound::AtMost(1)) { "" } else { "s" };
            self.problem(format!("must have {bound} {unit}{plural}, and has {count}"));
        }
    }

    fn alternatives(&mut self, parts: &[PartId], value: &Value, only_one: bool) {
        let flaws: Vec<Option<Problem>> = parts.iter().map(|part| self.first_problem(*part, value)).collect();
        let fitting = flaws.iter().filter(|flaw| flaw.is_none()).count();
        if fitting > 1 && only_one {
            self.problem(format!("must fit exactly one of {} alternatives, and fits {fitting}", parts.len()));
        }
        if fitting > 0 {
            return;
        }
        let told = flaws.iter().flatten().take(SHOWN_ALTERNATIVES).enumerate();
        let told: Vec<String> = told.map(|(at, flaw)| format!("({}) {flaw}", at + 1)).collect();
        let more = if flaws.len() > SHOWN_ALTERNATIVES { "; …" } else { "" };
        self.problem(format!("must fit one of {} alternatives: {}{more}", parts.len(), told.join("; ")));
    }

    fn first_problem(&mut self, part: PartId, value: &Value) -> Option<Problem> {
        let before = std::mem::take(&mut self.problems);
        self.part(part, value);
        let found = std::mem::replace(&mut self.problems, before);
        found.into_iter().next()
    }
}

fn is_within<T>(value: &T, bound: &Bound<T>, compare: impl Fn(&T, &T) -> Option<Ordering>) -> bool {
    let than = |bound| compare(value, bound);
    match bound {
        Bound::AtLeast(bound) => than(bound).is_some_and(Ordering::is_ge),
        Bound::AtMost(bound) => than(bound).is_some_and(Ordering::is_le),
        Bound::Above(bound) => than(bound).is_some_and(Ordering::is_gt),
        Bound::Below(bound) => than(bound).is_some_and(Ordering::is_lt),
    }
}

/// Compares whole numbers exactly, others as floats.
fn compared(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn any_of(kinds: &[Kind]) -> String {
    let kinds: Vec<String> = kinds.iter().map(Kind::to_string).collect();
    kinds.join(" or ")
}

fn any_of_values(allowed: &[Value]) -> String {
    match allowed {
        [one] => shown(one),
        several => format!("one of {}", listed(several.iter().map(shown))),
    }
}

fn listed(mut words: impl Iterator<Item = String>) -> String {
    let first: Vec<String> = words.by_ref().take(SHOWN_WORDS).collect();
    let more = if words.next().is_some() { ", …" } else { "" };
    first.join(", ") + more
}

/// A value in a message, shortened if it is long.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => cut(&other.to_string()),
    }
}

/// A text in a message, shortened if it is long.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
