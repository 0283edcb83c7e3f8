//! Ranking of agents for a text: words, weights, the minimum, and the tie-breakers.

use std::io::{self, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};
use sortie_agents::{Match, MatchedWord, Place, Ranking, Registry, rank};

use crate::command::args::ReportFormat;
use crate::error::CommandError;
use crate::render::print_json;
use crate::text::{neutral, table};

const TIES: &str = "agents that share enough words come first, by score; ties go to the one with more shared words, \
                    then the nearer origin (project, user, built in), then the first name";

/// Prints the ranking. The exit code is 1 if no agent matches, as for a search without hits.
pub(super) fn run(agents: &Registry, text: &str, limit: usize, format: ReportFormat) -> Result<ExitCode, CommandError> {
    let ranking = rank(agents, text);
    match format {
        ReportFormat::Text => io::stdout().lock().write_all(explain(&ranking, limit).as_bytes())?,
        ReportFormat::Json => print_json(&object(&ranking, text, limit))?,
    }
    Ok(if ranking.best().is_some() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn explain(ranking: &Ranking<'_>, limit: usize) -> String {
    let Ranking { words, needed, matches, .. } = ranking;
    let mut text = match (ranking.best(), &ranking.why_none) {
        (Some(best), _) => format!("{}\n", neutral::line(&best.agent.name)),
        (None, Some(why)) => format!("no agent matches well enough: {}\n", neutral::line(why)),
        (None, None) => "no agent matches well enough\n".to_owned(),
    };
    if !words.is_empty() {
        text += &format!("\nwords    {} (a match shares at least {needed})\n", neutral::line(&words.join(", ")));
    }
    if matches.is_empty() {
        return text;
    }
    let rows: Vec<[String; 4]> = matches.iter().take(limit).map(row).collect();
    text += &format!("\n{}", table(&rows));
    if matches.len() > limit {
        text += &format!("… {} more; see --limit\n", matches.len() - limit);
    }
    text + &format!("\n{TIES}\n")
}

fn row(found: &Match<'_>) -> [String; 4] {
    let words: Vec<String> = found.words.iter().map(weighed).collect();
    let (agent, score) = (found.agent, format!("{:.2}", found.score));
    [score, agent.name.clone(), agent.origin.scope.to_string(), words.join(", ")]
}

/// `review 2.10 (name)`.
fn weighed(word: &MatchedWord) -> String {
    let MatchedWord { word, score, place } = word;
    match place {
        Place::Description => format!("{word} {score:.2}"),
        Place::Name => format!("{word} {score:.2} (name)"),
        Place::Both => format!("{word} {score:.2} (name and description)"),
    }
}

fn object(ranking: &Ranking<'_>, text: &str, limit: usize) -> Value {
    let words = |found: &Match<'_>| -> Value {
        let object = |word: &MatchedWord| json!({"word": word.word, "score": word.score, "place": place(word.place)});
        found.words.iter().map(object).collect()
    };
    let matches: Value = ranking
        .matches
        .iter()
        .take(limit)
        .map(|found| {
            let scope = found.agent.origin.scope.to_string();
            json!({"agent": found.agent.name, "origin": scope, "score": found.score, "words": words(found)})
        })
        .collect();
    let mut object = json!({
        "text": text,
        "words": ranking.words,
        "needed": ranking.needed,
        "matches": matches,
        "matched": ranking.matches.len(),
        "order": TIES,
    });
    if let Some(best) = ranking.best() {
        object["best"] = json!(best.agent.name);
    }
    if let Some(why) = &ranking.why_none {
        object["why_none"] = json!(why);
    }
    object
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Name => "name",
        Place::Description => "description",
        Place::Both => "name and description",
    }
}
