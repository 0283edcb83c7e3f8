//! Rejections of Gemini for one part of a content.

use serde_json::Value;

use super::{Checked, array, check_known, check_name, invalid, object, signature};
use crate::server::strict::{Object, is_base64};

/// Fields of a part, exactly one of which is set.
const DATA: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];
const BESIDE_DATA: &[&str] = &["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];
/// Placeholder signature for a call that the model did not write.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
const MEDIA: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"];
const MEDIA_OF_OUTPUTS: &[&str] = &["image/png", "image/jpeg", "image/webp", "application/pdf"];

pub(super) fn check(place: &str, role: &str, part: &Value, signs: bool) -> Checked {
    let fields = object(place, part)?;
    check_known(place, fields, &[DATA, BESIDE_DATA].concat())?;
    let mut data = DATA.iter().filter(|field| fields.contains_key(**field));
    match (data.next(), data.next()) {
        (None, _) => Err(invalid(format!(
            "* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field"
        ))),
        (Some(_), Some(second)) => Err(invalid(format!(
            "Invalid value at '{place}' (oneof), oneof field 'data' is already set. Cannot set '{second}'"
        ))),
        (Some(kind), None) => check_data(place, role, kind, part, signs).and_then(|()| check_signature(part)),
    }
}

fn check_data(place: &str, role: &str, kind: &str, part: &Value, signs: bool) -> Checked {
    let data = &part[kind];
    match kind {
        "text" => check_text(place, part),
        "functionCall" => {
            check_role(kind, role, "model")?;
            check_call(&format!("{place}.function_call"), data)
        }
        "functionResponse" => {
            check_role(kind, role, "user")?;
            check_output(&format!("{place}.function_response"), data, signs)
        }
        "inlineData" => check_blob(&format!("{place}.inline_data"), data, &["mimeType", "data"], MEDIA),
        _ => Ok(()),
    }
}

fn check_signature(part: &Value) -> Checked {
    match part.get("thoughtSignature") {
        None => Ok(()),
        Some(Value::String(given)) if *given == signature(part) || given == NO_SIGNATURE => Ok(()),
        Some(_) => Err(invalid("Thought signature is not valid.")),
    }
}

fn check_text(place: &str, part: &Value) -> Checked {
    match part["text"].as_str() {
        None => Err(invalid(format!("Invalid value at '{place}.text' (TYPE_STRING), {}", part["text"]))),
        Some("") if part.get("thoughtSignature").is_none() => {
            Err(invalid("Unable to submit request because it must have a text parameter."))
        }
        Some(_) => Ok(()),
    }
}

fn check_role(data: &str, role: &str, only: &str) -> Checked {
    if role == only {
        return Ok(());
    }
    Err(invalid(format!("Content with role '{role}' can't contain '{data}' part.")))
}

fn check_call(place: &str, call: &Value) -> Checked {
    check_known(place, object(place, call)?, &["name", "args", "id"])?;
    check_name(place, call.get("name"))?;
    check_struct(&format!("{place}.args"), call.get("args"))
}

fn check_output(place: &str, output: &Value, signs: bool) -> Checked {
    let fields = ["name", "response", "willContinue", "scheduling", "parts", "id"];
    check_known(place, object(place, output)?, &fields)?;
    if output["name"].as_str().is_none_or(str::is_empty) {
        return Err(invalid(format!("* GenerateContentRequest.{place}.name: Name cannot be empty.")));
    }
    check_struct(&format!("{place}.response"), output.get("response"))?;
    for (index, part) in array(&format!("{place}.parts"), output.get("parts"))?.iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        if !signs {
            return Err(invalid(format!("{place}: Multimodal function responses are not supported by this model.")));
        }
        check_known(&place, object(&place, part)?, &["inlineData"])?;
        let fields = ["mimeType", "data", "displayName"];
        check_blob(&format!("{place}.inline_data"), &part["inlineData"], &fields, MEDIA_OF_OUTPUTS)?;
    }
    Ok(())
}

fn check_struct(place: &str, value: Option<&Value>) -> Checked {
    match value {
        None | Some(Value::Object(_)) => Ok(()),
        Some(other) => {
            Err(invalid(format!("Invalid value at '{place}' (type.googleapis.com/google.protobuf.Struct), {other}")))
        }
    }
}

fn check_blob(place: &str, blob: &Value, fields: &[&str], media_types: &[&str]) -> Checked {
    let blob: &Object = object(place, blob)?;
    check_known(place, blob, fields)?;
    let text = |key: &str| blob.get(key).and_then(Value::as_str).unwrap_or_default();
    if !media_types.contains(&text("mimeType")) {
        return Err(invalid(format!("Unsupported MIME type: {}", text("mimeType"))));
    }
    // The URL-safe alphabet is also accepted.
    let data = text("data").replace('-', "+").replace('_', "/");
    if data.is_empty() || !is_base64(&data) {
        return Err(invalid(format!("Invalid value at '{place}.data' (TYPE_BYTES), Base64 decoding failed")));
    }
    Ok(())
}
