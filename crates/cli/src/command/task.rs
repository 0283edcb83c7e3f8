//! `sortie task`: one delegation without a parent model, in the contract's own words, in and out.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgGroup, Args};
use serde_json::{Map, Value};
use sortie_contract::{Answer, Call, Contract};
use sortie_engine::{Ids as _, Kind, RandomIds};
use sortie_protocol::{Event, Failure, TaskOutcome};

use crate::args::with_exit_codes;
use crate::drive::drive;
use crate::error::CommandError;
use crate::input::{Input, read_stdin};
use crate::render::{Beside, Display, Root, ShowArgs, print_json};
use crate::settings::Settings;
use crate::wiring::Plan;

/// Run one sub-agent and print its result
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
#[command(group = ArgGroup::new("request").required(true).multiple(true).args(["json", "prompt"]))]
pub(crate) struct TaskArgs {
    /// The whole request as a JSON object (`sortie schema` describes it); `-` reads it from stdin
    #[arg(long, value_name = "JSON", conflicts_with_all = ["agent", "description", "prompt", "model"])]
    json: Option<String>,

    /// The agent; `general-purpose` if not given
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// A few words for lists and displays
    #[arg(long, value_name = "TEXT", requires = "prompt")]
    description: Option<String>,

    /// The whole brief
    #[arg(long, value_name = "TEXT", requires = "description")]
    prompt: Option<String>,

    /// A route, an alias or a model id; `sortie models` names them
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    #[command(flatten)]
    show: ShowArgs,
}

const EXAMPLES: &str = "\
Examples:
  sortie task --agent explore --description \"Find it\" --prompt \"Where is X?\"
  sortie task --json '{\"description\": \"Find it\", \"prompt\": \"Where is X?\"}'
  sortie task --json - < request.json | jq -r .text";

/// JSON may spell one byte of a prompt in six, and has other fields beside it.
const JSON_GROWTH: usize = 6;
const JSON_BESIDES: usize = 64 * 1024;

pub(crate) fn run(args: &TaskArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let aside = args.show.aside(settings, Root::SubAgent)?;
    let contract = settings.contract();
    let answering = |arguments: &str| Answering {
        contract: settings.contract(),
        arguments: arguments.to_owned(),
        cwd: settings.cwd(),
    };
    let json = match arguments(args, settings.max_prompt_bytes())? {
        Ok(json) => json,
        Err(failure) => return answering("").reject(&settings.explained(failure)),
    };
    let answering = answering(&json);
    let request = match contract.decode(&json) {
        Ok(request) => request,
        Err(failure) => return answering.reject(&settings.explained(failure)),
    };
    let pace = aside.pace();
    let display = Box::new(Beside { aside, result: Box::new(ContractDisplay { answering: answering.clone() }) });
    match drive(Plan::new(settings)?, Kind::Delegated, request, pace, display)? {
        Ok(code) => Ok(code),
        Err(failure) => answering.reject(&failure),
    }
}

/// Who writes the answer, and what it needs for it beside the outcome.
#[derive(Clone)]
struct Answering {
    contract: Arc<dyn Contract>,
    arguments: String,
    cwd: String,
}

impl Answering {
    fn print(&self, answer: Answer<'_>) -> io::Result<()> {
        let call = Call { arguments: &self.arguments, cwd: &self.cwd, spare_id: RandomIds.task() };
        print_json(&self.contract.encode(&call, answer))
    }

    fn reject(&self, failure: &Failure) -> Result<ExitCode, CommandError> {
        self.print(Err(failure))?;
        Ok(ExitCode::from(1))
    }
}

/// The request's JSON. The inner failure is one that the contract answers.
fn arguments(args: &TaskArgs, most_bytes: usize) -> Result<Result<String, Failure>, CommandError> {
    match args.json.as_deref() {
        Some("-") => match read_stdin(most_bytes.saturating_mul(JSON_GROWTH).saturating_add(JSON_BESIDES))? {
            Input::Text(text) => Ok(Ok(text)),
            Input::NotText { byte } => {
                let message = format!("the arguments are not valid JSON: they are not valid UTF-8 (byte {byte})");
                Ok(Err(Failure::new("invalid_arguments", message)))
            }
            Input::TooLong => {
                let message = format!("the prompt has more than {most_bytes} bytes (`task_tool.max_prompt_bytes`)");
                Ok(Err(Failure::new("prompt_too_long", message)))
            }
        },
        Some(json) => Ok(Ok(json.to_owned())),
        None => {
            let fields = [
                ("description", &args.description),
                ("prompt", &args.prompt),
                ("subagent_type", &args.agent),
                ("model", &args.model),
            ];
            let object: Map<String, Value> = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value.clone()?))))
                .collect();
            Ok(Ok(Value::from(object).to_string()))
        }
    }
}

/// The contract's result on stdout, when there is one.
struct ContractDisplay {
    answering: Answering,
}

impl Display for ContractDisplay {
    fn show(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &TaskOutcome) -> io::Result<()> {
        self.answering.print(Ok(outcome))
    }
}
