//! A server's list of tools, as models are offered it: names that providers take, descriptions and schemas within bounds,
//! and a digest of each definition as the server gave it.

use std::collections::HashSet;
use std::fmt::Write as _;

use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sortie_agents::server_prefix;
use sortie_policy::Redactor;
use sortie_protocol::ToolSpec;

use super::words::brief;

/// What providers take.
const MAX_NAME_BYTES: usize = 64;
/// Longer descriptions are cut, which they say.
const MAX_DESCRIPTION_CHARS: usize = 1_000;
/// Longer schemas cannot be cut, and are left out, which the description says.
const MAX_SCHEMA_BYTES: usize = 16 << 10;

pub(super) struct Listing {
    /// In the server's order.
    pub(super) tools: Vec<ListedTool>,
    /// What was left out.
    pub(super) notices: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ListedTool {
    /// The name that the server knows.
    pub(super) own_name: String,
    pub(super) spec: ToolSpec,
    /// Digest of the definition.
    pub(super) pin: String,
}

impl Listing {
    /// `is_cut` where the server has more tools than were asked for.
    pub(super) fn new(server: &str, tools: &[Tool], is_cut: bool, redactor: &Redactor) -> Self {
        let (mut listed, mut notices) = (Vec::new(), Vec::new());
        let mut taken = HashSet::new();
        for tool in tools {
            let name = name(server, &tool.name);
            if taken.insert(name.clone()) {
                listed.push(ListedTool { own_name: tool.name.to_string(), spec: spec(name, tool), pin: pin(tool) });
            } else {
                let own = brief(redactor, &tool.name);
                notices.push(format!(
                    "the MCP server `{server}` has two tools that would be `{name}`; `{own}` is left out"
                ));
            }
        }
        if is_cut {
            notices
                .push(format!("the MCP server `{server}` has more than {} tools; the rest is left out", tools.len()));
        }
        Self { tools: listed, notices }
    }

    /// The digest of the tool's definition as it is now; `None` where there is no such tool.
    pub(super) fn pin_of(&self, own_name: &str) -> Option<&str> {
        self.tools.iter().find(|tool| tool.own_name == own_name).map(|tool| tool.pin.as_str())
    }
}

/// The name under which models and rules know the tool. What providers do not take becomes `_`; what is too long is cut and
/// ends in a part of its digest.
fn name(server: &str, tool: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = server_prefix(server).chars().chain(tool.chars().map(plain)).collect();
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let digest = &hex(&Sha256::digest(tool.as_bytes()))[..8];
    format!("{}_{digest}", &name[..MAX_NAME_BYTES - 9])
}

fn spec(name: String, tool: &Tool) -> ToolSpec {
    let described = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default().trim();
    let mut description = match described.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}… (cut)", described[..end].trim_end()),
        None => described.to_owned(),
    };
    let schema = Value::Object((*tool.input_schema).clone());
    let bytes = schema.to_string().len();
    let schema = if bytes <= MAX_SCHEMA_BYTES {
        with_type(schema)
    } else {
        description += &format!(" (Its schema of {bytes} bytes is left out.)");
        json!({ "type": "object" })
    };
    ToolSpec { name, description: description.trim().to_owned(), schema }
}

/// Providers want an object schema that says so.
fn with_type(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("type".to_owned(), "object".into());
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// All that the server says of the tool. Keys are in one order, whatever the server's.
fn pin(tool: &Tool) -> String {
    let definition = serde_json::to_value(tool).unwrap_or_default();
    hex(&Sha256::digest(definition.to_string().as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::new(name.to_owned(), description.to_owned(), Arc::new(serde_json::Map::new()))
    }

    #[test]
    fn names_are_what_providers_take_and_stay_apart() {
        assert_eq!(name("db", "query"), "mcp__db__query");
        assert_eq!(name("db", "a.b/c d\u{e4}"), "mcp__db__a_b_c_d_");
        let (one, other) = (name("db", &"x".repeat(100)), name("db", &format!("{}y", "x".repeat(100))));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
        let listing = Listing::new("db", &[tool("a.b", ""), tool("a_b", "")], false, &Redactor::new(Vec::new()));
        assert_eq!(listing.tools.len(), 1);
        assert_eq!(
            listing.notices,
            ["the MCP server `db` has two tools that would be `mcp__db__a_b`; `a_b` is left out"]
        );
    }

    #[test]
    fn long_descriptions_are_cut_and_long_schemas_left_out_and_both_say_so() {
        let mut long = tool("a", &"word ".repeat(1_000));
        let spec = spec("mcp__db__a".to_owned(), &long);
        assert!(spec.description.ends_with("word… (cut)") && spec.description.chars().count() < 1_010);
        let properties: serde_json::Map<String, Value> = (0..2_000).map(|n| (format!("p{n}"), json!({}))).collect();
        long.input_schema = Arc::new(serde_json::Map::from_iter([("properties".to_owned(), properties.into())]));
        let spec = super::spec("mcp__db__a".to_owned(), &long);
        assert!(spec.description.contains(" bytes is left out.)"), "{}", spec.description);
        assert_eq!(spec.schema, json!({ "type": "object" }));
    }

    #[test]
    fn a_digest_changes_with_whatever_the_server_says_of_the_tool() {
        let before = pin(&tool("a", "reads"));
        assert_eq!(before, pin(&tool("a", "reads")));
        assert_ne!(before, pin(&tool("a", "reads and writes")));
        let mut annotated = tool("a", "reads");
        annotated.annotations = Some(rmcp::model::ToolAnnotations::new().read_only(true));
        assert_ne!(before, pin(&annotated));
    }
}
