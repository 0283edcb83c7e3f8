//! Scores shared words: BM25 over two fields, the name and the description.

use crate::definition::AgentDefinition;
use crate::matching::ENOUGH_WORDS;
use crate::matching::query::Word;
use crate::matching::word_counts::{AgentCount, Counts, Hit};

/// A word in the name counts as much as this many in the description.
const NAME_WEIGHT: f64 = 3.0;
/// Saturation of repeated words (k1): the higher, the more each repetition adds.
const SATURATION: f64 = 1.2;
/// Penalty on words in a long description (b).
const LENGTH_PENALTY: f64 = 0.75;

/// One agent that shares words with the text.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    pub agent: &'a AgentDefinition,
    /// The sum over its words.
    pub score: f64,
    /// In the order of the text.
    pub words: Vec<MatchedWord>,
    /// True if the text has every word of the agent's name.
    pub is_named: bool,
}

impl Match<'_> {
    /// Number of shared words; a whole name counts as enough.
    pub(super) fn count(&self) -> usize {
        if self.is_named { self.words.len().max(ENOUGH_WORDS) } else { self.words.len() }
    }
}

/// One shared word and its contribution to the score.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedWord {
    pub word: String,
    pub score: f64,
    pub place: Place,
}

/// Place of a word in an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    Name,
    Description,
    Both,
}

/// Agents that share at least one word, in no particular order. Runtime depends on the shared words, not on all words
/// of the query: a text may be long, and the agents many.
pub(super) fn matches<'a>(agents: &[&'a AgentDefinition], words: &[Word], counts: &Counts) -> Vec<Match<'a>> {
    let total: f64 = counts.agents.iter().map(length).sum();
    let average = total / counts.agents.len().max(1) as f64;
    let rarities: Vec<f64> = words.iter().map(|word| rarity(counts, word.stem)).collect();
    let mut place_of = vec![None; counts.stem_count()];
    for (place, word) in words.iter().enumerate() {
        place_of[word.stem] = Some(place);
    }
    let scored = |(&agent, count): (&&'a AgentDefinition, &AgentCount)| {
        let stretch = 1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length(count) / average.max(1.0);
        let mut hits: Vec<(usize, Hit)> =
            count.hits.iter().filter_map(|hit| Some((place_of[hit.stem]?, *hit))).collect();
        hits.sort_by_key(|(place, _)| *place);
        let matched = |(at, hit): (usize, Hit)| {
            let score = rarities[at] * saturated(frequency(hit), stretch);
            MatchedWord { word: words[at].text.clone(), score, place: place(hit) }
        };
        let words: Vec<MatchedWord> = hits.into_iter().map(matched).collect();
        let score = words.iter().map(|word| word.score).sum();
        let in_name: u32 = count.hits.iter().filter(|hit| place_of[hit.stem].is_some()).map(|hit| hit.in_name).sum();
        let is_named = in_name as usize >= count.name_length;
        (!words.is_empty()).then_some(Match { agent, score, words, is_named })
    };
    agents.iter().zip(&counts.agents).filter_map(scored).collect()
}

/// Words that few agents have count more. Never negative.
fn rarity(counts: &Counts, stem: usize) -> f64 {
    let (all, with) = (counts.agents.len() as f64, counts.agents_with(stem) as f64);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

fn saturated(frequency: f64, stretch: f64) -> f64 {
    frequency * (SATURATION + 1.0) / (frequency + SATURATION * stretch)
}

fn frequency(hit: Hit) -> f64 {
    NAME_WEIGHT * f64::from(hit.in_name) + f64::from(hit.in_description)
}

fn length(count: &AgentCount) -> f64 {
    NAME_WEIGHT * count.name_length as f64 + count.description_length as f64
}

fn place(hit: Hit) -> Place {
    match (hit.in_name, hit.in_description) {
        (_, 0) => Place::Name,
        (0, _) => Place::Description,
        _ => Place::Both,
    }
}
