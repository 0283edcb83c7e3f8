//! The five scenarios: a task, a task with several files, a task below a task, another model, and errors.

use serde_json::Value;

use super::play::{Played, Step};
use super::project::{self, PORT};

pub(super) struct Scenario {
    pub(super) title: &'static str,
    /// Words after `sortie`, for each command.
    pub(super) commands: &'static [&'static [&'static str]],
    pub(super) check: fn(&Played) -> Vec<Check>,
}

/// Something that must be true after a scenario.
pub(super) struct Check {
    pub(super) claim: &'static str,
    pub(super) holds: bool,
    subject: Subject,
}

#[derive(PartialEq, Eq)]
enum Subject {
    /// The program: this must hold with any model.
    Program,
    /// The model: this is what it was asked to do.
    Model,
}

impl Check {
    pub(super) fn is_promise(&self) -> bool {
        self.subject == Subject::Program
    }
}

fn promise(claim: &'static str, holds: bool) -> Check {
    Check { claim, holds, subject: Subject::Program }
}

fn task(claim: &'static str, holds: bool) -> Check {
    Check { claim, holds, subject: Subject::Model }
}

pub(super) fn all() -> [Scenario; 5] {
    [
        Scenario {
            title: "A simple task: read and summarise config.go",
            commands: &[&[
                "run",
                "--contract",
                "delegate",
                "Call the tool `task` with the task \"Read config.go and summarise it, with the default port\". Then \
                 answer in one sentence: which port does the server use by default?",
            ]],
            check: simple,
        },
        Scenario {
            title: "A complex task: rename a setting in several files",
            commands: &[&[
                "run",
                "--contract",
                "delegate",
                "--permission-mode",
                "accept-edits",
                "Call the tool `task` with this task: \"Rename the field Timeout of the struct Config to \
                 TimeoutSeconds: in config.go, in server.go, and in README.md\". Then say which files have changed.",
            ]],
            check: complex,
        },
        Scenario {
            title: "A task below a task",
            commands: &[&[
                "run",
                "--contract",
                "delegate",
                "Call the tool `task` with this task: \"Do not read files yourself. Call the tool `task` with the task \
                 'Read server.go and name its function', and report what it found\". Then answer: what is the \
                 function in server.go called?",
            ]],
            check: nested,
        },
        Scenario {
            title: "A task for another model",
            commands: &[
                &[
                    "run",
                    "--contract",
                    "delegate",
                    "Call the tool `task` with `model` set to \"light\" and the task \"Read README.md and summarise it \
                     in one sentence\". Then repeat that sentence.",
                ],
                &[
                    "task",
                    "--contract",
                    "delegate",
                    "--model",
                    "light",
                    "--task",
                    "Read README.md and say in one sentence what it is about.",
                ],
            ],
            check: other_model,
        },
        Scenario {
            title: "Errors: a model that nobody knows, and a time limit",
            commands: &[
                &["task", "--contract", "delegate", "--model", "no-such-model", "--task", "Read config.go."],
                &[
                    "task",
                    "--contract",
                    "delegate",
                    "--timeout",
                    "1",
                    "--task",
                    "Read every file of this project and write a report of a thousand words.",
                ],
            ],
            check: errors,
        },
    ]
}

fn simple(played: &Played) -> Vec<Check> {
    let mut checks = common(played);
    let step = &played.steps[0];
    checks.extend([
        task("the main agent calls `task`", step.calls_of("task").next().is_some()),
        task("a sub-agent reads config.go", reads(step, "config.go")),
        task("the sub-agent completes", any_completed(step, 1)),
        task("the answer names the port", step.outcome().is_some_and(|outcome| text_of(outcome).contains(PORT))),
    ]);
    checks
}

fn complex(played: &Played) -> Vec<Check> {
    let mut checks = common(played);
    let step = &played.steps[0];
    let text = |name: &str| played.files.get(name).map_or("", String::as_str);
    let renamed = |name: &str| {
        text(name).contains("TimeoutSeconds")
            && !text(name).replace("TimeoutSeconds", "").replace("ReadTimeout", "").contains("Timeout")
    };
    checks.extend([
        promise(
            "the outcome names exactly the files that differ",
            changed_files(step) == project::changed(&played.files),
        ),
        task("the main agent calls `task`", step.calls_of("task").next().is_some()),
        task("config.go has the new name", renamed("config.go")),
        task("server.go has the new name", renamed("server.go")),
        task("README.md has the new name", renamed("README.md")),
    ]);
    checks
}

fn nested(played: &Played) -> Vec<Check> {
    let mut checks = common(played);
    let step = &played.steps[0];
    checks.extend([
        promise("no task is deeper than two levels", step.depth() <= 2),
        task("the main agent calls `task`", step.depth() >= 1),
        task("its sub-agent calls `task`, too", step.depth() >= 2),
        task("the answer names the function", step.outcome().is_some_and(|outcome| text_of(outcome).contains("Serve"))),
    ]);
    checks
}

fn other_model(played: &Played) -> Vec<Check> {
    let mut checks = common(played);
    let (asked, direct) = (&played.steps[0], &played.steps[1]);
    checks.extend([
        promise("`light` serves the task, or a notice says who stands in", serves_or_says_so(direct, "light")),
        task(
            "the main agent passes the model on",
            asked.calls_of("task").any(|call| model_of(call) == Some("light".to_owned())),
        ),
        task("the direct task reads README.md", reads(direct, "README.md")),
        task("the direct task completes", any_completed(direct, 1)),
    ]);
    checks
}

fn errors(played: &Played) -> Vec<Check> {
    let (unknown, late) = (&played.steps[0], &played.steps[1]);
    let ended_in_time = late.outcome().is_some_and(|outcome| {
        outcome["status"] == "partial" && outcome["reason"] == "deadline" || outcome["error"]["code"] == "timeout"
    });
    vec![
        promise("an unknown model is refused before anything runs", unknown.events.is_empty()),
        promise("the refusal names the model", unknown.is_refused_with("no-such-model")),
        promise("the refusal has the exit code 1", unknown.exit_code == Some(1)),
        promise("the time limit ends the task, and the outcome says so", ended_in_time),
        promise("a task that ran out of time has the exit code 1", late.exit_code == Some(1)),
    ]
}

/// Promises of every run, whatever the model does.
fn common(played: &Played) -> Vec<Check> {
    let started = |step: &Step| step.of_type("task_started").count();
    let ended = |step: &Step| step.of_type("task_ended").count();
    let follows = |step: &Step| {
        let completed = step.outcome().is_some_and(|outcome| outcome["status"] == "completed");
        step.exit_code == Some(i32::from(!completed))
    };
    vec![
        promise("each task that started has one ending", played.steps.iter().all(|step| started(step) == ended(step))),
        promise("the exit code follows from the outcome", played.steps.iter().all(follows)),
    ]
}

fn text_of(outcome: &Value) -> &str {
    outcome["text"].as_str().unwrap_or_default()
}

fn any_completed(step: &Step, depth: u64) -> bool {
    step.outcomes_at(depth).iter().any(|outcome| outcome["status"] == "completed")
}

/// True if some task read this file with success.
fn reads(step: &Step, name: &str) -> bool {
    step.calls_of("Read").any(|call| {
        let finished = step.of_type("call_finished").find(|event| event["call"] == call["id"]);
        call["arguments"].as_str().is_some_and(|arguments| arguments.contains(name))
            && finished.is_some_and(|event| event["failed"] != true)
    })
}

fn changed_files(step: &Step) -> Vec<String> {
    let files = step.outcome().and_then(|outcome| outcome["files_changed"].as_array()).cloned().unwrap_or_default();
    let mut names: Vec<String> = files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect();
    names.sort();
    names
}

fn model_of(call: &Value) -> Option<String> {
    let arguments: Value = serde_json::from_str(call["arguments"].as_str()?).ok()?;
    arguments["model"].as_str().map(str::to_owned)
}

/// True if this route served the task, or a notice names it.
fn serves_or_says_so(step: &Step, route: &str) -> bool {
    let Some(outcome) = step.outcome() else { return false };
    let notices = outcome["notices"].as_array().into_iter().flatten().filter_map(Value::as_str);
    outcome["model"]["route"] == route
        || notices.chain(step.said.iter().map(String::as_str)).any(|notice| notice.contains(&format!("`{route}`")))
}
