//! Delegation tool of a request: any tool named `task` that takes a brief, recognised by its schema.

use serde_json::{Map, Value};
use sortie_protocol::ToolSpec;

/// Agent for a search, wherever the tool lets the caller choose one.
const EXPLORER: &str = "explore";

#[derive(Debug)]
pub(crate) struct Delegation<'a> {
    pub(crate) tool: &'a str,
    properties: &'a Map<String, Value>,
}

impl<'a> Delegation<'a> {
    pub(crate) fn find(tools: &'a [ToolSpec]) -> Option<Self> {
        tools.iter().find_map(|tool| {
            let properties = tool.schema["properties"].as_object()?;
            let takes_brief = properties.contains_key("prompt") || properties.contains_key("task");
            let found = Self { tool: &tool.name, properties };
            (tool.name.eq_ignore_ascii_case("task") && takes_brief).then_some(found)
        })
    }

    /// Arguments for a call, in the fields that the tool has.
    pub(crate) fn arguments(&self, title: &str, brief: &str) -> Value {
        let agent = self.properties.get("subagent_type").map(explorer);
        let brief_field = if self.properties.contains_key("prompt") { "prompt" } else { "task" };
        let title = self.properties.contains_key("description").then(|| ("description".to_owned(), title.into()));
        let fields =
            [title, Some((brief_field.to_owned(), brief.into())), agent.map(|name| ("subagent_type".into(), name))];
        Value::Object(fields.into_iter().flatten().collect())
    }
}

/// The explorer as the tool spells its name; the last resort is the first agent that it lists.
fn explorer(field: &Value) -> Value {
    let listed: Vec<&str> = field["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let named = listed.iter().find(|name| name.eq_ignore_ascii_case(EXPLORER)).or(listed.first());
    named.copied().unwrap_or(EXPLORER).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(name: &str, properties: &Value) -> Option<Value> {
        let schema = json!({"type": "object", "properties": properties});
        let tools = [ToolSpec { name: name.to_owned(), description: String::new(), schema }];
        Delegation::find(&tools).map(|delegation| delegation.arguments("Find it", "Where is it?"))
    }

    #[test]
    fn a_brief_is_written_into_the_fields_that_the_tool_has() {
        let text = json!({"type": "string"});
        for (name, properties, expected) in [
            ("task", json!({"task": text, "model": text}), Some(json!({"task": "Where is it?"}))),
            (
                "task",
                json!({"description": text, "prompt": text}),
                Some(json!({"description": "Find it", "prompt": "Where is it?"})),
            ),
            (
                "Task",
                json!({"description": text, "prompt": text, "subagent_type": {"enum": ["Bash", "Explore"]}}),
                Some(json!({"description": "Find it", "prompt": "Where is it?", "subagent_type": "Explore"})),
            ),
            (
                "Task",
                json!({"prompt": text, "subagent_type": text}),
                Some(json!({"prompt": "Where is it?", "subagent_type": "explore"})),
            ),
            ("TaskOutput", json!({"task": text}), None),
            ("Task", json!({"id": text}), None),
        ] {
            assert_eq!(arguments(name, &properties), expected, "{name} {properties}");
        }
    }
}
