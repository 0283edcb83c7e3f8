//! The savings of delegation: one exploration done by the main agent itself and by a sub-agent, in tokens.

use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use sortie_workshop::process;

use super::Bench;
use super::figure::{Figure, Unit};

/// Output of `token_use` about each way of working.
#[derive(Debug, Deserialize)]
struct Report {
    inline: TokenUse,
    delegated: TokenUse,
    general_purpose: TokenUse,
}

/// Tokens that a model was sent.
#[derive(Debug, Deserialize)]
struct TokenUse {
    /// Tokens of the main agent's first request, and in `context` of its last.
    first: f64,
    context: f64,
    /// Tokens of all requests of all agents.
    sent: f64,
    /// Tokens among them with which the request before also began.
    sent_again: f64,
}

impl TokenUse {
    fn cacheable(&self) -> f64 {
        100.0 * self.sent_again / self.sent
    }
}

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let program = bench.example("sortie-engine", "token_use")?;
    let said = process::stdout_of(&mut Command::new(program))?;
    let Report { inline, delegated, general_purpose } =
        serde_json::from_str(&said).with_context(|| format!("token_use said {said}"))?;
    let saved = |inline: f64, delegated: f64| 100.0 * (1.0 - delegated / inline);
    Ok(vec![
        Figure::new("Tokens of the main agent's first request, all tools", inline.first, Unit::Count).at_most(2200.0),
        Figure::new("— of a general-purpose sub-agent's", general_purpose.first, Unit::Count).at_most(2200.0),
        Figure::new(
            "Tokens in the main agent's context after a search, twelve reads and five turns of work, inline",
            inline.context,
            Unit::Count,
        ),
        Figure::new("— with the search and the reads delegated", delegated.context, Unit::Count),
        Figure::new("— saved", saved(inline.context, delegated.context), Unit::Percent)
            .at_least(80.0)
            .peers("55 % (claimed by the contract `typed`)"),
        Figure::new("Tokens sent by all requests of that run, inline", inline.sent, Unit::Count),
        Figure::new("— a prefix cache can serve", inline.cacheable(), Unit::Percent).at_least(90.0),
        Figure::new("— delegated", delegated.sent, Unit::Count),
        Figure::new("— a prefix cache can serve", delegated.cacheable(), Unit::Percent),
        Figure::new("— saved", saved(inline.sent, delegated.sent), Unit::Percent),
    ])
}
