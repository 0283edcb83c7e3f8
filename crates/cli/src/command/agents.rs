//! `sortie agents`: which agents there are and what each one is.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use sortie_agents::{AgentDefinition, Registry};
use sortie_tools::nearest;

use crate::error::{CommandError, ErrorKind};
use crate::render::neutral;
use crate::wiring;

/// List agents, or show one
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sortie agents list\n  sortie agents show explore")]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List all agents
    #[command(after_help = "Example:\n  sortie agents list")]
    List,
    /// Show one agent: its tools, limits and role prompt
    #[command(after_help = "Examples:\n  sortie agents show explore\n  sortie agents show general")]
    Show { name: String },
}

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode, CommandError> {
    let agents = wiring::agents();
    let text = match &args.command {
        AgentsCommand::List => list(&agents),
        AgentsCommand::Show { name } => show(agents.get(name).map_err(|error| unknown(&error, &agents))?),
    };
    io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn list(agents: &Registry) -> String {
    let columns = agents.all().iter().map(|agent| agent.name.len()).max().unwrap_or_default();
    agents.all().iter().fold(String::new(), |mut text, agent| {
        let _infallible = writeln!(text, "{:columns$}  {}", agent.name, agent.description);
        text
    })
}

fn show(agent: &AgentDefinition) -> String {
    let AgentDefinition { name, aliases, description, prompt, tools, model, max_turns, delegable } = agent;
    let mut text = format!("name         {name}\n");
    if !aliases.is_empty() {
        let _infallible = writeln!(text, "aliases      {}", aliases.join(", "));
    }
    let tools = tools.as_ref().map_or_else(|| "all that its parent has".to_owned(), |tools| tools.join(", "));
    let _infallible = write!(
        text,
        "description  {description}\ntools        {tools}\nmodel        {}\nmax turns    {max_turns}\n\
         delegable    {}\n\n{prompt}\n",
        model.as_deref().unwrap_or("its parent's"),
        if *delegable { "yes" } else { "no, it is the main agent" },
    );
    text
}

fn unknown(error: &sortie_agents::UnknownAgent, agents: &Registry) -> CommandError {
    let names = agents.all().iter().flat_map(|agent| [&agent.name].into_iter().chain(&agent.aliases));
    let message = CommandError::new(ErrorKind::NotFound, error.to_string());
    match nearest(&error.asked, names.map(String::as_str)) {
        Some(near) => message.hint(format!("did you mean `{near}`?")),
        None => message,
    }
}
