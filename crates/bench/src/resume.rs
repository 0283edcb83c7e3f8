//! Resuming and stopping: the time until a killed task asks its model again, and until a large tree has stopped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use sortie_workshop::process;

use super::figure::{Figure, Unit};
use super::program::Sortie;
use super::sample::Sample;
use super::server::Server;
use super::{Bench, remove, script};

/// Turns of one read each before the run is killed; each leaves four events.
const TURNS: usize = 50;
const TASKS: u32 = 10_000;
/// Repetitions of the stop: these runs are long.
const RUNS: usize = 3;
/// Far more than a run needs to reach the request at which it is killed.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    Ok(vec![resume(bench)?, stop(bench)?])
}

fn resume(bench: &Bench) -> Result<Figure> {
    let killed = bench.path("resume-killed");
    leave_interrupted(bench, &killed)?;
    let server = Server::start(bench, "resume", &script::long(TURNS, true))?;
    let sortie = Sortie {
        program: &bench.sortie,
        home: bench.path("resume-home"),
        workspace: bench.sources()?,
        base_url: server.base_url(),
    };
    let mut first = Sample::default();
    for _ in 0..bench.runs {
        remove(&sortie.home)?;
        copy(&killed, &sortie.home)?;
        let ran = sortie.resume()?;
        let arrival = server.take()?.first_arrival().context("no request arrived")?;
        first.push_ms(arrival.saturating_sub(ran.began));
    }
    let what = format!("A killed task of some {} events, `sortie resume` to its first model request", 4 * TURNS);
    Ok(Figure::of(what, &first, Unit::Milliseconds).at_most(50.0))
}

/// Runs a task until its model is silent, and kills it.
fn leave_interrupted(bench: &Bench, home: &Path) -> Result<()> {
    remove(home)?;
    std::fs::create_dir_all(home)?;
    let server = Server::start(bench, "resume-killed", &script::long(TURNS, false))?;
    let sortie = Sortie {
        program: &bench.sortie,
        home: home.to_owned(),
        workspace: bench.sources()?,
        base_url: server.base_url(),
    };
    let mut live = sortie.command(&["run", script::LONG]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let began = Instant::now();
    while server.n_requests()? <= TURNS {
        if began.elapsed() > PATIENCE {
            live.kill()?;
            bail!("the run did not come to the request at which it is killed");
        }
        std::thread::yield_now();
    }
    live.kill()?;
    live.wait()?;
    let list = process::stdout_of(sortie.command(&["tasks", "list", "--all-projects", "--json"]).stdin(Stdio::null()))?;
    let list: Value = serde_json::from_str(&list)?;
    if list[0]["status"] != "interrupted" {
        bail!("the run was not interrupted: {list}");
    }
    Ok(())
}

/// Copies the files of a folder, which has no folders in it but empty ones.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Last output of `many_children` about a tree that was stopped.
#[derive(Debug, Deserialize)]
struct Stopped {
    /// Since 1970.
    last_ending_us: u64,
    tasks: usize,
}

fn stop(bench: &Bench) -> Result<Figure> {
    let example = bench.example("sortie-engine", "many_children")?;
    let mut seconds = Sample::default();
    let mut n_tasks = 0;
    for _ in 0..RUNS {
        let home = bench.path("stop-home");
        remove(&home)?;
        std::fs::create_dir_all(&home)?;
        let report = home.join("report.json");
        let mut live = Command::new(&example)
            .arg(TASKS.to_string())
            .arg(&home)
            .arg(&report)
            .arg("--stopped")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        // It says its root's id when all of them are alive.
        let mut root = String::new();
        BufReader::new(live.stdout.take().context("it has no output")?).read_line(&mut root)?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let mut command = Command::new(&bench.sortie);
        command.args(["tasks", "stop", root.trim(), "--json"]);
        command.env_clear().env("HOME", &home).env("SORTIE_HOME", &home).current_dir(&home);
        let receipt: Value = serde_json::from_str(&process::stdout_of(&mut command)?)?;
        if !live.wait()?.success() {
            bail!("many_children failed");
        }
        let stopped: Stopped = serde_json::from_str(&std::fs::read_to_string(&report)?)?;
        n_tasks = receipt["stopped"].as_array().map_or(0, Vec::len);
        if n_tasks != stopped.tasks {
            bail!("{} tasks were stopped, and the receipt has {n_tasks}", stopped.tasks);
        }
        seconds.push(Duration::from_micros(stopped.last_ending_us).saturating_sub(began).as_secs_f64());
    }
    let what =
        format!("`sortie tasks stop` of {} live tasks, to the last ending on disk", Unit::Count.write(n_tasks as f64));
    Ok(Figure::of(what, &seconds, Unit::Seconds).at_most(1.0))
}
