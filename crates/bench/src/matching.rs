//! Finding the agent for a text among a thousand agent files.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use sortie_workshop::process;

use super::figure::{Figure, Unit};
use super::sample::Sample;
use super::{Bench, program};

const FILES: usize = 1000;
const TEXT: &str = "Review the error handling of the billing service and find missing tests";

/// Output of `match_rate`.
#[derive(Debug, Deserialize)]
struct Report {
    definitions: u32,
    assemble_ms: f64,
    match_ms: f64,
}

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let match_rate = bench.example("sortie-agents", "match_rate")?;
    let project = bench.path("match");
    write_agent_files(&project.join(".sortie/agents"))?;
    let (mut assembled, mut matched, mut whole) = (Sample::default(), Sample::default(), Sample::default());
    let mut n_definitions = 0;
    for _ in 0..bench.runs {
        let text = process::stdout_of(&mut Command::new(&match_rate))?;
        let report: Report = serde_json::from_str(&text).context("match_rate wrote something unexpected")?;
        n_definitions = report.definitions;
        assembled.push(report.assemble_ms);
        matched.push(report.match_ms);
        whole.push_ms(run_program(bench, &project)?);
    }
    let what = format!("Ranking {n_definitions} agents for a text, index included");
    Ok(vec![
        Figure::of(what, &matched, Unit::Milliseconds).at_most(5.0),
        Figure::of("— parsing their files before it", &assembled, Unit::Milliseconds),
        Figure::of("— `sortie agents match`, the whole process", &whole, Unit::Milliseconds),
    ])
}

fn write_agent_files(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for number in 0..FILES {
        let subject = ["billing", "search", "login", "storage", "network", "report"][number % 6];
        let text = format!(
            "---\nname: agent-{number}\ndescription: Reviews the {subject} service, part {number}, after a change to its \
             error handling or its tests.\n---\nYou review part {number} of the {subject} service.\n"
        );
        std::fs::write(folder.join(format!("agent-{number}.md")), text)?;
    }
    Ok(())
}

fn run_program(bench: &Bench, project: &Path) -> Result<Duration> {
    let mut command = Command::new(&bench.sortie);
    command.args(["agents", "match", TEXT, "--cwd"]).arg(project);
    command.env_clear().env("HOME", project).env("SORTIE_HOME", project);
    Ok(program::measured(command, &bench.path("match-stderr"))?.elapsed)
}
