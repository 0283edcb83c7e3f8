//! `sortie task-status`: the status of one task on one screen.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use sortie_engine::{Clock as _, SystemClock};
use sortie_journal::{TaskHeader, TaskState};
use sortie_protocol::{TaskOutcome, Usage};

use super::args::ReportFormat;
use super::task_view::{Legs, Question, find, parse_id};
use crate::error::CommandError;
use crate::render::{print_json, state};
use crate::settings::Settings;
use crate::text::{neutral, words};
use crate::wiring;

/// Show the status of a task: activity, open questions, figures and outcome
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie task-status kvbq\n  sortie task-status kvbq --json | jq -r .last")]
pub(crate) struct TaskStatusArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TaskStatusArgs {
    /// Parses the prompt `/task-status ID`, which the contract `typed` specifies. No template has this name.
    pub(super) fn typed(prompt: &str, format: ReportFormat) -> Option<Result<Self, CommandError>> {
        const COMMAND: &str = "/task-status";
        let id = prompt.trim().strip_prefix(COMMAND)?;
        if !id.is_empty() && !id.starts_with(char::is_whitespace) {
            return None;
        }
        let usage = |why| CommandError::usage(format!("`{COMMAND}`: {why}"));
        Some(parse_id(id.trim()).map_err(usage).map(|id| Self { id, json: format == ReportFormat::Json }))
    }
}

pub(crate) fn run(args: &TaskStatusArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let journal = wiring::journal_to_read(settings)?;
    let header = find(&journal, &args.id)?;
    let (mut legs, read) = Legs::read(&journal, &header, SystemClock.now());
    read?;
    let is_over = matches!(header.state, TaskState::Ended(_));
    let outcome = legs.ended.pop_if(|_| is_over).map(|(_, outcome)| outcome);
    let output_file = settings.places.reports().join(format!("{}-output.log", header.task_id));
    let output_file = Some(output_file).filter(|path| path.exists());
    let screen = Screen { header, legs, outcome, output_file };
    if args.json {
        print_json(&screen.object())?;
    } else {
        io::stdout().lock().write_all(neutral::block(&screen.text()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Screen {
    header: TaskHeader,
    legs: Legs,
    /// Outcome of its newest leg, if that has ended.
    outcome: Option<TaskOutcome>,
    output_file: Option<PathBuf>,
}

impl Screen {
    fn text(&self) -> String {
        let Self { header, outcome, .. } = self;
        let mut text = format!("{} {} {}\n\n", header.task_id, neutral::line(&header.agent), self.state());
        let mut field = |name: &str, value: &str| {
            let _infallible = writeln!(text, "{name:7}  {}", neutral::line(value));
        };
        field("title", &header.title);
        if let Some(parent) = header.parent_id {
            field("parent", &parent.to_string());
        }
        field("elapsed", &words::elapsed(self.usage().duration_ms));
        field("used", &self.used());
        if let Some(last) = self.legs.stand.last.as_ref().filter(|_| outcome.is_none()) {
            field("last", last);
        }
        if let Some(path) = &self.output_file {
            field("output", &path.display().to_string());
        }
        for (name, value) in self.advice() {
            field(name, &value);
        }
        if let Some(outcome) = outcome {
            if let Some(error) = &outcome.error {
                field("error", &format!("{}: {}", error.code, error.message));
            }
            if !outcome.text.is_empty() {
                let _infallible = writeln!(text, "\n{}", outcome.text.trim_end());
            }
        }
        text
    }

    /// State of the task, and what it waits for.
    fn state(&self) -> String {
        let state = state(&self.header);
        if self.header.state != TaskState::Running {
            return state;
        }
        match self.legs.stand.awaits() {
            Some(what) => format!("{state}, waiting for {what}"),
            None => state,
        }
    }

    /// Usage of the task and its descendants.
    fn usage(&self) -> Usage {
        self.outcome.as_ref().map_or(self.legs.so_far.usage, |outcome| outcome.usage)
    }

    fn used(&self) -> String {
        let usage = self.usage();
        let turns = if usage.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", usage.turns) };
        let calls = words::calls_with_failed(usage.tool_calls, usage.failed_calls);
        format!("{turns} · {calls} · {}", words::tokens(usage.total_tokens()))
    }

    /// Open questions, and what a person can do now.
    fn advice(&self) -> Vec<(&'static str, String)> {
        let TaskHeader { task_id, root_id, state, .. } = &self.header;
        let mut advice = Vec::new();
        let (mut open, mut approvals) = (Vec::new(), Vec::new());
        for question in &self.legs.stand.questions {
            match question {
                Question::Open { text, .. } => open.push(("asks", text.clone())),
                Question::Approval { rule, .. } => approvals.push(("asks", format!("approval for {rule}"))),
            }
        }
        let n_open = open.len();
        advice.extend(open);
        if n_open > 0 {
            let which = if n_open > 1 { "  # answers the first of them" } else { "" };
            advice.push(("answer", format!("sortie tasks send {task_id} \"…\"{which}")));
        }
        if !approvals.is_empty() {
            advice.extend(approvals);
            advice.push(("answer", "at the terminal of its run".to_owned()));
        }
        if *state == TaskState::Interrupted {
            advice.push(("resume", format!("sortie resume {root_id}")));
        }
        advice
    }

    fn object(&self) -> Value {
        let Self { header, legs: Legs { stand, .. }, outcome, output_file } = self;
        let usage = self.usage();
        let mut object = json!({
            "task_id": header.task_id,
            "agent": header.agent,
            "title": header.title,
            "status": state(header),
            "leg": header.leg,
            "elapsed_ms": usage.duration_ms,
            "turns": usage.turns,
            "tool_calls": usage.tool_calls,
            "failed_calls": usage.failed_calls,
            "tokens": usage.total_tokens(),
        });
        let text_of = |question: &Question| match question {
            Question::Open { text, .. } => text.clone(),
            Question::Approval { rule, .. } => rule.clone(),
        };
        let questions: Vec<String> = stand.questions.iter().map(text_of).collect();
        let more = [
            ("parent_id", header.parent_id.map(|parent| json!(parent))),
            ("last", stand.last.as_ref().map(|last| json!(last))),
            ("waits_for", Some(&stand.waits_for).filter(|tasks| !tasks.is_empty()).map(|tasks| json!(tasks))),
            ("needs", stand.needs().filter(|_| header.state == TaskState::Running).map(|need| json!(need))),
            ("question", questions.first().map(|first| json!(first))),
            ("questions", Some(&questions).filter(|questions| questions.len() > 1).map(|questions| json!(questions))),
            ("output_file", output_file.as_ref().map(|path| json!(path))),
            ("text", outcome.as_ref().map(|outcome| json!(outcome.text))),
        ];
        for (name, value) in more {
            if let Some(value) = value {
                object[name] = value;
            }
        }
        object
    }
}
