//! MCP servers as files name them: `[mcp_servers.NAME]`, and a trusted project's `.mcp.json`.
//!
//! What a definition may say is decided in `sortie-agents`; that servers are started, in `sortie-mcp`.

use serde_json::{Map, Value as Json};
use sortie_agents::{ServerDefinition, ServerReading};
use toml::de::{DeTable, DeValue};

use super::key::SERVER;

/// Reads one table; else what is wrong with it.
pub(super) fn read(path: &str, table: &DeTable<'_>) -> Result<ServerReading, String> {
    let name = super::key::meaning::name_in(&SERVER, path).unwrap_or(path);
    ServerDefinition::read(name, &object(table)).map_err(|what| format!("`{path}`: {what}"))
}

fn object(table: &DeTable<'_>) -> Json {
    let fields: Map<String, Json> =
        table.iter().map(|(name, value)| (name.get_ref().to_string(), json(value.get_ref()))).collect();
    Json::Object(fields)
}

/// A value as JSON has it. Dates become texts.
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

/// A server by the name that a file has for it, or what is wrong with it.
pub(crate) type Named = (String, Result<ServerReading, String>);

/// The servers of a `.mcp.json`; an error where the file is none.
pub(crate) fn in_project_file(bytes: &[u8]) -> Result<Vec<Named>, String> {
    let value: Json = serde_json::from_slice(bytes).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let Some(servers) = value.get("mcpServers") else { return Ok(Vec::new()) };
    let servers = servers.as_object().ok_or("`mcpServers` must be an object")?;
    Ok(servers.iter().map(|(name, value)| (name.clone(), ServerDefinition::read(name, value))).collect())
}
