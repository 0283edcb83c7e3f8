//! `sortie task`: one delegation without a parent model. Its input and output are the JSON of a contract, or text for a
//! person.

mod background_process;
mod flags;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueHint};
use sortie_contract::{Answer, Call, Contract, given_again};
use sortie_engine::{Ids as _, RandomIds, TaskKind};
use sortie_protocol::{Event, Failure, FailureCode, TaskOutcome};

use super::args::{LimitArgs, ReportFormat, with_exit_codes};
use super::person_only::only_for_persons;
use crate::error::stdin::{Input, read_stdin};
use crate::error::{self, CommandError};
use crate::render::{Display, Pace, Root, ShowArgs, TextDisplay, View, WithProgress, print_json_text};
use crate::session::early_signals::EarlySignals;
use crate::session::presentation::{Presentation, stderr_progress};
use crate::session::{self, SessionStart, own_process};
use crate::settings::{PROMPT_BYTES_SETTING, Settings};
use crate::wiring::Plan;
use background_process::ApartDisplay;

/// Run one sub-agent and print its result
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct TaskArgs {
    /// Whole request as a JSON object (see `sortie schema`); `-` reads it from stdin
    #[arg(long, value_name = "JSON", conflicts_with_all = flags::FLAGS)]
    json: Option<String>,

    #[command(flatten)]
    request: flags::RequestFlags,

    /// Put this file into the sub-agent's system prompt, instead of the usual ones (repeatable)
    #[arg(long = "context-file", value_name = "PATH", value_hint = ValueHint::FilePath)]
    context_files: Vec<String>,

    #[command(flatten)]
    limits: LimitArgs,

    /// Format on stdout [default: text on a terminal, else the contract's JSON]
    #[arg(long, value_enum)]
    output_format: Option<ReportFormat>,

    #[command(flatten)]
    show: ShowArgs,

    /// Run a background task for a process that has already answered
    #[arg(long = background_process::FLAG, hide = true)]
    apart: bool,
}

const EXAMPLES: &str = "\
Examples:
  sortie task --agent explore --description Find --prompt \"Where is the config?\"
  sortie task --contract delegate --task \"Give an overview of this project\"
  sortie task --contract typed --agent Plan --field max_turns=10 \\
      --description \"Plan it\" --prompt \"Let the parser of the config take lists\"
  sortie task --json '{\"description\": \"Find\", \"prompt\": \"Where is the config?\"}'
  sortie task --json - --max-tokens 80k < request.json | jq -r .text";

/// JSON may spell each byte of a prompt in six, and the request has other fields as well.
const JSON_GROWTH: usize = 6;
const JSON_BESIDES: usize = 64 * 1024;

pub(crate) fn run(args: &TaskArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let progress = stderr_progress(&args.show, Root::SubAgent, settings, settings.confinement)?;
    let contract = settings.contract();
    let answering = |arguments: &str| Answering {
        contract: settings.contract(),
        arguments: arguments.to_owned(),
        cwd: settings.cwd(),
        format: args.format(),
    };
    let early = EarlySignals::watch(answering("").reporting())?;
    let json = match arguments(args, settings)? {
        Ok(json) => json,
        Err(failure) => return answering("").reject(&settings.explained(failure)),
    };
    let answering = answering(&json);
    early.report_by(answering.clone().reporting());
    let mut request = match contract.decode(&json) {
        Ok(request) => request,
        Err(failure) => return answering.reject(&settings.explained(failure)),
    };
    // The user's limits bound those of the request.
    request.limits = request.limits.tighter(args.limits.limits());
    if !args.context_files.is_empty() {
        // The flag is relative to the current directory, and a request to the workspace.
        let path = |path: &String| settings.places.start.join(path).display().to_string();
        request.context_files = Some(args.context_files.iter().map(path).collect());
    }
    if request.resume.is_some()
        && let Err(refusal) = only_for_persons(settings)
    {
        return answering.reject(&Failure::new(FailureCode::NotAllowed, refusal.in_one_line()));
    }
    if request.background && !args.apart {
        own_process::check_files(&settings.places.named())?;
        // The second process does not end with this one.
        let background = answering.clone();
        early.report_by(move |_| background.reject(&background_process::interrupted()).map(drop));
        let input = args.json.as_deref().filter(|given| *given == "-").map(|_| json.as_str());
        return background_process::start(input, &progress);
    }
    let view = if args.apart {
        own_process::leave_session();
        let (answering, reports) = (answering.clone(), settings.places.reports());
        View { pace: Pace::AtOnce, display: Box::new(ApartDisplay { answering, reports, is_told: false }) }
    } else if answering.format == ReportFormat::Text {
        View { pace: progress.pace(), display: Box::new(TextDisplay::new(progress, settings.confinement)) }
    } else {
        let notices = progress.is_quiet().then(|| request.notices.clone());
        let result = ContractDisplay { answering: answering.clone(), notices };
        View { pace: progress.pace(), display: Box::new(WithProgress::new(progress, Box::new(result))) }
    };
    // The caller is a program, so whatever needs approval is refused.
    let start = SessionStart::New { kind: TaskKind::Delegated, request };
    match session::run(Plan::to_work(settings)?, start, Presentation::unattended(view), early) {
        Ok(Ok(code)) => Ok(code),
        Ok(Err(failure)) => answering.reject(&failure),
        Err(error) => match error.failure() {
            Some(failure) => answering.reject(&failure),
            None => Err(error),
        },
    }
}

