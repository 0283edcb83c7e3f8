//! Counts the words of the query in each agent.

use crate::definition::AgentDefinition;
use crate::matching::query::Query;
use crate::matching::words::each_word;

/// One word in one agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) stem: usize,
    pub(super) in_name: u32,
    pub(super) in_description: u32,
}

/// Query words of one agent, and the length of its texts.
#[derive(Debug)]
pub(super) struct AgentCount {
    pub(super) hits: Vec<Hit>,
    pub(super) name_length: usize,
    pub(super) description_length: usize,
}

#[derive(Debug)]
pub(super) struct Counts {
    /// In the order of the agents.
    pub(super) agents: Vec<AgentCount>,
    agents_with: Vec<usize>,
}

impl Counts {
    pub(super) fn new(query: &Query, agents: &[&AgentDefinition]) -> Self {
        let mut agents_with = vec![0; query.stem_count()];
        let mut scratch = Scratch { buffer: String::new(), place_of: vec![None; query.stem_count()] };
        let agents: Vec<AgentCount> = agents.iter().map(|agent| count(query, agent, &mut scratch)).collect();
        for hit in agents.iter().flat_map(|agent| &agent.hits) {
            agents_with[hit.stem] += 1;
        }
        Self { agents, agents_with }
    }

    /// Number of stems counted.
    pub(super) fn stem_count(&self) -> usize {
        self.agents_with.len()
    }

    /// Number of agents that have a word with this stem.
    pub(super) fn agents_with(&self, stem: usize) -> usize {
        self.agents_with[stem]
    }
}

/// Buffers reused for each agent.
struct Scratch {
    buffer: String,
    /// Index of each stem among the agent's hits; all `None` between two agents.
    place_of: Vec<Option<usize>>,
}

fn count(query: &Query, agent: &AgentDefinition, scratch: &mut Scratch) -> AgentCount {
    let Scratch { buffer, place_of } = scratch;
    let mut hits: Vec<Hit> = Vec::new();
    let mut tally = |text: &str, add: fn(&mut Hit)| {
        each_word(text, |word, _| {
            let Some(stem) = query.stem_of(word, buffer) else { return };
            let at = *place_of[stem].get_or_insert(hits.len());
            if at == hits.len() {
                hits.push(Hit { stem, in_name: 0, in_description: 0 });
            }
            add(&mut hits[at]);
        })
    };
    let name_length = tally(&agent.name, |hit| hit.in_name += 1);
    let description_length = tally(&agent.description, |hit| hit.in_description += 1);
    for hit in &hits {
        place_of[hit.stem] = None;
    }
    AgentCount { hits, name_length, description_length }
}
