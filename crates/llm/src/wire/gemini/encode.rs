//! Encoder of a [`ModelRequest`] as the body of a Gemini request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use sortie_protocol::{Message, Part, ToolCall, ToolSpec};

use super::generation::Generation;
use super::opaque::Item;
use super::outputs::{self, FunctionResponse, InlineData};
use crate::wire::is_blank;
use crate::wire::replay::{ArgumentsObject, is_sendable, portable_id, portable_name};
use crate::{ModelRequest, ToolChoice};

/// Placeholder signature for calls that another wire wrote. The provider documents it for that purpose, and rejects a
/// call without any signature.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    #[serde(skip_serializing_if = "GenerationConfig::is_default")]
    generation_config: GenerationConfig,
    contents: Vec<Content<'a>>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: [ContentPart<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionDeclaration<'a> {
    name: &'a str,
    description: &'a str,
    /// The older field `parameters` accepts only a subset of JSON schema.
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    function_calling_config: FunctionCallingConfig,
}

#[derive(Serialize)]
struct FunctionCallingConfig {
    mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    include_thoughts: bool,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<ContentPart<'a>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ContentPart<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a str>,
    },
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a str>,
    },
    Output {
        function_response: FunctionResponse<'a>,
    },
    File {
        inline_data: InlineData<'a>,
    },
    /// A thought, as received.
    Opaque(&'a Value),
}

#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    args: ArgumentsObject<'a>,
}

impl GenerationConfig {
    fn is_default(&self) -> bool {
        self.max_output_tokens.is_none() && self.thinking_config.is_none()
    }
}

pub(super) fn body<'a>(request: &ModelRequest<'a>, max_output: Option<u64>) -> Body<'a> {
    let generation = Generation::of(request.model);
    let no_calls = request.tool_choice == ToolChoice::None && !request.tools.is_empty();
    // A long hidden thought looks like a stall. Only thinking models can be asked to show it.
    let shows_thoughts = generation >= Generation::Thinking;
    Body {
        system_instruction: text_part(request.system).map(|part| Instruction { parts: [part] }),
        tools: tools(request.tools),
        tool_config: no_calls.then_some(ToolConfig { function_calling_config: FunctionCallingConfig { mode: "NONE" } }),
        generation_config: GenerationConfig {
            max_output_tokens: max_output,
            thinking_config: shows_thoughts.then_some(ThinkingConfig { include_thoughts: true }),
        },
        contents: contents(request.messages, generation),
    }
}

fn tools(specs: &[ToolSpec]) -> Vec<Tools<'_>> {
    if specs.is_empty() {
        return Vec::new();
    }
    vec![Tools { function_declarations: specs.iter().map(declaration).collect() }]
}

fn declaration(spec: &ToolSpec) -> FunctionDeclaration<'_> {
    FunctionDeclaration { name: &spec.name, description: &spec.description, parameters_json_schema: &spec.schema }
}

/// One content for each message that is not empty. Neighbours of one role stay separate, so that an element never
/// changes when another follows it.
fn contents(messages: &[Message], generation: Generation) -> Vec<Content<'_>> {
    let mut contents = Vec::with_capacity(messages.len());
    let mut last_reply: &[Part] = &[];
    for message in messages {
        let (role, parts) = match message {
            Message::User { text } => ("user", text_part(text).into_iter().collect()),
            Message::Assistant { parts } if is_sendable(parts) => {
                last_reply = parts;
                ("model", reply(parts, generation))
            }
            Message::Assistant { .. } => continue,
            Message::Outputs { outputs } => ("user", outputs::parts(outputs, last_reply, generation)),
        };
        if !parts.is_empty() {
            contents.push(Content { role, parts });
        }
    }
    contents
}

fn text_part(text: &str) -> Option<ContentPart<'_>> {
    (!is_blank(text)).then_some(ContentPart::Text { text, thought_signature: None })
}

/// Encodes the parts of a reply. A signature goes back on the part that it came with.
fn reply(parts: &[Part], generation: Generation) -> Vec<ContentPart<'_>> {
    let mut contents = Vec::with_capacity(parts.len());
    let (mut signature, mut is_first_call) = (None, true);
    for part in parts {
        match part {
            Part::Reasoning(reasoning) => match Item::of(reasoning) {
                Some(Item::Whole(part)) => contents.push(ContentPart::Opaque(part)),
                Some(Item::SignatureOfNext(of_next)) => signature = Some(of_next),
                None => {}
            },
            Part::Text { text } => {
                let thought_signature = signature.take();
                if thought_signature.is_some() || !is_blank(text) {
                    contents.push(ContentPart::Text { text, thought_signature });
                }
            }
            Part::Call(call) => {
                // The provider signs only the first call of a reply, and requires a signature only there.
                let unsigned = (is_first_call && generation == Generation::Signing).then_some(NO_SIGNATURE);
                is_first_call = false;
                let function_call = FunctionCall {
                    id: id(&call.id.0, generation),
                    name: name(call),
                    args: ArgumentsObject::of(&call.arguments),
                };
                contents.push(ContentPart::Call { function_call, thought_signature: signature.take().or(unsigned) });
            }
        }
    }
    contents
}

/// Returns a call's id, for models that use call ids.
pub(super) fn id(id: &str, generation: Generation) -> Option<Cow<'_, str>> {
    (generation == Generation::Signing).then(|| portable_id(id, |_| true))
}

/// Returns a tool's name, which must begin with a letter or `_` on this wire.
pub(super) fn name(call: &ToolCall) -> Cow<'_, str> {
    let name = portable_name(&call.tool);
    if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return name;
    }
    portable_name(&format!("_{name}")).into_owned().into()
}
