//! The output of a server's tool, as text for a model. Non-text parts are named with kind and size.

use rmcp::model::{CallToolResult, ContentBlock, CustomResult, JsonObject, ResourceContents, ServerResult};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sortie_protocol::ToolOutput;

const UNKNOWN: &str = "[content of unknown kind]";
/// Limit for the name of a kind.
const MAX_KIND_CHARS: usize = 40;

/// The result of a call.
pub(crate) struct ToolAnswer {
    /// Each part in words; true for a text part.
    parts: Vec<(String, bool)>,
    structured: Option<Value>,
    failed: bool,
    /// Metadata of the whole result.
    meta: Option<JsonObject>,
}

impl ToolAnswer {
    /// Reads a result; `None` if it is not a tool result. An unreadable part does not affect the others.
    pub(crate) fn read(result: ServerResult) -> Option<Self> {
        match result {
            ServerResult::CallToolResult(CallToolResult { content, structured_content, is_error, meta, .. }) => {
                Some(Self {
                    parts: content.into_iter().map(part).collect(),
                    structured: structured_content,
                    failed: is_error == Some(true),
                    meta: meta.map(|meta| meta.0),
                })
            }
            // One malformed part makes the library return the whole result unparsed.
            ServerResult::CustomResult(CustomResult(Value::Object(mut result))) => {
                let Some(Value::Array(content)) = result.shift_remove("content") else { return None };
                let read = |value: Value| serde_json::from_value(value.clone()).map_or_else(|_| odd(&value), part);
                Some(Self {
                    parts: content.into_iter().map(read).collect(),
                    structured: result.shift_remove("structuredContent"),
                    failed: result.get("isError") == Some(&Value::Bool(true)),
                    meta: None,
                })
            }
            _ => None,
        }
    }

    /// Returns an entry of the result's metadata.
    pub(crate) fn noted<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.meta.as_ref()?.get(key)?.clone()).ok()
    }

    /// Returns the output of the call. A structured object is used only if there is no text: servers that send both
    /// repeat themselves.
    pub(crate) fn into_output(self) -> ToolOutput {
        let has_text = self.parts.iter().any(|(words, is_text)| *is_text && !words.is_empty());
        let mut parts: Vec<String> = self.parts.into_iter().map(|(words, _)| words).collect();
        if let Some(object) = self.structured.filter(|_| !has_text) {
            parts.push(object.to_string());
        }
        let text = parts.join("\n");
        let text = if text.is_empty() { "(no output)".to_owned() } else { text };
        if self.failed {
            return ToolOutput::failure(text);
        }
        let (lines, bytes) = (text.lines().count(), text.len());
        ToolOutput::done(text, format!("{lines} lines, {bytes} bytes"))
    }
}

fn part(block: ContentBlock) -> (String, bool) {
    let is_text = matches!(block, ContentBlock::Text(_));
    (words(block), is_text)
}

/// Describes a malformed part.
fn odd(part: &Value) -> (String, bool) {
    let words = match (part["type"].as_str(), part["text"].as_str(), part["uri"].as_str()) {
        (Some("text"), Some(text), _) => return (text.to_owned(), true),
        (Some("resource_link"), _, Some(uri)) => format!("[a link to the resource {uri}]"),
        (Some(kind), ..) => {
            let kind: String = kind.chars().take(MAX_KIND_CHARS).collect();
            format!("[unreadable content of kind {kind:?}]")
        }
        _ => UNKNOWN.to_owned(),
    };
    (words, false)
}

fn words(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => format!("[an image, {}, {} bytes]", image.mime_type, decoded(&image.data)),
        ContentBlock::Audio(audio) => format!("[audio, {}, {} bytes]", audio.mime_type, decoded(&audio.data)),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.map(|kind| format!(", {kind}")).unwrap_or_default();
                format!("[resource {uri}{kind}, {} bytes]", decoded(&blob))
            }
            _ => UNKNOWN.to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[a link to the resource {} ({})]", link.uri, link.name),
        _ => UNKNOWN.to_owned(),
    }
}

/// Number of bytes encoded by a base64 text.
fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(result: serde_json::Value) -> ToolOutput {
        ToolAnswer::read(serde_json::from_value(result).unwrap()).unwrap().into_output()
    }

    #[test]
    fn an_unreadable_part_does_not_affect_the_others() {
        let told = of(json!({ "content": [
            { "type": "text", "text": "found" },
            { "type": "video", "data": "AAAA" },
            { "type": "resource_link", "uri": "file:///b" },
            { "type": "text", "text": "and more", "annotations": 7 },
            {},
            8
        ], "isError": true }));
        let expected = "found\n[unreadable content of kind \"video\"]\n\
                        [a link to the resource file:///b]\nand more\n\
                        [content of unknown kind]\n[content of unknown kind]";
        assert_eq!((told.for_model.as_str(), told.failed), (expected, true));
        let read = |result| ToolAnswer::read(serde_json::from_value(result).unwrap());
        assert!(read(json!({ "toolResult": 1 })).is_none() && read(json!({ "content": 7 })).is_none());
    }

    #[test]
    fn text_is_kept_and_other_content_is_named_with_its_size() {
        let told = of(json!({ "content": [
            { "type": "text", "text": "found" },
            { "type": "image", "data": "AAAAAAAA", "mimeType": "image/png" },
            { "type": "resource", "resource": { "uri": "file:///a", "text": "inside" } },
            { "type": "resource_link", "uri": "file:///b", "name": "b" }
        ], "structuredContent": { "found": 1 } }));
        let expected = "found\n[an image, image/png, 6 bytes]\n[resource file:///a]\ninside\n\
                        [a link to the resource file:///b (b)]";
        assert_eq!((told.for_model.as_str(), told.failed), (expected, false));
    }

    #[test]
    fn an_object_is_used_only_without_text() {
        assert_eq!(of(json!({ "content": [], "structuredContent": { "found": 1 } })).for_model, r#"{"found":1}"#);
        assert_eq!(of(json!({ "content": [] })).for_model, "(no output)");
    }

    #[test]
    fn an_error_result_of_the_server_is_a_failure() {
        let told = of(json!({ "content": [{ "type": "text", "text": "no such row" }], "isError": true }));
        assert_eq!((told.for_model.as_str(), told.failed), ("no such row", true));
    }
}
