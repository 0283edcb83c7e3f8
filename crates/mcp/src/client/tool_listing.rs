//! A server's list of tools, as offered to models. It has names that providers accept, descriptions and schemas within
//! bounds, and a digest of each definition as the server gave it.

use std::collections::HashSet;
use std::fmt::Write as _;

use rmcp::model::Tool;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use sortie_agents::{ServerAccess, ServerDefinition, server_prefix};
use sortie_policy::{Redactor, without_credentials};
use sortie_protocol::ToolSpec;

use crate::client::tool_pages::{MAX_NAMED, ToolPages};
use crate::client::tool_schema::acceptable;
use crate::transport::brief::brief;

/// Limit of the providers.
const MAX_NAME_BYTES: usize = 64;
/// Longer descriptions are cut, and say so.
const MAX_DESCRIPTION_CHARS: usize = 1_000;
/// Longer schemas cannot be cut; they are left out, and the description says so.
const MAX_SCHEMA_BYTES: usize = 16 << 10;

pub(crate) struct ToolListing {
    /// In the server's order.
    pub(crate) tools: Vec<ListedTool>,
    /// Notice about unreadable tools.
    pub(crate) unreadable: Option<String>,
    /// Notices about other omissions.
    pub(crate) notices: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct ListedTool {
    /// The name that the server knows.
    pub(crate) own_name: String,
    pub(crate) spec: ToolSpec,
    /// Digest of the definition.
    pub(crate) pin: String,
}

impl ToolListing {
    pub(crate) fn new(server: &ServerDefinition, pages: &ToolPages, redactor: &Redactor) -> Self {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        let mut taken = HashSet::new();
        for tool in &pages.tools {
            let name = name(&server.name, &tool.name);
            if tool.name.is_empty() {
                left_out.push("has a tool without a name, which is left out".to_owned());
            } else if taken.insert(name.clone()) {
                let (own_name, pin) = (tool.name.to_string(), pin(server, tool));
                tools.push(ListedTool { own_name, spec: spec(name, tool, redactor), pin });
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
        let notices = pages.cut(&server.name).into_iter().chain(left_out).collect();
        Self { tools, unreadable: pages.unreadable(&server.name, redactor), notices }
    }

    /// Listing for a server that declares no tools; it is not asked for them.
    pub(crate) fn none(server: &ServerDefinition) -> Self {
        let notices = vec![format!("the MCP server `{}` has no tools", server.name)];
        Self { tools: Vec::new(), unreadable: None, notices }
    }

    /// Digest of the tool's current definition; `None` if there is no such tool.
    pub(crate) fn pin_of(&self, own_name: &str) -> Option<&str> {
        self.tools.iter().find(|tool| tool.own_name == own_name).map(|tool| tool.pin.as_str())
    }
}

/// Returns the name of the tool for models and rules. Unaccepted characters become `_`; a name that is too long is cut
/// and ends in part of its digest.
fn name(server: &str, tool: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = server_prefix(server).chars().chain(tool.chars().map(plain)).collect();
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let digest = &hex(&Sha256::digest(tool.as_bytes()))[..8];
    format!("{}_{digest}", &name[..MAX_NAME_BYTES - 9])
}

/// Builds the tool's specification. Secrets are removed before anything is cut, because half a key is also a secret.
/// Names stay, since the server is called by them.
fn spec(name: String, tool: &Tool, redactor: &Redactor) -> ToolSpec {
    let described = redactor.redact(tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default()).text;
    let described = described.trim();
    let mut description = match described.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}… (cut)", described[..end].trim_end()),
        None => described.to_owned(),
    };
    let (mut schema, told) = acceptable(without_secrets(&tool.input_schema, redactor));
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA_BYTES {
        description += &format!(" (Its schema of {bytes} bytes is left out.)");
        schema = json!({ "type": "object" });
    } else if let Some(told) = told {
        description += &format!(" {told}");
    }
    ToolSpec { name, description: description.trim().to_owned(), schema }
}

/// Returns the schema without the secrets in its texts.
fn without_secrets(schema: &Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    let clean = |(name, value): (&String, &Value)| {
        let value = match value {
            // A required property whose name is masked is no longer required, because the mask names no property.
            Value::Array(required) if name == "required" => {
                let stays = |name: &&Value| name.as_str().is_none_or(|name| redactor.redact(name).count == 0);
                required.iter().filter(stays).map(|value| cleaned(value, redactor)).collect()
            }
            value => cleaned(value, redactor),
        };
        (name.clone(), value)
    };
    schema.iter().map(clean).collect()
}

fn cleaned(value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => redactor.redact(text).into_text().into(),
        Value::Array(values) => values.iter().map(|value| cleaned(value, redactor)).collect(),
        Value::Object(schema) => without_secrets(schema, redactor).into(),
        other => other.clone(),
    }
}

