//! `mcpServers`: the MCP servers that an agent asks for, by name or with a definition of its own.

use crate::agent_file::output_schema::json;
use crate::definition::mcp_server::{ServerDefinition, ServerUse};
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{Entry, Node, Value};
use crate::text::hidden_characters::shown;

/// More than anybody needs.
const MAX_SERVERS: usize = 50;

/// The valid servers. A project file's definitions count only if it is trusted: they name programs and addresses.
pub(super) fn servers(entry: &Entry, report: &mut FileFindings<'_>) -> Vec<ServerUse> {
    let mut uses = Vec::new();
    match &entry.value.value {
        Value::Nothing => {}
        Value::Text(names) => uses.extend(named(names)),
        Value::List(items) => items.iter().for_each(|item| uses.extend(listed(item, report))),
        Value::Map(servers) => uses.extend(servers.iter().filter_map(|server| own(server, report))),
    }
    if uses.len() > MAX_SERVERS {
        report.strict(entry.line, format!("`mcpServers` has more than {MAX_SERVERS} servers"), "name fewer");
        uses.truncate(MAX_SERVERS);
    }
    uses
}

fn named(names: &str) -> impl Iterator<Item = ServerUse> {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| ServerUse::Named(name.to_owned()))
}

/// One item of a list: a name, or definitions.
fn listed(item: &Node, report: &mut FileFindings<'_>) -> Vec<ServerUse> {
    match &item.value {
        Value::Text(name) => named(name).collect(),
        // Other programs write the name next to the other fields.
        Value::Map(fields) if fields.iter().any(|field| ["command", "url"].contains(&field.key.as_str())) => {
            let (names, rest): (Vec<Entry>, _) = fields.iter().cloned().partition(|field| field.key == "name");
            let name = names.into_iter().find_map(|name| match name.value.value {
                Value::Text(name) => Some(name),
                _ => None,
            });
            let value = Node { value: Value::Map(rest), ..item.clone() };
            own(&Entry { key: name.unwrap_or_default(), line: item.line, value }, report).into_iter().collect()
        }
        Value::Map(servers) => servers.iter().filter_map(|server| own(server, report)).collect(),
        Value::Nothing | Value::List(_) => {
            let fix = "write a name, or `name:` with `command` or `url` below it";
            report.strict(item.line, "an item of `mcpServers` is not a server", fix);
            Vec::new()
        }
    }
}

/// A server defined in the file.
fn own(entry: &Entry, report: &mut FileFindings<'_>) -> Option<ServerUse> {
    let Entry { key: name, line, value } = entry;
    if value.value == Value::Nothing {
        return Some(ServerUse::Named(name.clone()));
    }
    let reading = match ServerDefinition::read(name, &json(value)) {
        Ok(reading) => reading,
        Err(why) => {
            let fix = if report.is_ours() { "fix it, or delete it" } else { "the agent runs without it" };
            report.strict(*line, format!("the MCP server `{}` cannot be used: {}", shown(name), shown(&why)), fix);
            return None;
        }
    };
    for ignored in reading.ignored {
        report.strict(*line, format!("the MCP server `{}`: {}", shown(name), shown(&ignored)), "delete it");
    }
    if report.is_untrusted() {
        let message =
            format!("the MCP server `{}` is left out: a project's agent may start none until trusted", shown(name));
        report.warning(*line, message, "review the file, then run `sortie trust`");
        return None;
    }
    Some(ServerUse::Own(reading.server))
}
