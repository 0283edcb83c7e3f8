//! One agent: all that its definition says, and what the contract in use says of its type.

use std::io::{self, Write as _};
use std::process::ExitCode;

use sortie_agents::AgentDefinition;
use sortie_contract::{Contract, TypeDefaults};

use crate::error::CommandError;
use crate::render::{neutral, table};

pub(super) fn run(agent: &AgentDefinition, contract: &dyn Contract) -> Result<ExitCode, CommandError> {
    let defaults = contract.defaults();
    let by_type = defaults.types.iter().find(|known| known.agent == agent.name);
    io::stdout().lock().write_all(show(agent, by_type).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn show(agent: &AgentDefinition, by_type: Option<&TypeDefaults>) -> String {
    let AgentDefinition {
        name,
        aliases,
        description,
        prompt,
        tools,
        disallowed_tools,
        model,
        max_turns,
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
    let tools = match tools {
        None => "all that its parent has".to_owned(),
        Some(tools) => listed(tools).unwrap_or_else(|| "none".to_owned()),
    };
    let model = model.as_deref().or(by_type.and_then(|known| known.model)).filter(|model| *model != "inherit");
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
        ("tools", Some(tools)),
        ("disallowed", listed(disallowed_tools)),
        ("model", Some(model.unwrap_or("its parent's").to_owned())),
        ("max turns", max_turns.map(|turns| turns.to_string())),
        ("color", color.clone()),
        ("delegable", Some(delegable.to_owned())),
        ("first prompt", initial_prompt.clone()),
    ];
    let rows: Vec<[String; 2]> =
        rows.into_iter().filter_map(|(label, value)| Some([label.to_owned(), value?])).collect();
    format!("{}\n{}\n", table(&rows), neutral::block(prompt))
}
