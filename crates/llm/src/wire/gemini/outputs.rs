//! Outputs of a turn as parts of a Gemini request, with the files that belong to them.

use std::borrow::Cow;

use serde::Serialize;
use sortie_protocol::{Attachment, CallOutput, Part, ToolCall};

use super::encode::{self, ContentPart};
use super::generation::Generation;
use crate::wire::WireKind;
use crate::wire::attachment::{Carried, Media, carried};

/// Media types that later models accept inside an output. All others go next to it.
const INSIDE: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "application/pdf"];

#[derive(Serialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<ResponsePart<'a>>,
}

/// The result or the error, under the keys that the provider defines.
#[derive(Serialize)]
struct Response<'a> {
    #[serde(flatten)]
    said: Said<'a>,
    /// Names of the files next to the output, which have no other place for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Said<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResponsePart<'a> {
    inline_data: InlineData<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
    /// Accepted only inside an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<&'a str>,
}

/// Encodes the outputs of all calls of `reply`: first the outputs, as many as there were calls, then the files that
/// cannot go inside them.
pub(super) fn parts<'a>(outputs: &'a [CallOutput], reply: &'a [Part], generation: Generation) -> Vec<ContentPart<'a>> {
    let mut parts = Vec::with_capacity(outputs.len());
    let mut beside = Vec::new();
    for output in outputs {
        let Carried { text, files } = carried(output, WireKind::Gemini);
        let (inside, others): (Vec<_>, Vec<_>) =
            files.into_iter().map(attachment).partition(|attachment| goes_inside(attachment, generation));
        let attachments = others.iter().map(|file| file.name.as_str()).collect();
        beside.extend(others.into_iter().map(|file| ContentPart::File { inline_data: inline(file, None) }));
        let inside = inside.into_iter().map(|file| ResponsePart { inline_data: inline(file, Some(&file.name)) });
        let said = if output.output.failed { Said::Error(text) } else { Said::Output(text) };
        parts.push(ContentPart::Output {
            function_response: FunctionResponse {
                id: encode::id(&output.call.0, generation),
                name: called(reply, output).map_or(Cow::Borrowed("unnamed"), encode::name),
                response: Response { said, attachments },
                parts: inside.collect(),
            },
        });
    }
    parts.append(&mut beside);
    parts
}

/// Returns the call that an output answers: outputs refer to it by id, the provider by name.
fn called<'a>(reply: &'a [Part], output: &CallOutput) -> Option<&'a ToolCall> {
    reply.iter().find_map(|part| match part {
        Part::Call(call) if call.id == output.call => Some(call),
        _ => None,
    })
}

fn attachment(file: Media<'_>) -> &Attachment {
    match file {
        Media::Image(attachment) | Media::Document(attachment) => attachment,
    }
}

fn goes_inside(attachment: &Attachment, generation: Generation) -> bool {
    generation == Generation::Signing && INSIDE.contains(&attachment.media_type.as_str())
}

fn inline<'a>(attachment: &'a Attachment, display_name: Option<&'a str>) -> InlineData<'a> {
    InlineData { mime_type: &attachment.media_type, data: &attachment.data, display_name }
}
