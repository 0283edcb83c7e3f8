//! Conversations that Gemini rejects: roles, empty contents, outputs that do not match the calls before them, and
//! calls without their signature.

use serde_json::Value;

use super::{Checked, array, check_known, invalid, object, part};

pub(super) fn check(contents: Option<&Value>, signs: bool) -> Checked {
    let contents = array("contents", contents)?;
    if contents.is_empty() {
        return Err(invalid("* GenerateContentRequest.contents: contents is not specified"));
    }
    for (index, content) in contents.iter().enumerate() {
        check_content(&format!("contents[{index}]"), content, signs)?;
    }
    if !is_user(&contents[0]) {
        return Err(invalid("Please ensure that multiturn requests start with a user role."));
    }
    if contents.last().is_some_and(|last| !is_user(last)) {
        return Err(invalid("Please ensure that multiturn requests end with a user role."));
    }
    (1..contents.len()).try_for_each(|index| check_pair(&contents[index - 1], &contents[index]))?;
    if signs { check_signed(contents) } else { Ok(()) }
}

fn check_content(place: &str, content: &Value, signs: bool) -> Checked {
    check_known(place, object(place, content)?, &["role", "parts"])?;
    let Some(role @ ("user" | "model")) = content["role"].as_str() else {
        return Err(invalid("Please use a valid role: user, model."));
    };
    let parts = array(&format!("{place}.parts"), content.get("parts"))?;
    if parts.is_empty() {
        return Err(invalid(format!("* GenerateContentRequest.{place}.parts: contents.parts must not be empty.")));
    }
    parts
        .iter()
        .enumerate()
        .try_for_each(|(index, value)| part::check(&format!("{place}.parts[{index}]"), role, value, signs))
}

/// Calls follow a user message, and the outputs of all of them follow the calls in order.
fn check_pair(before: &Value, after: &Value) -> Checked {
    let (called, answered) = (data(before, "functionCall"), data(after, "functionResponse"));
    if called.is_empty() && !answered.is_empty() {
        return Err(invalid("Please ensure that function response turn comes immediately after a function call turn."));
    }
    if called.len() != answered.len() {
        return Err(invalid(
            "Please ensure that the number of function response parts is equal to the number of function call parts of \
             the function call turn.",
        ));
    }
    if !data(after, "functionCall").is_empty() && !is_user(before) {
        return Err(invalid(
            "Please ensure that function call turn comes immediately after a user turn or after a function response \
             turn.",
        ));
    }
    for (call, output) in called.iter().zip(&answered) {
        if call["name"] != output["name"] {
            return Err(invalid("Please ensure that function response parts match the function call parts by name."));
        }
        if call.get("id") != output.get("id") {
            return Err(invalid("functionResponse.id does not match functionCall.id"));
        }
    }
    Ok(())
}

/// After the last user message, the first call of each reply must be signed.
fn check_signed(contents: &[Value]) -> Checked {
    let is_spoken = |content: &Value| is_user(content) && data(content, "functionResponse").is_empty();
    let turn = contents.iter().rposition(is_spoken).unwrap_or_default();
    for (index, content) in contents.iter().enumerate().skip(turn) {
        let first_call = parts(content).iter().find(|part| part.get("functionCall").is_some());
        if let Some(call) = first_call.filter(|part| part.get("thoughtSignature").is_none()) {
            let name = call["functionCall"]["name"].as_str().unwrap_or_default();
            return Err(invalid(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, \
                 function call `default_api:{name}`, position {}.",
                index + 1
            )));
        }
    }
    Ok(())
}

fn is_user(content: &Value) -> bool {
    content["role"] == "user"
}

fn parts(content: &Value) -> &[Value] {
    content["parts"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn data<'a>(content: &'a Value, field: &str) -> Vec<&'a Value> {
    parts(content).iter().filter_map(|part| part.get(field)).collect()
}
