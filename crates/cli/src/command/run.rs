//! `sortie run`: a main agent answers a request, with sub-agents where it wants them.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use sortie_engine::Kind;
use sortie_protocol::{Limits, TaskRequest};

use crate::args::{parse_duration, with_exit_codes};
use crate::drive::drive;
use crate::error::CommandError;
use crate::input::{Input, read_stdin};
use crate::render::{Display, Interest, JsonDisplay, Pace, StreamDisplay, TextDisplay, words};
use crate::settings::Settings;

/// Answer a request, with sub-agents where they help
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct RunArgs {
    /// What to do; `-`, or nothing while stdin is not a terminal, reads it from stdin
    prompt: Option<String>,

    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output_format: OutputFormat,

    /// The agent that answers; `sortie agents list` names them
    #[arg(long, value_name = "NAME", default_value = "main")]
    agent: String,

    /// A model id of the main route's provider, or a route: `main`, `offline`
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Stop after this many model calls and report
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,

    /// Stop after this time: 90s, 5m, 1h; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Show every call, not only the last one of each agent
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// The answer; progress goes to stderr
    Text,
    /// One object: the outcome, with those of the sub-agents in `children`
    Json,
    /// One object a line for each event as it happens, then one of type `outcome`
    StreamJson,
}

const EXAMPLES: &str = "\
Without a model in the environment or the configuration, the built-in
rule-based model `offline` searches the workspace. For a real one set
ANTHROPIC_API_KEY or OPENAI_API_KEY, or LLM_MODEL_ID with LLM_BASE_URL
and LLM_API_KEY.

Examples:
  sortie run \"Where are authentication errors handled?\"
  git diff | sortie run - --agent summary
  sortie run --output-format json --timeout 5m \"List the modules\" | jq -r .text
  sortie run --cwd ../other --model offline \"Where is the config parsed?\"";

pub(crate) fn run(args: &RunArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    if args.verbose && args.output_format != OutputFormat::Text {
        return Err(CommandError::usage("--verbose is for --output-format text; stream-json has every call anyway"));
    }
    let prompt = prompt(args.prompt.as_deref(), settings.max_prompt_bytes())?;
    let request = TaskRequest {
        title: title(&prompt),
        prompt,
        agent: args.agent.clone(),
        model: args.model.clone(),
        limits: Limits { max_turns: args.max_turns, timeout: args.timeout, ..Limits::default() },
        notices: Vec::new(),
    };
    let interest = Interest { calls: args.verbose, root: false };
    let (pace, display): (Pace, Box<dyn Display>) = match args.output_format {
        OutputFormat::Text => {
            (Pace::Framed, Box::new(TextDisplay::new(interest, settings.environment.has_smart_terminal())))
        }
        OutputFormat::Json => (Pace::Framed, Box::new(JsonDisplay::default())),
        OutputFormat::StreamJson => (Pace::AtOnce, Box::new(StreamDisplay::default())),
    };
    Ok(drive(settings, Kind::Main, request, pace, display)??)
}

fn prompt(given: Option<&str>, most_bytes: usize) -> Result<String, CommandError> {
    match given {
        Some(text) if text != "-" => return Ok(text.to_owned()),
        None if io::stdin().is_terminal() => {
            return Err(CommandError::usage("there is no prompt")
                .hint("sortie run \"Where is the config parsed?\", or `sortie run -` to type it, ended by Ctrl-D"));
        }
        _ => {}
    }
    match read_stdin(most_bytes)? {
        Input::Text(text) => Ok(text),
        Input::NotText { byte } => Err(CommandError::usage(format!("stdin is not valid UTF-8 (byte {byte})"))),
        Input::TooLong => Err(CommandError::usage(format!(
            "the prompt on stdin has more than {most_bytes} bytes (`task_tool.max_prompt_bytes`)"
        ))),
    }
}

fn title(prompt: &str) -> String {
    let first = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    words::title(first)
}
