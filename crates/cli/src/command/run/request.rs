//! Request of `sortie run`: the user's words or a template's, after the agent's own opening.

use std::io::{self, IsTerminal as _};

use sortie_agents::{Given, Registry, TemplateError};
use sortie_protocol::TaskRequest;

use super::{RunArgs, piped};
use crate::command::args::output_schema;
use crate::error::CommandError;
use crate::settings::{PROMPT_BYTES_SETTING, Settings};
use crate::text::words;

/// Default agent.
const MAIN: &str = "main";
/// Argument that stands for stdin.
const STDIN: &str = "-";

/// Builds the request.
pub(super) fn of(args: &RunArgs, agents: &Registry, settings: &Settings) -> Result<TaskRequest, CommandError> {
    let request = TaskRequest {
        agent: args.agent.clone().unwrap_or_else(|| MAIN.to_owned()),
        agent_is_usual: args.agent.is_none(),
        model: args.model.clone(),
        limits: args.limits.or(settings.run_limits()),
        output_schema: args.output_schema.as_deref().map(output_schema::read).transpose()?,
        ..TaskRequest::default()
    };
    let (request, is_asked) = match &args.template {
        None if !args.arguments.is_empty() => {
            return Err(CommandError::usage("unexpected extra arguments").hint("quote the prompt"));
        }
        Some(name) => (by_template(name, args, request, agents, settings)?, true),
        None => by_words(args.prompt.as_deref(), request, agents, settings)?,
    };
    Ok(opened(request, is_asked, agents))
}

/// Prompt of the user, unless `--template` supplies it.
pub(super) fn own_words(args: &RunArgs) -> Option<&str> {
    args.prompt.as_deref().filter(|_| args.template.is_none() && args.arguments.is_empty())
}

/// Request from the template that `--template` names.
fn by_template(
    name: &str,
    args: &RunArgs,
    request: TaskRequest,
    agents: &Registry,
    settings: &Settings,
) -> Result<TaskRequest, CommandError> {
    let template = agents.templates().get(name).map_err(|error| CommandError::usage(error.to_string()))?;
    let said: Vec<&str> = args.prompt.iter().chain(&args.arguments).map(String::as_str).collect();
    let given = given(&said, settings)?;
    let unfit = |error: TemplateError| {
        let message = match error {
            TemplateError::TooLong { .. } => settings.with_origin(PROMPT_BYTES_SETTING, error.to_string()),
            _ => error.to_string(),
        };
        CommandError::usage(message).hint(format!("sortie templates show {name}"))
    };
    let prompt = template.expand(&given, settings.max_prompt_bytes()).map_err(unfit)?;
    let title = title(&format!("{name} {}", said.join(" ")));
    Ok(template.serving(TaskRequest { title, prompt, ..request }))
}

/// Arguments of a template; a single `-` means that all of its text comes from stdin.
fn given(said: &[&str], settings: &Settings) -> Result<Given, CommandError> {
    let words: Vec<&str> = said.iter().filter(|word| **word != STDIN).copied().collect();
    let mut given = Given::from_words(&words).map_err(|error| CommandError::usage(error.to_string()))?;
    if words.len() < said.len() {
        if !given.input.is_empty() {
            return Err(CommandError::usage(format!(
                "`{STDIN}` reads the whole text from stdin; leave out other words"
            )));
        }
        given.input = piped(settings)?;
    }
    Ok(given)
}

/// Request from the user's words or stdin, and whether it asks for anything. It may call a template.
fn by_words(
    said: Option<&str>,
    request: TaskRequest,
    agents: &Registry,
    settings: &Settings,
) -> Result<(TaskRequest, bool), CommandError> {
    let asked = match said {
        Some(text) if text != STDIN => text.to_owned(),
        None if io::stdin().is_terminal() && opening(&request, agents).is_some() => return Ok((request, false)),
        None if io::stdin().is_terminal() => {
            return Err(CommandError::usage("there is no prompt")
                .hint("sortie run \"Where is the config parsed?\", or `sortie run -` to type it, ended by Ctrl-D"));
        }
        _ => piped(settings)?,
    };
    let is_asked = said.is_some() || !asked.trim().is_empty();
    let request = TaskRequest { title: title(&asked), prompt: asked, ..request };
    let request = agents.templates().applied(request, settings.max_prompt_bytes());
    Ok((request.map_err(|failure| settings.explained(failure))?, is_asked))
}

/// Puts the opening of the agent's definition before the request. The opening alone suffices if nobody asks for
/// anything.
fn opened(mut request: TaskRequest, is_asked: bool, agents: &Registry) -> TaskRequest {
    match opening(&request, agents) {
        Some(opening) if !is_asked => opening.clone_into(&mut request.prompt),
        // An empty request is refused, whatever its opening.
        Some(opening) if !request.prompt.trim().is_empty() => {
            request.prompt = format!("{opening}\n\n{}", request.prompt);
        }
        Some(_) | None => {}
    }
    if request.title.is_empty() {
        request.title = title(&request.prompt);
    }
    request
}

fn opening<'a>(request: &TaskRequest, agents: &'a Registry) -> Option<&'a str> {
    agents.get(&request.agent).ok()?.initial_prompt.as_deref()
}

fn title(prompt: &str) -> String {
    let first = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    words::title(first)
}
