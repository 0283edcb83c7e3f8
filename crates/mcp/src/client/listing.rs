//! A server's list of tools, as models are offered it: names that providers take, descriptions and schemas within bounds,
//! and a digest of each definition as the server gave it.

use std::collections::HashSet;
use std::fmt::Write as _;

use rmcp::model::Tool;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sortie_agents::{ServerAccess, ServerDefinition, server_prefix};
use sortie_policy::Redactor;
use sortie_protocol::ToolSpec;

use super::pages::{MAX_NAMED, Pages};
use super::schema::acceptable;
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
    pub(super) fn new(server: &ServerDefinition, pages: &Pages, redactor: &Redactor) -> Self {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        let mut taken = HashSet::new();
        for tool in &pages.tools {
            let name = name(&server.name, &tool.name);
            if tool.name.is_empty() {
                left_out.push("has a tool without a name, which is left out".to_owned());
            } else if taken.insert(name.clone()) {
                let (own_name, pin) = (tool.name.to_string(), pin(server, tool));
                tools.push(ListedTool { own_name, spec: spec(name, tool), pin });
            } else {
                let own = brief(redactor, &tool.name);
                left_out.push(format!("has two tools that would be `{name}`; `{own}` is left out"));
            }
        }
        let more = left_out.len().saturating_sub(MAX_NAMED);
        left_out.truncate(MAX_NAMED);
        if more > 0 {
            left_out.push(format!("has {more} more tools that are left out for the same reasons"));
        }
        let left_out = left_out.into_iter().map(|what| format!("the MCP server `{}` {what}", server.name));
        let notices = pages.notices(&server.name, redactor).into_iter().chain(left_out).collect();
        Self { tools, notices }
    }

    /// That of a server that says it has no tools; it is not asked for them.
    pub(super) fn none(server: &ServerDefinition) -> Self {
        let notices = vec![format!("the MCP server `{}` has no tools", server.name)];
        Self { tools: Vec::new(), notices }
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
    let (mut schema, told) = acceptable((*tool.input_schema).clone());
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA_BYTES {
        description += &format!(" (Its schema of {bytes} bytes is left out.)");
        schema = json!({ "type": "object" });
    } else if let Some(told) = told {
        description += &format!(" {told}");
    }
    ToolSpec { name, description: description.trim().to_owned(), schema }
}

/// All that the server says of the tool, and which server says it: what is approved of one is not approved of another that
/// says the same. Variables stand as they are written, so that no key is needed to tell two servers apart. Keys are in one
/// order, whatever the server's.
fn pin(server: &ServerDefinition, tool: &Tool) -> String {
    let access = match &server.access {
        ServerAccess::Program { command, arguments, environment } => json!([command, arguments, environment]),
        ServerAccess::Address { url, headers } => json!([url, headers]),
    };
    let definition = json!([server.name, access, tool.name, serde_json::to_value(tool).unwrap_or_default()]);
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

    use rmcp::model::ListToolsResult;
    use serde_json::Value;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::new(name.to_owned(), description.to_owned(), Arc::new(serde_json::Map::new()))
    }

    fn server(definition: &Value) -> ServerDefinition {
        ServerDefinition::read("db", definition).unwrap().server
    }

    fn listing(tools: Vec<Tool>) -> Listing {
        let mut pages = Pages::default();
        pages.take(ListToolsResult::with_all_items(tools).into()).unwrap();
        Listing::new(&server(&json!({ "command": "db" })), &pages, &Redactor::new(Vec::new()))
    }

    #[test]
    fn names_are_what_providers_take_and_stay_apart() {
        assert_eq!(name("db", "query"), "mcp__db__query");
        assert_eq!(name("db", "a.b/c d\u{e4}"), "mcp__db__a_b_c_d_");
        let (one, other) = (name("db", &"x".repeat(100)), name("db", &format!("{}y", "x".repeat(100))));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
        let listing = listing(vec![tool("a.b", ""), tool("", "nameless"), tool("a_b", "")]);
        assert_eq!(listing.tools.len(), 1);
        let told = [
            "the MCP server `db` has a tool without a name, which is left out",
            "the MCP server `db` has two tools that would be `mcp__db__a_b`; `a_b` is left out",
        ];
        assert_eq!(listing.notices, told);
    }

    #[test]
    fn of_many_tools_that_are_left_out_some_are_named_and_the_others_counted() {
        let listing = listing((0..4_000).map(|n| tool(&format!("a{}b", ".".repeat(n % 2 + 1)), "")).collect());
        assert_eq!((listing.tools.len(), listing.notices.len()), (2, 4));
        assert_eq!(
            listing.notices[3],
            "the MCP server `db` has 3995 more tools that are left out for the same reasons"
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
    fn what_a_schema_cannot_say_at_its_top_is_said_in_the_description() {
        let mut either = tool("a", "Finds.");
        either.input_schema =
            Arc::new(serde_json::Map::from_iter([("anyOf".to_owned(), json!([{ "required": ["x"] }]))]));
        let spec = spec("mcp__db__a".to_owned(), &either);
        let told = r#"Finds. (Its arguments must fit this, too: {"anyOf":[{"required":["x"]}]})"#;
        assert_eq!((spec.description.as_str(), spec.schema.get("anyOf")), (told, None));
    }

    #[test]
    fn a_digest_changes_with_whatever_the_server_says_of_the_tool_and_with_the_server() {
        let db = server(&json!({ "command": "db", "env": { "KEY": "${KEY}" } }));
        let before = pin(&db, &tool("a", "reads"));
        assert_eq!(before, pin(&db, &tool("a", "reads")));
        assert_ne!(before, pin(&db, &tool("a", "reads and writes")));
        assert_ne!(before, pin(&db, &tool("b", "reads")));
        let mut annotated = tool("a", "reads");
        annotated.annotations = Some(rmcp::model::ToolAnnotations::new().read_only(true));
        assert_ne!(before, pin(&db, &annotated));
        for other in [
            json!({ "command": "db" }),
            json!({ "command": "db", "env": { "KEY": "${OTHER}" } }),
            json!({ "command": "db", "args": ["x"], "env": { "KEY": "${KEY}" } }),
            json!({ "url": "https://db.example/mcp" }),
        ] {
            assert_ne!(before, pin(&server(&other), &tool("a", "reads")), "{other}");
        }
        let patient = json!({ "command": "db", "env": { "KEY": "${KEY}" }, "call_timeout_seconds": 5 });
        assert_eq!(before, pin(&server(&patient), &tool("a", "reads")), "how long it is waited for is no part of it");
    }
}
