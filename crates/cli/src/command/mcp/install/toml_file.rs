//! An entry in a TOML file: a table at its end.

use serde_json::Value;
use toml::Table;

use super::host::NAME;
use super::merged::Merged;

const SECTION: &str = "mcp_servers";

/// The table of the entry.
pub(super) fn lines(entry: &Value) -> String {
    let fields = entry.as_object().into_iter().flatten();
    // JSON writes texts, numbers, booleans and lists of texts as TOML does.
    let fields: Vec<String> = fields.map(|(key, value)| format!("{key} = {}\n", spaced(value))).collect();
    format!("[{SECTION}.{NAME}]\n{}", fields.concat())
}

pub(super) fn merged(text: &str, entry: &Value) -> Merged {
    let before: Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return Merged::unclear(format!("is not TOML: {}", toml::de::Error::message(&error))),
    };
    let lines = lines(entry);
    let wanted = lines.parse::<Table>().ok().and_then(|table| table.get(SECTION)?.get(NAME).cloned());
    let Some(wanted) = wanted else { return Merged::unclear("cannot hold the lines") };
    let present = before.get(SECTION).and_then(|servers| servers.get(NAME));
    if present == Some(&wanted) {
        return Merged::Present;
    }
    if present.is_some() {
        return Merged::Taken;
    }
    let gap = if text.trim().is_empty() {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let changed = format!("{text}{gap}{lines}");
    let mut expected = before;
    let servers = expected.entry(SECTION).or_insert_with(|| Table::new().into());
    if let Some(servers) = servers.as_table_mut() {
        servers.insert(NAME.to_owned(), wanted);
    }
    if changed.parse::<Table>().is_ok_and(|read| read == expected) {
        return Merged::Into(changed);
    }
    Merged::unclear(format!("has its servers in `{SECTION} = …`, to which no table can be added"))
}

/// A value with a space after each comma.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
