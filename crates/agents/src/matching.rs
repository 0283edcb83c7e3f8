//! Ranks agents by how well they suit a text: lexically (BM25), over names and descriptions.
//!
//! An agent is eligible if it shares [`ENOUGH_WORDS`] content words with the text, or all of them if the text has
//! fewer. A whole name counts as that many. The score only orders eligible agents, since scores of different texts
//! cannot be compared. Ties go to the agent that shares more words, then to the nearer definition (project, user, built
//! in), then by name.

mod query;
mod score;
mod stem;
mod word_counts;
mod words;

use std::cmp::Ordering;

pub use self::score::{Match, MatchedWord, Place};

use self::query::Query;
use self::word_counts::Counts;
use crate::definition::AgentDefinition;
use crate::registry::Registry;

/// Number of content words that a text and an agent must share, if the text has that many.
pub const ENOUGH_WORDS: usize = 2;

/// All agents that share a word with a text, and the one to choose.
#[derive(Debug, Clone)]
pub struct Ranking<'a> {
    /// The content words of the text, each once, in lower case.
    pub words: Vec<String>,
    /// Number of words an agent must share to be chosen.
    pub needed: usize,
    /// Best first; agents that share too few words come last.
    pub matches: Vec<Match<'a>>,
    /// Reason why there is no best agent, for people; `None` if there is one.
    pub why_none: Option<String>,
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
    let words = query.words(|stem| counts.agents_with(stem) > 0);
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
    let enough = |found: &Match<'_>| found.count() >= needed;
    enough(right)
        .cmp(&enough(left))
        .then_with(|| right.score.total_cmp(&left.score))
        .then_with(|| right.words.len().cmp(&left.words.len()))
        .then_with(|| right.agent.origin.scope.cmp(&left.agent.origin.scope))
        .then_with(|| left.agent.name.cmp(&right.agent.name))
}

fn why_none(matches: &[Match<'_>], needed: usize) -> Option<String> {
    match matches.first() {
        _ if needed == 0 => Some("the text has no words to match".to_owned()),
        None => Some("no agent shares a word with the text".to_owned()),
        Some(first) if first.count() < needed => Some(format!(
            "no agent shares {needed} words with the text; the nearest, `{}`, shares {}",
            first.agent.name,
            first.words.len()
        )),
        Some(_) => None,
    }
}
