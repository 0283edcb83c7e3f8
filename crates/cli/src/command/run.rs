//! `sortie run`: a main agent answers a request, with sub-agents as it sees fit.

mod request;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use sortie_engine::TaskKind;

use super::args::{LimitArgs, ReportFormat, with_exit_codes};
use super::task_status::{self, TaskStatusArgs};
use crate::environment::local_server;
use crate::error::stdin::{Input, read_stdin};
use crate::error::{self, CommandError};
use crate::render::{OutputFormat, Root, ShowArgs};
use crate::session::early_signals::EarlySignals;
use crate::session::presentation::{Presentation, in_format, is_held_up, not_started, reporting, stderr_progress};
use crate::session::{self, SessionStart};
use crate::settings::{PROMPT_BYTES_SETTING, Settings};
use crate::wiring::Plan;

/// Answer a request, delegating to sub-agents where that helps
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct RunArgs {
    /// Request; read from stdin if it is `-`, or missing while stdin is not a terminal
    prompt: Option<String>,

    /// With --template: its arguments as `NAME=VALUE`, then text; `-` reads the text from stdin
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,

    /// Use this template as the request; `sortie templates` lists them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// Format on stdout
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output_format: OutputFormat,

    /// Agent that answers [default: main]; `sortie agents list` lists them
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Route, alias or model id; `sortie models` lists them
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Answer in JSON only, matching the schema in this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output_schema: Option<PathBuf>,

    /// Exit once only background sub-agents are running; text format only
    ///
    /// `sortie resume` continues them. The JSON formats need an outcome, which a detached run does not have.
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    show: ShowArgs,
}

const EXAMPLES: &str = "\
Without a configured model, the built-in, rule-based model `offline` searches
the workspace. For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or
GEMINI_API_KEY, or LLM_MODEL_ID with LLM_BASE_URL and LLM_API_KEY.

Examples:
  sortie run \"Where are authentication errors handled?\"
  git diff | sortie run - --agent summary
  sortie run --template test-file path=src/a.rs
  sortie run --output-format json --timeout 5m \"List the modules\" | jq -r .text
  sortie run --max-cost-usd 0.50 --max-tokens 200k \"Review the last commit\"
  sortie run --cwd ../other --model offline \"Where is the config parsed?\"";

pub(crate) fn run(args: &RunArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    in_format(answer(args, settings), args.output_format)
}

fn answer(args: &RunArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let early = EarlySignals::watch(reporting(args.output_format))?;
    let alone = args.output_format != OutputFormat::Text && !args.show.is_given();
    if args.show.verbose() && alone {
        return Err(CommandError::usage("--verbose is for --output-format text; stream-json has every call anyway"));
    }
    let progress = stderr_progress(&args.show, Root::Main, settings, settings.confinement)?;
    if let Some(asked) = request::own_words(args).and_then(|prompt| asked_status(prompt, args.output_format)) {
        return task_status::run(&asked?, settings);
    }
    let plan = Plan::to_work(settings)?;
    let request = request::of(args, &plan.agents(), settings)?;
    let told_more = progress.is_text() && args.output_format == OutputFormat::Text;
    let unasked = plan.lacks_model() && args.model.is_none() && told_more;
    let mut presentation = Presentation::new(args.output_format, &args.show, progress, settings, settings.confinement);
    if args.detach {
        presentation = presentation.detachable(args.output_format, None)?;
    }
    let start = SessionStart::New { kind: TaskKind::Main, request };
    let code = match session::run(plan, start, presentation, early)? {
        Err(failure) if is_held_up(&failure) => return not_started(&failure, args.output_format),
        ended => ended?,
    };
    if unasked && code == ExitCode::SUCCESS {
        for server in &local_server::servers(&settings.environment) {
            error::note(&local_server::offer(server));
        }
    }
    Ok(code)
}

/// Status request in a prompt of the form `/task-status ID`; it needs no model.
pub(super) fn asked_status(prompt: &str, format: OutputFormat) -> Option<Result<TaskStatusArgs, CommandError>> {
    let format = if format == OutputFormat::Text { ReportFormat::Text } else { ReportFormat::Json };
    TaskStatusArgs::typed(prompt, format)
}

/// Prompt from stdin, read to its end.
pub(super) fn piped(settings: &Settings) -> Result<String, CommandError> {
    let most_bytes = settings.max_prompt_bytes();
    match read_stdin(most_bytes)? {
        Input::Text(text) => Ok(text),
        Input::NotText { byte } => Err(CommandError::usage(format!("stdin is not valid UTF-8 (byte {byte})"))),
        Input::TooLong => Err(CommandError::usage(settings.with_origin(
            PROMPT_BYTES_SETTING,
            format!("the prompt on stdin has more than {most_bytes} bytes (`task_tool.max_prompt_bytes`)"),
        ))),
    }
}
