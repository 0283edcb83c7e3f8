//! The conformance suite, run against a server and against our client at each revision that both speak, and the result
//! of each scenario.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result as Outcome, bail};
use serde::Deserialize;
use sortie_workshop::process;
use tempfile::TempDir;

use super::exceptions::Exceptions;
use super::served::Served;
use super::{Findings, Stage};

const SUITE: &str = "conformance/dist/index.js";

/// Runs of the suite, and their names in findings. The last has each scenario at the newest revision that it knows, and
/// the scenarios of extensions, which belong to no revision.
const RUNS: [(&str, &[&str]); 5] = [
    ("2025-03-26", &["--spec-version", "2025-03-26"]),
    ("2025-06-18", &["--spec-version", "2025-06-18"]),
    ("2025-11-25", &["--spec-version", "2025-11-25"]),
    ("2026-07-28", &["--spec-version", "2026-07-28"]),
    (EXTENSIONS, &[]),
];

const EXTENSIONS: &str = "extensions";

/// Time limit for one run; the longest takes some ten seconds.
const BUDGET: Duration = Duration::from_mins(2);

/// A program that the suite is run against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Who {
    Fixture,
    Sortie,
    /// Sortie's client, in a small program around it.
    Client,
}

/// Result of one scenario of one run.
#[derive(Debug)]
pub(super) struct Result {
    pub(super) revision: String,
    pub(super) scenario: String,
    /// The checks that do not hold, or could not be tried, with the reason that the suite gives.
    pub(super) broken: BTreeMap<String, String>,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixture => "fixture",
            Self::Sortie => "sortie mcp",
            Self::Client => "client",
        })
    }
}

/// Runs both servers and the client at once: each waits for the other side most of the time.
pub(super) fn findings(stage: &Stage, exceptions: &Exceptions) -> Outcome<Findings> {
    let against = |who| move || findings_against(stage, exceptions, who);
    std::thread::scope(|scope| {
        let runs = [Who::Fixture, Who::Sortie, Who::Client].map(|who| scope.spawn(against(who)));
        let mut findings = Findings::new();
        for run in runs {
            findings.extend(run.join().ok().context("a run of the suite panicked").flatten()?);
        }
        Ok(findings)
    })
}

fn findings_against(stage: &Stage, exceptions: &Exceptions, who: Who) -> Outcome<Findings> {
    let side = match who {
        Who::Client => Side::Client(tempfile::Builder::new().prefix("sortie-client-").tempdir_in("/var/tmp")?),
        Who::Fixture | Who::Sortie => Side::Server(Served::start(stage, who)?),
    };
    let mut results = Vec::new();
    for (revision, arguments) in RUNS {
        let mut found = run(stage, &side, Attempt { revision, time: 1 }, arguments)?;
        if !exceptions.cover(who, &found) {
            // Some scenarios give a server half a second for a message, which is little on a busy machine.
            println!("{who}, {revision}: something does not hold; once more");
            found = run(stage, &side, Attempt { revision, time: 2 }, arguments)?;
        }
        results.extend(found);
    }
    let n_checks: usize = results.iter().map(|result| result.broken.len()).sum();
    println!("{who}: {} scenarios, {n_checks} checks that do not hold", results.len());
    let mut findings = exceptions.findings(who, &results);
    if let Side::Server(server) = side {
        findings.extend(server.end()?);
    }
    Ok(findings)
}

/// The side that the suite judges.
enum Side {
    Server(Served),
    /// The folder for its results.
    Client(TempDir),
}

impl Side {
    fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Server(server) => server.path(name),
            Self::Client(folder) => folder.path().join(name),
        }
    }

    /// The suite's command against it.
    fn command(&self, stage: &Stage, revision: &str) -> Command {
        let mut command = Command::new(stage.foreign.node());
        match self {
            Self::Server(server) => {
                command.arg("--import").arg(stage.foreign.beside("token.mjs")).arg(stage.foreign.program(SUITE));
                command.args(["server", "--suite", "all", "--url", server.url()]);
                command.env("SORTIE_TEST_TOKEN_FILE", server.token_file());
            }
            Self::Client(_) => {
                let suite = if revision == EXTENSIONS { "extensions" } else { "all" };
                command.arg(stage.foreign.program(SUITE)).args(["client", "--suite", suite, "--command"]);
                command.arg(&stage.programs.client);
            }
        }
        command
    }

    /// The beginning of the names of its scenarios' folders.
    fn prefix(&self) -> &'static str {
        match self {
            Self::Server(_) => "server-",
            Self::Client(_) => "",
        }
    }
}

