//! The cost of a grant: one decision with many rules, a text searched for secrets, a file read through the sandbox.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sortie_workshop::process;

use super::Bench;
use super::figure::{Figure, Unit};
use super::sample::Sample;

/// More runs would add nothing: each run of an example repeats itself many times.
const MAX_RUNS: usize = 5;

/// Output of `decision_rate`.
#[derive(Debug, Deserialize)]
struct Decisions {
    rules: u32,
    microseconds: f64,
    redaction_ms_per_mb: f64,
}

/// Output of `read_rate`.
#[derive(Debug, Deserialize)]
struct Reads {
    ratio: f64,
    listed_ratio: f64,
}

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let decision_rate = bench.example("sortie-policy", "decision_rate")?;
    let read_rate = bench.example("sortie-sandbox", "read_rate")?;
    let (mut decisions, mut redaction) = (Sample::default(), Sample::default());
    let (mut reads, mut listed) = (Sample::default(), Sample::default());
    let mut n_rules = 0;
    for _ in 0..bench.runs.min(MAX_RUNS) {
        let report: Decisions = report(&decision_rate)?;
        n_rules = report.rules;
        decisions.push(report.microseconds);
        redaction.push(report.redaction_ms_per_mb);
        let report: Reads = self::report(&read_rate)?;
        reads.push(report.ratio);
        listed.push(report.listed_ratio);
    }
    let what = format!("Deciding one call by {n_rules} rules, none of which is about it");
    Ok(vec![
        Figure::of(what, &decisions, Unit::Microseconds).at_most(20.0),
        Figure::of("Looking for secrets in 1 MB of source code", &redaction, Unit::Milliseconds),
        Figure::of("A file read beneath the pinned root, against a plain read", &reads, Unit::Times).at_most(1.3),
        Figure::of("— the same in a search, which has just listed it", &listed, Unit::Times).at_most(1.3),
    ])
}

fn report<T: DeserializeOwned>(example: &Path) -> Result<T> {
    let text = process::stdout_of(&mut Command::new(example))?;
    serde_json::from_str(&text).with_context(|| format!("{} wrote something unexpected", example.display()))
}
