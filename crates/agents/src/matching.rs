//! Which agent suits a text best: lexical ranking (BM25) over names and descriptions, the same for the same input.
//!
//! An agent is chosen when it shares [`ENOUGH_WORDS`] content words with the text, or all of them where the text has
//! fewer; the score only orders those that do, since scores of different texts cannot be compared. Ties: the agent that
//! shares more words, then the one that is defined nearer (project, user, built in), then the first by name.

mod count;
mod query;
mod score;
mod stem;
mod words;

use std::cmp::Ordering;

use self::count::Counts;
use self::query::Query;
use crate::{AgentDefinition, Registry};

/// How many content words a text and an agent must share, if the text has that many.
pub const ENOUGH_WORDS: usize = 2;

/// All agents that share a word with a text, and the one to choose.
#[derive(Debug, Clone)]
pub struct Ranking<'a> {
    /// The content words of the text, each once, in lower case.
    pub words: Vec<String>,
    /// How many of them an agent must share to be chosen.
    pub needed: usize,
    /// The best first; those that share too few words last.
    pub matches: Vec<Match<'a>>,
    /// Why there is no best one, in words for people; `None` when there is.
    pub why_none: Option<String>,
}

/// One agent that shares words with the text.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    pub agent: &'a AgentDefinition,
    /// The sum over its words.
    pub score: f64,
    /// In the order in which they stand in the text.
    pub words: Vec<MatchedWord>,
}

/// One shared word and what it adds to the score.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedWord {
    pub word: String,
    pub score: f64,
    pub place: Place,
}

/// Where an agent has a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    Name,
    Description,
    Both,
}

impl<'a> Ranking<'a> {
    /// The agent to choose, if one matches well enough.
    pub fn best(&self) -> Option<&Match<'a>> {
        self.matches.first().filter(|_| self.why_none.is_none())
    }
}

/// Ranks the agents that can be delegated to.
pub fn rank<'a>(registry: &'a Registry, text: &str) -> Ranking<'a> {
    let query = Query::new(text);
    let agents: Vec<&AgentDefinition> = registry.delegable().collect();
    let counts = Counts::new(&query, &agents);
    let words = query.words(&counts);
    let needed = words.len().min(ENOUGH_WORDS);
    let mut matches = score::matches(&agents, &words, &counts);
    matches.sort_by(|left, right| order(left, right, needed));
    Ranking {
        why_none: why_none(&matches, needed),
        words: words.into_iter().map(|word| word.text).collect(),
        needed,
        matches,
    }
}

fn order(left: &Match<'_>, right: &Match<'_>, needed: usize) -> Ordering {
    let enough = |found: &Match<'_>| found.words.len() >= needed;
    enough(right)
        .cmp(&enough(left))
        .then_with(|| right.score.total_cmp(&left.score))
        .then_with(|| right.words.len().cmp(&left.words.len()))
        .then_with(|| right.agent.origin.scope.cmp(&left.agent.origin.scope))
        .then_with(|| left.agent.name.cmp(&right.agent.name))
}

fn why_none(matches: &[Match<'_>], needed: usize) -> Option<String> {
    match matches.first() {
        _ if needed == 0 => Some("the text has no words to go by".to_owned()),
        None => Some("no agent shares a word with the text".to_owned()),
        Some(first) if first.words.len() < needed => Some(format!(
            "no agent shares {needed} words with the text; the nearest, `{}`, shares {}",
            first.agent.name,
            first.words.len()
        )),
        Some(_) => None,
    }
}
