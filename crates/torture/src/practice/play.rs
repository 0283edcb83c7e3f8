//! Playing a scenario: the commands one after the other, with what they printed, wrote and took.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::Value;
use sortie_workshop::process;

use super::project;
use super::scenario::{Check, Scenario};

/// Time in which the program must have ended after its task's time is over.
const GRACE: Duration = Duration::from_secs(30);

pub(super) struct Stage {
    pub(super) program: PathBuf,
    pub(super) model: String,
    /// Time of each command.
    pub(super) limit: Duration,
}

/// One command of a scenario, as it went.
pub(super) struct Step {
    pub(super) words: Vec<String>,
    /// Events of all its tasks, in their order.
    pub(super) events: Vec<Value>,
    /// The other lines that it wrote: the answer, and notices.
    pub(super) said: Vec<String>,
    pub(super) exit_code: Option<i32>,
    pub(super) elapsed: Duration,
}

pub(super) struct Played {
    pub(super) scenario: Scenario,
    pub(super) steps: Vec<Step>,
    pub(super) checks: Vec<Check>,
    /// Files of the project after the last command.
    pub(super) files: BTreeMap<String, String>,
}

impl Played {
    pub(super) fn keeps_its_promises(&self) -> bool {
        self.checks.iter().all(|check| check.holds || !check.is_promise())
    }
}

impl Stage {
    pub(super) fn play(&self, scenario: Scenario) -> Result<Played> {
        let folder = tempfile::Builder::new().prefix("practice-").tempdir_in("/var/tmp")?;
        let (project, state) = (folder.path().join("project"), folder.path().join("state"));
        std::fs::create_dir(&project)?;
        project::write(&project)?;
        let mut steps = Vec::new();
        for words in scenario.commands {
            let mut command = Command::new(&self.program);
            command.args(*words).args(["--show", "json"]).current_dir(&project).env("SORTIE_HOME", &state);
            // A scenario about time has its own limit.
            if !words.contains(&"--timeout") {
                let seconds = self.limit.as_secs().to_string();
                command.args(["--timeout", &seconds, "--idle-timeout", &seconds]);
            }
            steps.push(run(command, words, self.limit + GRACE, &project)?);
        }
        let files = project::read(&project)?;
        let mut played = Played { scenario, steps, checks: Vec::new(), files };
        played.checks = (played.scenario.check)(&played);
        Ok(played)
    }
}

fn run(command: Command, words: &[&str], limit: Duration, project: &Path) -> Result<Step> {
    let finished = process::within(command, limit)?;
    if finished.overran {
        bail!("`sortie {}` was still running {} seconds after its start", words.join(" "), limit.as_secs());
    }
    let (events, said) = sorted(&finished.output.replace(&project.display().to_string(), "PROJECT"));
    Ok(Step {
        words: words.iter().map(|&word| word.to_owned()).collect(),
        events,
        said,
        exit_code: finished.status.code(),
        elapsed: finished.elapsed,
    })
}

/// Events, and all other lines.
fn sorted(output: &str) -> (Vec<Value>, Vec<String>) {
    let (mut events, mut said) = (Vec::new(), Vec::new());
    for line in output.lines() {
        match serde_json::from_str::<Value>(line).ok().filter(|event| event["type"].is_string()) {
            Some(event) => events.push(event),
            None => said.push(line.to_owned()),
        }
    }
    (events, said)
}

impl Step {
    pub(super) fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// Outcomes of the tasks at this depth, in the order of their endings.
    pub(super) fn outcomes_at(&self, depth: u64) -> Vec<&Value> {
        self.of_type("task_ended").filter(|event| event["depth"] == depth).map(|event| &event["outcome"]).collect()
    }

    /// The outcome of the task that the command asked for.
    pub(super) fn outcome(&self) -> Option<&Value> {
        let root = self.events.first().map(|event| &event["task_id"])?;
        self.of_type("task_ended").filter(|event| event["task_id"] == *root).map(|event| &event["outcome"]).last()
    }

    /// Depth of the deepest task.
    pub(super) fn depth(&self) -> u64 {
        self.events.iter().filter_map(|event| event["depth"].as_u64()).max().unwrap_or_default()
    }

    /// Calls of a tool that any task made.
    pub(super) fn calls_of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Value> {
        self.of_type("call_started").map(|event| &event["call"]).filter(move |call| call["tool"] == tool)
    }

    /// True if a line besides the events is an object with a text `error` that contains this.
    pub(super) fn is_refused_with(&self, text: &str) -> bool {
        let errors = self.said.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        errors.filter_map(|object| object["error"].as_str().map(str::to_owned)).any(|error| error.contains(text))
    }

    pub(super) fn tokens(&self) -> u64 {
        self.outcome().and_then(|outcome| outcome["usage"]["total_tokens"].as_u64()).unwrap_or_default()
    }
}
