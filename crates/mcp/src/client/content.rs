//! What a tool of a server returned, as text for a model. What is not text is named with its kind and size.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use sortie_protocol::ToolOutput;

const UNKNOWN: &str = "[content of a kind that is not known here]";

/// The output of a call. An object is told only where there is no text: servers that have both say the same twice.
pub(super) fn output(result: CallToolResult) -> ToolOutput {
    let failed = result.is_error == Some(true);
    let has_text =
        result.content.iter().any(|block| matches!(block, ContentBlock::Text(text) if !text.text.is_empty()));
    let mut parts: Vec<String> = result.content.into_iter().map(words).collect();
    if let Some(object) = result.structured_content.filter(|_| !has_text) {
        parts.push(object.to_string());
    }
    let text = parts.join("\n");
    let text = if text.is_empty() { "(no output)".to_owned() } else { text };
    if failed {
        return ToolOutput::failure(text);
    }
    let (lines, bytes) = (text.lines().count(), text.len());
    ToolOutput::done(text, format!("{lines} lines, {bytes} bytes"))
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

/// How many bytes a text in base64 stands for.
fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(result: serde_json::Value) -> ToolOutput {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn text_is_told_and_what_is_none_is_named_with_its_size() {
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
    fn an_object_is_told_where_there_is_no_text() {
        assert_eq!(of(json!({ "content": [], "structuredContent": { "found": 1 } })).for_model, r#"{"found":1}"#);
        assert_eq!(of(json!({ "content": [] })).for_model, "(no output)");
    }

    #[test]
    fn what_the_server_calls_an_error_is_a_failure() {
        let told = of(json!({ "content": [{ "type": "text", "text": "no such row" }], "isError": true }));
        assert_eq!((told.for_model.as_str(), told.failed), ("no such row", true));
    }
}
