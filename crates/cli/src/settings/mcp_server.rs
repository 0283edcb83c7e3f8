//! MCP servers in files: `[mcp_servers.NAME]`, and a trusted project's `.mcp.json`.
//!
//! `sortie-agents` decides what a definition may contain; `sortie-mcp` starts the servers.

use serde_json::{Map, Value as Json};
use sortie_agents::{ServerDefinition, ServerReading};
use toml::de::{DeTable, DeValue};

use super::key::SERVER;

/// Reads one table, or returns its mistake.
pub(super) fn read(path: &str, table: &DeTable<'_>) -> Result<ServerReading, String> {
    let name = super::key::meaning::name_in(&SERVER, path).unwrap_or(path);
    ServerDefinition::read(name, &object(table)).map_err(|what| format!("`{path}`: {what}"))
}

fn object(table: &DeTable<'_>) -> Json {
    let fields: Map<String, Json> =
        table.iter().map(|(name, value)| (name.get_ref().to_string(), json(value.get_ref()))).collect();
    Json::Object(fields)
}

/// The value as JSON. Dates become texts.
fn json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).map_or(Json::Null, Json::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Json::Null, Json::from),
        DeValue::Boolean(on) => Json::Bool(*on),
        DeValue::Datetime(date) => Json::String(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => object(table),
    }
}

/// Server with its name in a file, or its mistake.
pub(crate) type Named = (String, Result<ServerReading, String>);

/// Servers of a `.mcp.json` by name, or an error if the file is none. Models are offered the tools in this order, which
/// must not change when the file is written anew.
pub(crate) fn in_project_file(bytes: &[u8]) -> Result<Vec<Named>, String> {
    let value: Json = serde_json::from_slice(bytes).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let Some(servers) = value.get("mcpServers") else { return Ok(Vec::new()) };
    let servers = servers.as_object().ok_or("`mcpServers` must be an object")?;
    let mut named: Vec<Named> =
        servers.iter().map(|(name, value)| (name.clone(), ServerDefinition::read(name, value))).collect();
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(named)
}
