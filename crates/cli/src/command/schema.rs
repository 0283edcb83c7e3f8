//! `sortie schema`: the Task tool as a host declares it to its model.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;
use sortie_agents::Agents as _;
use sortie_engine::{cast, task_tool};
use sortie_protocol::ToolSpec;
use sortie_tools::Tool as _;

use crate::error::CommandError;
use crate::render::print_json;
use crate::settings::Settings;
use crate::wiring;

/// Print the JSON schema of the Task tool, with your agents
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SchemaArgs {
    /// Form of the schema
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// JSON schema of the arguments alone
    Json,
    /// Tool definition for Anthropic's Messages API
    Anthropic,
    /// Tool definition for OpenAI's Chat Completions API
    Openai,
}

const EXAMPLES: &str = "\
Each contract is the Task tool of one kind of host, with its own names, input
and results. `sortie --help` lists the contracts; --contract chooses one.

Examples:
  sortie schema
  sortie schema --format anthropic
  sortie schema --contract typed
  sortie schema --format openai | jq .function.parameters";

pub(crate) fn run(args: &SchemaArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let contract = settings.contract();
    let found = wiring::agents(settings)?.current();
    let rules = settings.rules();
    rules.check_switched_on().map_err(|off| {
        let why = settings.with_origin("task_tool.enabled", format!("there is no Task tool: {}", off.message));
        CommandError::config(why)
    })?;
    let agents = cast(&found, contract.as_ref(), &rules);
    let ToolSpec { name, description, schema } = task_tool(&contract, &agents, &rules).spec();
    print_json(&match args.format {
        Format::Json => schema,
        Format::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
        Format::Openai => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        }),
    })?;
    Ok(ExitCode::SUCCESS)
}