/// Digest of the server's identity and of everything about the tool that a person reads. Approval for one server does
/// not cover another that says the same. Keys in variables, headers and addresses are excluded, so a server with a new
/// key is still the same. Object keys are sorted.
fn pin(server: &ServerDefinition, tool: &Tool) -> String {
    let access = match &server.access {
        ServerAccess::Program { command, arguments, environment, directory } => {
            let mut access = vec![json!(command), json!(arguments), environment.keys().cloned().collect()];
            access.extend(directory.iter().map(|directory| json!(directory)));
            json!(access)
        }
        ServerAccess::Address { url, headers, helper, oauth: _ } => {
            let mut access = vec![json!(without_credentials(url)), headers.keys().cloned().collect()];
            access.extend((!helper.is_empty()).then(|| json!(helper)));
            json!(access)
        }
        ServerAccess::OldAddress { url } => json!([without_credentials(url)]),
    };
    let said =
        json!([tool.name, tool.title, tool.description, tool.input_schema, tool.output_schema, tool.annotations]);
    let mut definition = json!([server.name, access, said]);
    definition.sort_all_objects();
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

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::new(name.to_owned(), description.to_owned(), Arc::new(serde_json::Map::new()))
    }

    fn server(definition: &Value) -> ServerDefinition {
        ServerDefinition::read("db", definition).unwrap().server
    }

    fn listing(tools: Vec<Tool>) -> ToolListing {
        listing_without(&[], tools)
    }

    fn listing_without(secrets: &[&str], tools: Vec<Tool>) -> ToolListing {
        let redactor = Redactor::new(secrets.iter().map(|&secret| secret.to_owned()).collect());
        let mut pages = ToolPages::default();
        pages.take(ListToolsResult::with_all_items(tools).into()).unwrap();
        ToolListing::new(&server(&json!({ "command": "db" })), &pages, &redactor)
    }

    #[test]
    fn names_fit_providers_and_stay_distinct() {
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
    fn some_of_many_omitted_tools_are_named_and_the_rest_counted() {
        let listing = listing((0..4_000).map(|n| tool(&format!("a{}b", ".".repeat(n % 2 + 1)), "")).collect());
        assert_eq!((listing.tools.len(), listing.notices.len()), (2, 4));
        assert_eq!(
            listing.notices[3],
            "the MCP server `db` has 3995 more tools that are left out for the same reasons"
        );
    }

    #[test]
    fn long_descriptions_are_cut_and_long_schemas_omitted_with_a_note() {
        let mut long = tool("a", &"word ".repeat(1_000));
        let redactor = Redactor::new(Vec::new());
        let spec = spec("mcp__db__a".to_owned(), &long, &redactor);
        assert!(spec.description.ends_with("word… (cut)") && spec.description.chars().count() < 1_010);
        let properties: serde_json::Map<String, Value> = (0..2_000).map(|n| (format!("p{n}"), json!({}))).collect();
        long.input_schema = Arc::new(serde_json::Map::from_iter([("properties".to_owned(), properties.into())]));
        let spec = crate::client::tool_listing::spec("mcp__db__a".to_owned(), &long, &redactor);
        assert!(spec.description.contains(" bytes is left out.)"), "{}", spec.description);
        assert_eq!(spec.schema, json!({ "type": "object" }));
    }

    #[test]
    fn a_choice_at_the_top_of_a_schema_moves_into_the_description() {
        let mut either = tool("a", "Finds.");
        either.input_schema =
            Arc::new(serde_json::Map::from_iter([("anyOf".to_owned(), json!([{ "required": ["x"] }]))]));
        let spec = spec("mcp__db__a".to_owned(), &either, &Redactor::new(Vec::new()));
        let told = r#"Finds. (Arguments must also match: {"anyOf":[{"required":["x"]}]})"#;
        assert_eq!((spec.description.as_str(), spec.schema.get("anyOf")), (told, None));
    }

    #[test]
    fn keys_are_masked_before_cutting_and_the_digest_covers_the_original() {
        let (key, mark) = ("tok-abcdefghijklmnop", "[redacted: known secret]");
        let schema = json!({
            "description": key,
            "properties": { "a": { "default": key, "enum": ["x", key], "required": [key, "n"], "maximum": 5 } },
            "anyOf": [{ "const": key }]
        });
        let with = |description: String| {
            let mut tool = tool("a", &description);
            tool.input_schema = Arc::new(schema.as_object().unwrap().clone());
            tool
        };
        let tools = || vec![with(format!("{} {key}", "x".repeat(MAX_DESCRIPTION_CHARS - 10)))];
        let (clean, raw) = (listing_without(&[key], tools()), listing(tools()));
        let (spec, description) = (&clean.tools[0].spec, &clean.tools[0].spec.description);
        assert!(description.contains("x [redacte") && description.ends_with(&format!(r#"[{{"const":"{mark}"}}]}})"#)));
        assert!(!description.contains("tok-") && !spec.schema.to_string().contains("tok-"), "{spec:?}");
        assert_eq!(spec.schema["description"], mark);
        assert_eq!(
            spec.schema["properties"]["a"],
            json!({ "default": mark, "enum": ["x", mark], "required": ["n"], "maximum": 5 })
        );
        assert_eq!(clean.tools[0].pin, raw.tools[0].pin);
        let mut titled = tool("a", "");
        (titled.description, titled.title) = (None, Some(format!(" {key} ")));
        assert_eq!(listing_without(&[key], vec![titled]).tools[0].spec.description, mark);
    }

    #[test]
    fn a_digest_changes_with_the_readable_definition_and_the_server() {
        let db = server(&json!({ "command": "db", "env": { "KEY": "${KEY}" } }));
        let before = pin(&db, &tool("a", "reads"));
        assert_eq!(before, pin(&db, &tool("a", "reads")));
        assert_ne!(before, pin(&db, &tool("a", "reads and writes")));
        assert_ne!(before, pin(&db, &tool("b", "reads")));
        let mut annotated = tool("a", "reads");
        annotated.annotations = Some(rmcp::model::ToolAnnotations::new().read_only(true));
        assert_ne!(before, pin(&db, &annotated));
        let mut titled = tool("a", "reads");
        titled.title = Some("Reader".to_owned());
        assert_ne!(before, pin(&db, &titled));
        let schema = Arc::new(serde_json::Map::from_iter([("type".to_owned(), "object".into())]));
        let (mut taking, mut giving) = (tool("a", "reads"), tool("a", "reads"));
        (taking.input_schema, giving.output_schema) = (Arc::clone(&schema), Some(schema));
        assert_ne!(before, pin(&db, &taking));
        assert_ne!(before, pin(&db, &giving));
        for other in [
            json!({ "command": "db" }),
            json!({ "command": "db", "env": { "OTHER": "${KEY}" } }),
            json!({ "command": "other", "env": { "KEY": "${KEY}" } }),
            json!({ "command": "db", "args": ["x"], "env": { "KEY": "${KEY}" } }),
            json!({ "url": "https://db.example/mcp" }),
        ] {
            assert_ne!(before, pin(&server(&other), &tool("a", "reads")), "{other}");
        }
        let patient = json!({ "command": "db", "env": { "KEY": "${KEY}" }, "call_timeout_seconds": 5 });
        assert_eq!(before, pin(&server(&patient), &tool("a", "reads")), "timeouts are no part of it");
    }

    #[test]
    fn a_digest_ignores_keys_and_unread_fields() {
        let same = |one: Value, other: Value| {
            let pins = [one, other].map(|definition| pin(&server(&definition), &tool("a", "reads")));
            assert_eq!(pins[0], pins[1]);
        };
        same(
            json!({ "command": "db", "env": { "API_TOKEN": "old-0123456789" } }),
            json!({ "command": "db", "env": { "API_TOKEN": "new-0123456789" } }),
        );
        same(
            json!({ "url": "https://old:key@db.example/mcp?key=old", "headers": { "Authorization": "Bearer old" } }),
            json!({ "url": "https://new:key@db.example/mcp?key=new", "headers": { "Authorization": "Bearer new" } }),
        );
        let at = |url: &str, header: &str| {
            pin(&server(&json!({ "url": url, "headers": { header: "x" } })), &tool("a", "reads"))
        };
        let before = at("https://db.example/mcp", "Authorization");
        assert_ne!(before, at("https://db.example/other", "Authorization"));
        assert_ne!(before, at("https://other.example/mcp", "Authorization"));
        assert_ne!(before, at("https://db.example/mcp", "X-Tenant"));
        let db = server(&json!({ "command": "db" }));
        let said = json!({ "name": "a", "description": "reads", "inputSchema": {} });
        let mut marked = said.clone();
        marked["_meta"] = json!({ "request": "1" });
        marked["icons"] = json!([{ "src": "https://db.example/a.png?signature=1" }]);
        let [plain, marked] = [said, marked].map(|said| pin(&db, &serde_json::from_value(said).unwrap()));
        assert_eq!(plain, marked);
        let schemas = [json!({ "type": "object", "title": "x" }), json!({ "title": "x", "type": "object" })];
        let [one, other] = schemas
            .map(|schema| pin(&db, &serde_json::from_value(json!({ "name": "a", "inputSchema": schema })).unwrap()));
        assert_eq!(one, other, "in another order of keys");
    }
}