/// One run of the suite, which may be repeated once.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    revision: &'a str,
    time: u32,
}

fn run(stage: &Stage, side: &Side, attempt: Attempt<'_>, arguments: &[&str]) -> Outcome<Vec<Result>> {
    let Attempt { revision, time } = attempt;
    let folder = side.path(&format!("{revision}-{time}"));
    let mut command = side.command(stage, revision);
    command.args(arguments).arg("--output-dir").arg(&folder);
    let finished = process::within(command, BUDGET)?;
    let scenarios: Vec<&str> = summary(&finished.output).collect();
    if finished.overran || scenarios.is_empty() {
        bail!("the suite did not get to its end at {revision} ({}):\n{}", finished.status, finished.output);
    }
    let result = |scenario: &&str| {
        let broken = broken(&folder, &format!("{}{scenario}", side.prefix()))
            .with_context(|| format!("no result of {scenario} at {revision}"))?;
        Ok(Result { revision: revision.to_owned(), scenario: (*scenario).to_owned(), broken })
    };
    scenarios.iter().map(result).collect()
}

/// The scenarios of a run, from the lines that close it: `✓ ping: 2 passed, 0 failed`.
fn summary(output: &str) -> impl Iterator<Item = &str> {
    let lines = output.lines().skip_while(|line| !line.starts_with("=== ") || !line.ends_with("SUMMARY ==="));
    lines.filter_map(|line| {
        line.strip_prefix("✓ ").or_else(|| line.strip_prefix("✗ "))?.split_once(": ").map(|(name, _)| name)
    })
}

/// Reads the suite's failures of a scenario from its folder, whose name ends with the time.
fn broken(folder: &Path, scenario: &str) -> Outcome<BTreeMap<String, String>> {
    const TIME: &str = "-2026-01-01T00-00-00-000Z";
    let (above, scenario) = scenario.rsplit_once('/').unwrap_or(("", scenario));
    for entry in std::fs::read_dir(folder.join(above))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let named = name.len().checked_sub(TIME.len()).and_then(|end| name.get(..end));
        if named == Some(scenario) {
            return Ok(broken_checks(&std::fs::read_to_string(entry.path().join("checks.json"))?)?);
        }
    }
    bail!("{} has nothing of it", folder.display())
}

fn broken_checks(text: &str) -> serde_json::Result<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Check {
        id: String,
        status: String,
        error_message: Option<String>,
    }
    let checks: Vec<Check> = serde_json::from_str(text)?;
    // A scenario without a single check that held has shown nothing.
    let silent = (!checks.iter().any(|check| check.status == "SUCCESS"))
        .then(|| ("silent".to_owned(), "it checked nothing".to_owned()));
    let broken = checks.into_iter().filter(|check| !matches!(check.status.as_str(), "SUCCESS" | "INFO"));
    let broken = broken.map(|check| {
        let why = check.error_message.unwrap_or_default();
        (check.id, format!("{} {why}", check.status))
    });
    let broken: BTreeMap<_, _> = broken.collect();
    Ok(if broken.is_empty() { silent.into_iter().collect() } else { broken })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_all_scenarios() {
        let output =
            "✓ not yet: 1\n=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ tools-list: 1 passed, 1 failed\n\nTotal: 3\n";
        assert_eq!(summary(output).collect::<Vec<_>>(), ["ping", "tools-list"]);
        let output = output.replace("=== SUMMARY", "=== SUITE SUMMARY");
        assert_eq!(summary(&output).collect::<Vec<_>>(), ["ping", "tools-list"]);
    }

    #[test]
    fn a_check_with_a_warning_or_a_skip_fails_too() {
        let check = |id: &str, status: &str| format!(r#"{{"id":"{id}","status":"{status}","errorMessage":"why"}}"#);
        let checks = [
            check("a", "SUCCESS"),
            check("b", "WARNING"),
            check("c", "SKIPPED"),
            check("d", "INFO"),
            check("e", "FAILURE"),
        ];
        let broken = broken_checks(&format!("[{}]", checks.join(","))).unwrap();
        assert_eq!(broken.keys().collect::<Vec<_>>(), ["b", "c", "e"]);
        assert_eq!(broken["b"], "WARNING why");
    }

    #[test]
    fn a_scenario_that_checked_nothing_does_not_hold() {
        assert_eq!(broken_checks("[]").unwrap().keys().collect::<Vec<_>>(), ["silent"]);
    }
}
