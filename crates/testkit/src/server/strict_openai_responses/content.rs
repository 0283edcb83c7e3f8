//! Rejections of OpenAI Responses for the contents of messages and outputs. Only files in the request itself are
//! served.

use serde_json::Value;

use super::{Checked, check_known, check_string, empty_array, wrong_type, wrong_value};
use crate::server::dialect::Rejection;
use crate::server::strict::{Object, is_base64};

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENTS: &[&str] = &["application/pdf"];

/// Kind of contents that a place accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Text or files for the model.
    Input,
    /// Content written by the model.
    Output,
}

/// Accepts a string, or parts of the kinds that belong on that side.
pub(super) fn check(place: &str, content: &Value, side: Side) -> Checked {
    match content {
        Value::String(_) => Ok(()),
        Value::Array(parts) if parts.is_empty() => Err(empty_array(place)),
        Value::Array(parts) => {
            parts.iter().enumerate().try_for_each(|(index, part)| check_part(&format!("{place}[{index}]"), part, side))
        }
        other => Err(wrong_type(place, "one of an array of objects or string", other)),
    }
}

fn check_part(place: &str, part: &Value, side: Side) -> Checked {
    let Some(part) = part.as_object() else { return Err(wrong_type(place, "an object", part)) };
    let kind = check_string(&format!("{place}.type"), part.get("type"))?;
    match (kind, side) {
        ("input_text", Side::Input) => check_text(place, part, "text", &["type", "text"]),
        ("output_text", Side::Output) => check_text(place, part, "text", &["type", "text", "annotations", "logprobs"]),
        ("refusal", Side::Output) => check_text(place, part, "refusal", &["type", "refusal"]),
        ("input_image", Side::Input) => check_image(place, part),
        ("input_file", Side::Input) => check_file(place, part),
        (_, Side::Input) => Err(wrong_value(place, kind, "'input_text', 'input_image', and 'input_file'")),
        (_, Side::Output) => Err(wrong_value(place, kind, "'output_text' and 'refusal'")),
    }
}

fn check_text(place: &str, part: &Object, field: &str, known: &[&str]) -> Checked {
    check_known(place, part, known)?;
    check_string(&format!("{place}.{field}"), part.get(field)).map(|_| ())
}

fn check_image(place: &str, part: &Object) -> Checked {
    check_known(place, part, &["type", "image_url", "detail"])?;
    let place = format!("{place}.image_url");
    let url = check_string(&place, part.get("image_url"))?;
    if is_data_url(&place, url, IMAGES)? {
        return Ok(());
    }
    let message = "The image data you provided does not represent a valid image. Please check your input and try again \
                   with one of the following image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].";
    Err(Rejection::invalid(message).param(place).code("invalid_value"))
}

fn check_file(place: &str, part: &Object) -> Checked {
    check_known(place, part, &["type", "filename", "file_data", "detail"])?;
    check_string(&format!("{place}.filename"), part.get("filename"))?;
    let place = format!("{place}.file_data");
    let url = check_string(&place, part.get("file_data"))?;
    if is_data_url(&place, url, DOCUMENTS)? {
        return Ok(());
    }
    let message = format!("Invalid '{place}': expected a PDF file.");
    Err(Rejection::invalid(message).param(place).code("unsupported_file"))
}

/// True if a URL holds a file of one of these kinds; an error if it holds no file at all.
fn is_data_url(place: &str, url: &str, media_types: &[&str]) -> Result<bool, Rejection> {
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (media_type, _) = parts.filter(|(_, data)| !data.is_empty() && is_base64(data)).ok_or_else(|| {
        let message = format!("Invalid '{place}'. Expected a base64-encoded data URL with a MIME type.");
        Rejection::invalid(message).param(place).code("invalid_value")
    })?;
    Ok(media_types.contains(&media_type))
}
