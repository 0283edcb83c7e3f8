//! One agent: its whole definition, and the defaults of its type in the contract in use.

use std::io::{self, Write as _};
use std::process::ExitCode;

use sortie_agents::{AgentDefinition, Registry};
use sortie_contract::{Contract, Defaults, TypeDefaults, Visible};
use sortie_engine::tool_names;
use sortie_protocol::Fork;

use crate::error::{CommandError, ErrorKind};
use crate::text::{neutral, table};

pub(super) fn run(agent: &AgentDefinition, contract: &dyn Contract) -> Result<ExitCode, CommandError> {
    io::stdout().lock().write_all(show(agent, &contract.defaults()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Finds the agent that a call in this contract would mean by a name.
pub(super) fn meant<'a>(
    agents: &'a Registry,
    name: &str,
    contract: &dyn Contract,
) -> Result<&'a AgentDefinition, CommandError> {
    let defaults = contract.defaults();
    let by_type = defaults.type_named(name);
    // If the contract shows only its types, a type comes before a file of the same name.
    let wanted = by_type.filter(|_| defaults.visible == Visible::Types).map_or(name, |known| known.agent);
    agents.get(wanted).map_err(|error| CommandError::new(ErrorKind::NotFound, error.to_string()))
}

/// Most tools that it could have, in words.
fn tools(agent: &AgentDefinition, defaults: &Defaults) -> String {
    let is_among = |names: &[&str], tool: &str| names.iter().any(|name| name.eq_ignore_ascii_case(tool));
    let is_denied = |tool: &str| agent.delegable && is_among(defaults.denied_tools, tool);
    let only = defaults.only_tools.filter(|_| agent.delegable);
    let own = match (&agent.tools, only) {
        (Some(tools), _) => tools.iter().map(String::as_str).collect(),
        (None, Some(only)) => only.to_vec(),
        (None, None) => {
            let known = tool_names();
            let denied: Vec<&str> = known.iter().map(String::as_str).filter(|tool| is_denied(tool)).collect();
            let all = "everything that its parent has";
            return if denied.is_empty() { all.to_owned() } else { format!("{all}, but {}", denied.join(", ")) };
        }
    };
    let had = |tool: &&str| !is_denied(tool) && only.is_none_or(|only| is_among(only, tool));
    match own.into_iter().filter(had).collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "none".to_owned(),
        tools => tools,
    }
}

/// Model that an agent asks for; `None` for its parent's.
pub(super) fn model<'a>(agent: &'a AgentDefinition, by_type: Option<&'a TypeDefaults>) -> Option<&'a str> {
    agent.model.as_deref().or(by_type.and_then(|known| known.model)).filter(|model| *model != "inherit")
}

fn show(agent: &AgentDefinition, defaults: &Defaults) -> String {
    let by_type = defaults.type_of(&agent.name);
    let AgentDefinition {
        name,
        aliases,
        description,
        prompt,
        tools: _,
        disallowed_tools,
        servers,
        mode,
        never_asks,
        approves_reads,
        model: _,
        limits,
        output_schema,
        fork,
        context_files,
        color,
        initial_prompt,
        delegable,
        origin,
    } = agent;
    let listed = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
    let origin = match &origin.path {
        Some(path) => format!("{}: {path}", origin.scope),
        None => origin.scope.to_string(),
    };
    let model = self::model(agent, by_type);
    let type_name = by_type.map(|known| known.name).filter(|known| known != name);
    let delegable = match (delegable, name.as_str()) {
        (true, _) => "yes",
        (false, "main") => "no, it is the main agent",
        (false, _) => "no, not in this contract",
    };
    let rows = [
        ("name", Some(name.clone())),
        ("type", type_name.map(str::to_owned)),
        ("aliases", listed(aliases)),
        ("origin", Some(origin)),
        ("description", Some(description.clone())),
        ("tools", Some(tools(agent, defaults))),
        ("disallowed", listed(disallowed_tools)),
        ("mcp servers", listed(&servers.iter().map(|server| server.name().to_owned()).collect::<Vec<_>>())),
        ("mode", mode.map(|mode| format!("{mode}, or stricter where its parent's is"))),
        ("asks", never_asks.then(|| "never: what needs approval is refused".to_owned())),
        ("reads", approves_reads.then(|| "need no approval, unless they are denied".to_owned())),
        ("model", Some(model.unwrap_or("its parent's").to_owned())),
        ("max turns", Some(limits.max_turns.unwrap_or(defaults.max_turns).to_string())),
        ("max tokens", limits.max_tokens.map(|tokens| tokens.to_string())),
        ("max cost", limits.max_cost.map(|cost| cost.to_string())),
        ("timeout", limits.timeout.map(|time| format!("{}s", time.as_secs_f64()))),
        ("idle timeout", limits.idle.map(|time| format!("{}s", time.as_secs_f64()))),
        ("max children", limits.max_children.map(|children| children.to_string())),
        ("answers", output_schema.as_ref().map(|_| "with JSON, by a schema of its own".to_owned())),
        ("begins with", fork.and_then(forked)),
        ("context files", context_files.as_ref().map(|files| listed(files).unwrap_or_else(|| "none".to_owned()))),
        ("color", color.clone()),
        ("delegable", Some(delegable.to_owned())),
        ("first prompt", initial_prompt.clone()),
    ];
    let rows: Vec<[String; 2]> =
        rows.into_iter().filter_map(|(label, value)| Some([label.to_owned(), value?])).collect();
    format!("{}\n{}\n", table(&rows), neutral::block(prompt))
}

/// Part of its caller's conversation that an agent begins with.
fn forked(fork: Fork) -> Option<String> {
    match fork {
        Fork::Off => None,
        Fork::Whole => Some("its caller's conversation".to_owned()),
        Fork::Turns(turns) => Some(format!("the last {turns} turns of its caller's conversation")),
    }
}