impl TaskArgs {
    /// Format of the answer. A person at a terminal reads text.
    fn format(&self) -> ReportFormat {
        let is_read_by_a_person = !self.apart && io::stdout().is_terminal();
        let usual = if is_read_by_a_person { ReportFormat::Text } else { ReportFormat::Json };
        self.output_format.filter(|_| !self.apart).unwrap_or(usual)
    }
}

/// Writer of the answer, with the request's part of it.
#[derive(Clone)]
struct Answering {
    contract: Arc<dyn Contract>,
    arguments: String,
    cwd: String,
    format: ReportFormat,
}

impl Answering {
    fn print(&self, answer: Answer<'_>) -> io::Result<()> {
        let call = Call { arguments: &self.arguments, cwd: &self.cwd, spare_id: RandomIds.task() };
        print_json_text(&self.contract.encode_text(&call, answer))
    }

    /// Report of a signal that came before the task had begun.
    fn reporting(self) -> impl Fn(&Failure) -> Result<(), CommandError> + Send + 'static {
        move |failure| self.reject(failure).map(drop)
    }

    fn reject(&self, failure: &Failure) -> Result<ExitCode, CommandError> {
        match self.format {
            ReportFormat::Text => error::fail(&failure.message),
            ReportFormat::Json => self.print(Err(failure))?,
        }
        Ok(ExitCode::from(1))
    }
}

/// JSON of the request. The contract answers the inner failure.
fn arguments(args: &TaskArgs, settings: &Settings) -> Result<Result<String, Failure>, CommandError> {
    match args.json.as_deref() {
        Some("-") => json_of_stdin(settings.max_prompt_bytes()),
        Some(json) => Ok(Ok(json.to_owned())),
        None => args.request.arguments(settings.contract().as_ref()).map(Ok),
    }
}

fn json_of_stdin(most_bytes: usize) -> Result<Result<String, Failure>, CommandError> {
    Ok(match read_stdin(most_bytes.saturating_mul(JSON_GROWTH).saturating_add(JSON_BESIDES))? {
        Input::Text(text) => Ok(text),
        Input::NotText { byte } => {
            let message = format!("the arguments are not valid JSON: they are not valid UTF-8 (byte {byte})");
            Err(Failure::new(FailureCode::InvalidArguments, message))
        }
        Input::TooLong => {
            let message = format!("the prompt has more than {most_bytes} bytes (`task_tool.max_prompt_bytes`)");
            Err(Failure::new(FailureCode::PromptTooLong, message).due_to(PROMPT_BYTES_SETTING))
        }
    })
}

/// Display that prints the contract's result on stdout, if there is one.
struct ContractDisplay {
    answering: Answering,
    /// Notices about the request; `None` if another display shows them.
    notices: Option<Vec<String>>,
}

impl Display for ContractDisplay {
    fn show(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.answering.print(Ok(outcome))?;
        if let Some(notices) = &self.notices {
            notices.iter().map(String::as_str).chain(given_again(outcome)).for_each(error::note);
        }
        Ok(())
    }
}
