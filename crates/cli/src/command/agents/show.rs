//! One agent: all that its definition says.

use std::io::{self, Write as _};
use std::process::ExitCode;

use sortie_agents::AgentDefinition;

use crate::error::CommandError;
use crate::render::{neutral, table};

pub(super) fn run(agent: &AgentDefinition) -> Result<ExitCode, CommandError> {
    io::stdout().lock().write_all(show(agent).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn show(agent: &AgentDefinition) -> String {
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
    let own_model = model.as_deref().filter(|model| *model != "inherit");
    let delegable = if *delegable { "yes" } else { "no, it is the main agent" };
    let rows = [
        ("name", Some(name.clone())),
        ("aliases", listed(aliases)),
        ("origin", Some(origin)),
        ("description", Some(description.clone())),
        ("tools", Some(tools)),
        ("disallowed", listed(disallowed_tools)),
        ("model", Some(own_model.unwrap_or("its parent's").to_owned())),
        ("max turns", Some(max_turns.to_string())),
        ("color", color.clone()),
        ("delegable", Some(delegable.to_owned())),
        ("first prompt", initial_prompt.clone()),
    ];
    let rows: Vec<[String; 2]> =
        rows.into_iter().filter_map(|(label, value)| Some([label.to_owned(), value?])).collect();
    format!("{}\n{}\n", table(&rows), neutral::block(prompt))
}
