//! The journal under load: synced appends of many tasks, a long log read back, a long list.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sortie_workshop::process;

use super::figure::{Figure, Unit};
use super::sample::Sample;
use super::{Bench, program, remove};

/// Repetitions: each run of the example is long, and repeats itself.
const RUNS: usize = 3;
/// Appends to each of the 64 tasks.
const APPENDS: u32 = 2000;
const EVENTS: u32 = 1_000_000;
const TASKS: u32 = 100_000;

/// Output of `journal_load` about its appends.
#[derive(Debug, Deserialize)]
struct Appends {
    events_per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    sqlite_rows_per_second: f64,
}

/// Its output about reading back.
#[derive(Debug, Deserialize)]
struct Replay {
    events: f64,
    seconds: f64,
    peak_kilobytes: f64,
}

/// Its output about listing.
#[derive(Debug, Deserialize)]
struct List {
    #[serde(rename = "all_ms")]
    all: f64,
    #[serde(rename = "newest_20_ms")]
    newest: f64,
    #[serde(rename = "sqlite_all_ms")]
    plain: f64,
}

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let load = bench.example("sortie-journal", "journal_load")?;
    let mut figures = appends(bench, &load)?;
    figures.extend(replay(bench, &load)?);
    figures.extend(list(bench, &load)?);
    Ok(figures)
}

fn appends(bench: &Bench, load: &Path) -> Result<Vec<Figure>> {
    let (mut rate, mut p50, mut p99, mut plain) =
        (Sample::default(), Sample::default(), Sample::default(), Sample::default());
    for _ in 0..RUNS {
        let report: Appends = report(bench, load, "appends", APPENDS)?;
        rate.push(report.events_per_second);
        p50.push(report.p50_ms);
        p99.push(report.p99_ms);
        plain.push(report.sqlite_rows_per_second);
    }
    let plain = Unit::PerSecond.write(plain.median());
    Ok(vec![
        Figure::of("Synced appends, 64 tasks at once", &rate, Unit::PerSecond)
            .at_least(10_000.0)
            .peers(format!("{plain} (SQLite alone, 64 bare rows a transaction)")),
        Figure::of("— half of them on disk within", &p50, Unit::Milliseconds),
        Figure::of("— 99 % on disk within", &p99, Unit::Milliseconds).at_most(25.0),
    ])
}

fn replay(bench: &Bench, load: &Path) -> Result<Vec<Figure>> {
    let (mut seconds, mut memory, mut n_events) = (Sample::default(), Sample::default(), 0.0);
    for _ in 0..RUNS {
        let report: Replay = report(bench, load, "replay", EVENTS)?;
        n_events = report.events;
        seconds.push(report.seconds);
        memory.push(report.peak_kilobytes * 1024.0 / 1e6);
    }
    let what = format!("{} events of one task replayed", Unit::Count.write(n_events));
    Ok(vec![
        Figure::of(what, &seconds, Unit::Seconds).at_most(5.0),
        Figure::of("— peak memory meanwhile", &memory, Unit::Megabytes).at_most(64.0),
    ])
}

fn list(bench: &Bench, load: &Path) -> Result<Vec<Figure>> {
    let (mut all, mut newest, mut plain) = (Sample::default(), Sample::default(), Sample::default());
    for _ in 0..RUNS {
        let report: List = report(bench, load, "list", TASKS)?;
        all.push(report.all);
        newest.push(report.newest);
        plain.push(report.plain);
    }
    let (whole, first_page) = list_by_program(bench, load)?;
    let (n_tasks, plain) = (Unit::Count.write(f64::from(TASKS)), Unit::Milliseconds.write(plain.median()));
    Ok(vec![
        Figure::of(format!("Listing {n_tasks} tasks, the read alone"), &all, Unit::Milliseconds)
            .at_most(100.0)
            .peers(format!("{plain} (SQLite alone)")),
        Figure::of("— the newest 20 of them", &newest, Unit::Milliseconds),
        Figure::of("— `sortie tasks list --all-projects`, the whole process", &first_page, Unit::Milliseconds)
            .at_most(100.0),
        Figure::of(format!("— the same with `--all --limit {TASKS}`"), &whole, Unit::Milliseconds),
    ])
}

/// Measures the program listing all tasks, and listing the newest.
fn list_by_program(bench: &Bench, load: &Path) -> Result<(Sample, Sample)> {
    let home = bench.path("list-home");
    remove(&home)?;
    std::fs::create_dir_all(&home)?;
    process::stdout_of(Command::new(load).arg("tasks").arg(&home).arg(TASKS.to_string()))?;
    let limit = TASKS.to_string();
    let (mut whole, mut first_page) = (Sample::default(), Sample::default());
    for _ in 0..bench.runs {
        for (sample, words) in [(&mut whole, &["--all", "--limit", &limit][..]), (&mut first_page, &[])] {
            let mut command = Command::new(&bench.sortie);
            command.args(["tasks", "list", "--all-projects"]).args(words);
            command.env_clear().env("HOME", &home).env("SORTIE_HOME", &home).current_dir(&home);
            sample.push_ms(program::measured(command, &bench.path("list-stderr"))?.elapsed);
        }
    }
    Ok((whole, first_page))
}

fn report<T: DeserializeOwned>(bench: &Bench, load: &Path, what: &str, count: u32) -> Result<T> {
    let text = process::stdout_of(Command::new(load).arg(what).arg(bench.folder.path()).arg(count.to_string()))?;
    serde_json::from_str(&text).context("journal_load wrote something unexpected")
}
