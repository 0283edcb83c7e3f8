//! `sortie run`: a main agent answers a request, with sub-agents where it wants them.

mod request;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum, ValueHint};
use sortie_engine::{Approver, Kind, NoApprover};
use sortie_protocol::{Failure, TaskId};

use super::task_status::{self, TaskStatusArgs};
use crate::args::{LimitArgs, with_exit_codes};
use crate::ask::TerminalApprover;
use crate::detach::Detachment;
use crate::drive::{Wish, drive_or_leave};
use crate::error::{self, CommandError};
use crate::input::{Input, read_stdin};
use crate::local;
use crate::render::{
    Aside, Beside, Display, JsonDisplay, Pace, Root, ShowArgs, Stage, StreamDisplay, TextDisplay, print_not_started,
};
use crate::settings::Settings;
use crate::wiring::Plan;

/// Answer a request, with sub-agents where they help
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct RunArgs {
    /// What to do; `-`, or nothing while stdin is not a terminal, reads it from stdin
    prompt: Option<String>,

    /// With --template: `NAME=VALUE` for its arguments, then words; `-` reads the words from stdin
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,

    /// Ask what this template says; `sortie templates` names them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output_format: OutputFormat,

    /// The agent that answers, `main` if not given; `sortie agents list` names them
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// A route, an alias or a model id; `sortie models` names them
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Have the answer fit the JSON schema in this file: it is then JSON, and nothing else
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output_schema: Option<PathBuf>,

    /// Do not wait for sub-agents in the background: end when only they work, which then go on with `sortie resume`; only
    /// with text on stdout, since a run that is left has no outcome
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
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
ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with
LLM_BASE_URL and LLM_API_KEY.

Examples:
  sortie run \"Where are authentication errors handled?\"
  git diff | sortie run - --agent summary
  sortie run --template test-file path=src/a.rs
  sortie run --output-format json --timeout 5m \"List the modules\" | jq -r .text
  sortie run --max-cost-usd 0.50 --max-tokens 200k \"Review the last commit\"
  sortie run --cwd ../other --model offline \"Where is the config parsed?\"";

pub(crate) fn run(args: &RunArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let alone = args.output_format != OutputFormat::Text && !args.show.is_given();
    if args.show.verbose() && alone {
        return Err(CommandError::usage("--verbose is for --output-format text; stream-json has every call anyway"));
    }
    let aside = args.show.aside(settings, Root::Main, settings.unconfined)?;
    let plan = Plan::new(settings)?;
    if let Some(asked) = request::own_words(args).and_then(|prompt| asked_status(prompt, args.output_format)) {
        return task_status::run(&asked?, settings);
    }
    let request = request::of(args, &plan.agents(), settings)?;
    let told_more = aside.is_text() && args.output_format == OutputFormat::Text;
    let unasked = plan.lacks_model() && args.model.is_none() && told_more;
    let stage = aside.stage();
    let approver = approver(args.output_format, (&aside, &stage), settings, settings.unconfined);
    let (pace, display) = display(args.output_format, &args.show, aside, settings.unconfined);
    let (detachment, display) = detachable(args.detach, args.output_format, None, (stage, display))?;
    let wish = Wish::Start { kind: Kind::Main, request };
    let code = match drive_or_leave(plan, wish, (pace, display), approver, detachment)? {
        Err(failure) if is_held_up(&failure) => return not_started(&failure, args.output_format),
        driven => driven?,
    };
    if unasked && code == ExitCode::SUCCESS {
        for server in &local::servers(&settings.environment) {
            error::note(&local::offer(server));
        }
    }
    Ok(code)
}

/// What a prompt asks for that is `/task-status ID`: no model is needed to say it.
pub(super) fn asked_status(prompt: &str, format: OutputFormat) -> Option<Result<TaskStatusArgs, CommandError>> {
    TaskStatusArgs::typed(prompt, format != OutputFormat::Text)
}

/// Whether a hook kept a task from starting, by its word or until there was no time left: nothing was wrong with the request,
/// which was not served.
pub(super) fn is_held_up(failure: &Failure) -> bool {
    ["vetoed", "timeout"].contains(&failure.code.as_str())
}

/// The end of a run that was held up before it started, for people on stderr and for programs on stdout.
pub(super) fn not_started(failure: &Failure, format: OutputFormat) -> Result<ExitCode, CommandError> {
    match format {
        OutputFormat::Text => error::fail(&failure.message),
        OutputFormat::Json | OutputFormat::StreamJson => {
            print_not_started(failure, format == OutputFormat::StreamJson)?;
        }
    }
    Ok(ExitCode::from(1))
}

/// A person, where there is one who reads text and can answer; else nobody.
pub(super) fn approver(
    format: OutputFormat,
    (aside, stage): (&Aside, &Stage),
    settings: &Settings,
    unconfined: bool,
) -> Arc<dyn Approver> {
    let is_for_people = format == OutputFormat::Text && !matches!(aside, Aside::Events(_));
    let person = TerminalApprover::find(stage.clone(), settings.places.config.as_deref(), unconfined);
    let person = person.filter(|_| is_for_people);
    person.map_or_else(|| Arc::new(NoApprover) as Arc<dyn Approver>, |person| Arc::new(person))
}

/// The format on stdout, and beside it what stderr gets. The formats for programs are alone unless someone asks.
pub(super) fn display(
    format: OutputFormat,
    show: &ShowArgs,
    aside: Aside,
    unconfined: bool,
) -> (Pace, Box<dyn Display>) {
    let (pace, result): (Pace, Box<dyn Display>) = match format {
        OutputFormat::Text => return (aside.pace(), Box::new(TextDisplay::new(aside, unconfined))),
        OutputFormat::Json => (aside.pace(), Box::new(JsonDisplay::default())),
        OutputFormat::StreamJson => (Pace::AtOnce, Box::new(StreamDisplay::default())),
    };
    if show.is_given() { (pace, Box::new(Beside::new(aside, result))) } else { (pace, result) }
}

/// The same display, with an eye on the moment at which the run can be left, where that is wanted.
pub(super) fn detachable(
    detach: bool,
    format: OutputFormat,
    task: Option<TaskId>,
    (stage, display): (Stage, Box<dyn Display>),
) -> Result<(Option<Detachment>, Box<dyn Display>), CommandError> {
    if !detach {
        return Ok((None, display));
    }
    if format != OutputFormat::Text {
        return Err(CommandError::usage("--detach is for --output-format text: a run that is left has no outcome"));
    }
    let (detachment, display) = Detachment::watching(task, (stage, display));
    Ok((Some(detachment), display))
}

/// The prompt on stdin, which is read to its end.
pub(super) fn piped(settings: &Settings) -> Result<String, CommandError> {
    let most_bytes = settings.max_prompt_bytes();
    match read_stdin(most_bytes)? {
        Input::Text(text) => Ok(text),
        Input::NotText { byte } => Err(CommandError::usage(format!("stdin is not valid UTF-8 (byte {byte})"))),
        Input::TooLong => Err(CommandError::usage(settings.with_origins(format!(
            "the prompt on stdin has more than {most_bytes} bytes (`task_tool.max_prompt_bytes`)"
        )))),
    }
}
