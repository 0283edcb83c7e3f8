//! Thousands of children alive at once, on a model in memory, with every event in a journal on disk.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::figure::{Figure, Unit};
use super::sample::Sample;
use super::{Bench, program, remove};

/// Repetitions: these runs are long, and their medians steady.
const RUNS: usize = 3;

/// Output of `many_children`.
#[derive(Debug, Deserialize)]
struct Report {
    seconds: f64,
    events: f64,
    alive_at_once: f64,
}

#[derive(Debug, Default)]
struct Load {
    seconds: Sample,
    events_per_second: Sample,
    alive: Sample,
    memory: Sample,
}

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let program = bench.example("sortie-engine", "many_children")?;
    let small = run(bench, &program, 1000)?;
    let large = run(bench, &program, 10_000)?;
    let linear = large.seconds.median() / (10.0 * small.seconds.median());
    let mut figures = figures(1000, &small);
    figures.extend(figures_of_large(&large, linear));
    Ok(figures)
}

fn figures_of_large(large: &Load, linear: f64) -> Vec<Figure> {
    let mut figures = figures(10_000, large);
    figures
        .push(Figure::new("10,000 children against ten times 1,000 (1 is linear)", linear, Unit::Times).at_most(1.1));
    figures
}

fn figures(children: u32, load: &Load) -> Vec<Figure> {
    vec![
        Figure::of(format!("{children} live children, five tool turns each, journal on"), &load.seconds, Unit::Seconds),
        Figure::of("— alive at once", &load.alive, Unit::Count).at_least(f64::from(children)),
        Figure::of("— events recorded", &load.events_per_second, Unit::PerSecond),
        Figure::of("— peak memory", &load.memory, Unit::Megabytes).at_most(2147.0),
    ]
}

fn run(bench: &Bench, program: &Path, children: u32) -> Result<Load> {
    let mut load = Load::default();
    for _ in 0..RUNS {
        let folder = bench.path("live");
        remove(&folder)?;
        std::fs::create_dir_all(&folder)?;
        let report = folder.join("report.json");
        let mut command = Command::new(program);
        command.arg(children.to_string()).arg(folder.join("journal")).arg(&report);
        let ran = program::measured(command, &folder.join("stderr"))?;
        let text = std::fs::read_to_string(&report).context("many_children left no report")?;
        let report: Report = serde_json::from_str(&text)?;
        load.seconds.push(report.seconds);
        load.events_per_second.push(report.events / report.seconds);
        load.alive.push(report.alive_at_once);
        load.memory.push(ran.peak_rss as f64 / 1e6);
    }
    Ok(load)
}
