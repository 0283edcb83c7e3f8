//! Everything that Gemini rejects, each shown by an otherwise valid request.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, ServerOptions, reply};

use crate::client::{Client, Wire, ask, gemini_request};
use crate::edit;

fn serving() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("ok"))).unwrap()
}

/// The scripted server's signature of parts.
const SIGNED_CALL: &str = "c2lnbmVk4e4a70d0cd490fb6";
const SIGNED_TEXT: &str = "c2lnbmVk3f72cf91a46beece";

/// A valid request with everything that the rules look at, to a model that signs.
fn valid() -> Value {
    json!({
        "model": "gemini-3-pro-preview",
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "generationConfig": { "maxOutputTokens": 64, "thinkingConfig": { "includeThoughts": true } },
        "tools": [{ "functionDeclarations": [
            { "name": "Read", "description": "Reads.", "parametersJsonSchema": { "type": "object", "$schema": "x" } },
            { "name": "LS", "description": "Lists.", "parameters": { "type": "OBJECT", "properties": { "path": { "type": "STRING" } } } },
        ] }],
        "toolConfig": { "functionCallingConfig": { "mode": "NONE" } },
        "contents": [
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "model", "parts": [
                { "text": "Two.", "thought": true },
                { "text": "Looking.", "thoughtSignature": SIGNED_TEXT },
                { "functionCall": { "id": "a", "name": "Read", "args": { "path": "a" } }, "thoughtSignature": SIGNED_CALL },
                { "functionCall": { "id": "b", "name": "LS", "args": {} } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "a", "name": "Read", "response": { "output": "one" }, "parts": [
                    { "inlineData": { "mimeType": "image/png", "data": "aGVsbG8=", "displayName": "a.png" } },
                ] } },
                { "functionResponse": { "id": "b", "name": "LS", "response": { "error": "two" } } },
                { "inlineData": { "mimeType": "image/heic", "data": "aGVsbG8=" } },
            ] },
        ],
    })
}

fn with(pointer: &str, value: Value) -> Value {
    edit::with(valid(), pointer, value)
}

fn without(pointer: &str) -> Value {
    edit::without(valid(), pointer)
}

/// A request to a model that does not sign.
fn early() -> Value {
    json!({
        "model": "gemini-2.5-flash",
        "contents": [
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "model", "parts": [{ "functionCall": { "name": "LS", "args": {} } }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "LS", "response": { "output": "a" } } }] },
        ],
    })
}

fn check(request: &Value, complaint: &str) {
    let response = ask(&serving(), Wire::Gemini, request);
    let error = response.json();
    assert_eq!(response.status, 400, "{complaint}: {error}");
    assert_eq!((&error["error"]["code"], &error["error"]["status"]), (&json!(400), &json!("INVALID_ARGUMENT")));
    assert!(error["error"]["message"].as_str().unwrap().contains(complaint), "{complaint}: {error}");
}

#[test]
fn valid_requests_are_served() {
    for request in [valid(), early(), gemini_request("x")] {
        let response = ask(&serving(), Wire::Gemini, &request);
        assert_eq!(response.status, 200, "{}", response.body);
    }
}

#[test]
fn every_field_has_two_spellings_except_the_callers_own() {
    let mut request = valid();
    request["system_instruction"] = request["systemInstruction"].take();
    request.as_object_mut().unwrap().remove("systemInstruction");
    request["contents"][2]["parts"][2] = json!({ "inline_data": { "mime_type": "image/heic", "data": "_-8=" } });
    request["contents"][1]["parts"][3]["function_call"] =
        json!({ "id": "b", "name": "LS", "args": { "my_path": "a" } });
    request["contents"][1]["parts"][3].as_object_mut().unwrap().remove("functionCall");
    let schema = json!({ "type": "OBJECT", "properties": { "my_path": { "type": "STRING", "min_length": 1 } } });
    request["tools"][0]["functionDeclarations"][1]["parameters"] = schema;
    let response = ask(&serving(), Wire::Gemini, &request);
    assert_eq!(response.status, 200, "{}", response.body);
    check(&with("/contents/1/parts/2/functionCall/args", json!({ "pa_th": "a" })), "Thought signature is not valid.");
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    check(&json!("x"), "Invalid JSON payload received.");
    check(&without("/contents"), "contents is not specified");
    check(&with("/messages", json!([])), "Unknown name \"messages\": Cannot find field.");
    check(&with("/systemInstruction/text", json!("x")), "Unknown name \"text\" at 'system_instruction'");
    check(&with("/systemInstruction/parts", json!([])), "system_instruction.parts: must have text");
    check(&with("/generationConfig/maxTokens", json!(1)), "Unknown name \"maxTokens\" at 'generation_config'");
    check(&with("/generationConfig/maxOutputTokens", json!(0)), "max_output_tokens: must be positive");
    check(
        &with("/generationConfig/thinkingConfig/x", json!(1)),
        "Unknown name \"x\" at 'generation_config.thinking_config'",
    );
    check(&with("/contents/0/content", json!("x")), "Unknown name \"content\" at 'contents[0]'");
    check(&with("/contents/0/parts/0/type", json!("text")), "Unknown name \"type\" at 'contents[0].parts[0]'");
    check(&with("/contents/1/parts/2/functionCall/arguments", json!({})), "Unknown name \"arguments\"");
    check(&with("/contents/2/parts/0/functionResponse/output", json!({})), "Unknown name \"output\"");
}

#[test]
fn malformed_tools_are_refused() {
    let function = "/tools/0/functionDeclarations/0";
    check(&with("/tools", json!({})), "Invalid value at 'tools'");
    check(&with("/tools/0/name", json!("x")), "Unknown name \"name\" at 'tools[0]'");
    for name in [json!("a b"), json!("2x"), json!("-x"), json!(""), json!("x".repeat(65)), json!(null)] {
        check(
            &with(&format!("{function}/name"), name),
            "Invalid function name. Must start with a letter or an underscore.",
        );
    }
    check(&with(&format!("{function}/name"), json!("LS")), "Duplicate function declaration found: LS");
    check(&with(&format!("{function}/input_schema"), json!({})), "Unknown name \"inputSchema\"");
    check(&with(&format!("{function}/parameters"), json!({})), "only one of parameters and parameters_json_schema");
    check(&with(&format!("{function}/parametersJsonSchema/type"), json!("array")), "schema must describe an object");
    let schema = "/tools/0/functionDeclarations/1/parameters";
    check(&with(&format!("{schema}/$schema"), json!("x")), "Unknown name \"$schema\"");
    check(&with(&format!("{schema}/properties/path/const"), json!("x")), "Unknown name \"const\"");
}

#[test]
fn an_unknown_tool_choice_is_refused() {
    check(
        &with("/toolConfig/functionCallingConfig/mode", json!("none")),
        "Invalid value at 'tool_config.function_calling_config.mode'",
    );
    check(&with("/toolConfig/mode", json!("NONE")), "Unknown name \"mode\" at 'tool_config'");
    check(&without("/tools"), "Function calling config is set without function_declarations.");
}

#[test]
fn wrong_roles_and_empty_parts_are_refused() {
    check(&with("/contents", json!([])), "contents is not specified");
    check(&with("/contents/0/role", json!("assistant")), "Please use a valid role: user, model.");
    check(&with("/contents/0/parts", json!([])), "contents.parts must not be empty");
    check(&with("/contents/0/parts/0", json!({})), "required oneof field 'data' must have one initialized field");
    check(&with("/contents/0/parts/0/text", json!("")), "must have a text parameter");
    check(&with("/contents/0/parts/0/text", json!(7)), "(TYPE_STRING), 7");
    check(&with("/contents/1/parts/2/text", json!("x")), "oneof field 'data' is already set");
    check(&without("/contents/0"), "multiturn requests start with a user role");
    check(&without("/contents/2"), "multiturn requests end with a user role");
    check(&with("/contents/1/role", json!("user")), "Content with role 'user' can't contain 'functionCall' part");
    check(&with("/contents/2/role", json!("model")), "Content with role 'model' can't contain 'functionResponse' part");
}

#[test]
fn malformed_calls_and_outputs_are_refused() {
    let call = "/contents/1/parts/3/functionCall";
    check(&with(&format!("{call}/name"), json!("a b")), "Invalid function name");
    check(&with(&format!("{call}/args"), json!("{}")), "(type.googleapis.com/google.protobuf.Struct), \"{}\"");
    let output = "/contents/2/parts/1/functionResponse";
    check(&with(&format!("{output}/response"), json!("x")), "(type.googleapis.com/google.protobuf.Struct), \"x\"");
    check(&with(&format!("{output}/name"), json!("")), "Name cannot be empty");
    check(&without(&format!("{output}/name")), "Name cannot be empty");
}

#[test]
fn calls_and_outputs_must_be_paired() {
    let number = "number of function response parts is equal to the number of function call parts";
    check(&without("/contents/2/parts/1"), number);
    check(&with("/contents/2/parts", json!([{ "text": "Go on." }])), number);
    check(&with("/contents/2/parts/1/functionResponse/name", json!("Grep")), "match the function call parts by name");
    check(
        &with("/contents/2/parts/1/functionResponse/id", json!("a")),
        "functionResponse.id does not match functionCall.id",
    );
    check(&without("/contents/2/parts/1/functionResponse/id"), "functionResponse.id does not match functionCall.id");
    let mut early_output = early();
    early_output["contents"].as_array_mut().unwrap().remove(1);
    check(&early_output, "function response turn comes immediately after a function call turn");
    let mut second_reply = early();
    second_reply["contents"]
        .as_array_mut()
        .unwrap()
        .insert(1, json!({ "role": "model", "parts": [{ "text": "Hm." }] }));
    check(&second_reply, "function call turn comes immediately after a user turn or after a function response turn");
}

#[test]
fn a_signature_must_come_back_on_its_part() {
    let missing = "Function call is missing a thought_signature in functionCall parts.";
    check(&without("/contents/1/parts/2/thoughtSignature"), missing);
    check(&without("/contents/1/parts/2/thoughtSignature"), "function call `default_api:Read`, position 2.");
    check(&with("/contents/1/parts/2/thoughtSignature", json!("b3RoZXI=")), "Thought signature is not valid.");
    check(&with("/contents/1/parts/3/thoughtSignature", json!(SIGNED_CALL)), "Thought signature is not valid.");
    check(&with("/contents/1/parts/1/text", json!("Looking. Really.")), "Thought signature is not valid.");

    let foreign = with("/contents/1/parts/2/thoughtSignature", json!("skip_thought_signature_validator"));
    assert_eq!(ask(&serving(), Wire::Gemini, &foreign).status, 200, "there is a mark for calls of others");
    let mut told_more = without("/contents/1/parts/2/thoughtSignature");
    told_more["contents"].as_array_mut().unwrap().push(json!({ "role": "user", "parts": [{ "text": "Go on." }] }));
    assert_eq!(ask(&serving(), Wire::Gemini, &told_more).status, 200, "only the current turn is checked");
}

#[test]
fn earlier_models_take_ids_but_no_files_in_outputs() {
    let with = |pointer: &str, value| edit::with(early(), pointer, value);
    let numbered = with("/contents/1/parts/0/functionCall/id", json!("a"));
    let numbered = edit::with(numbered, "/contents/2/parts/0/functionResponse/id", json!("a"));
    assert_eq!(ask(&serving(), Wire::Gemini, &numbered).status, 200);
    let file = json!([{ "inlineData": { "mimeType": "image/png", "data": "aGVsbG8=" } }]);
    check(&with("/contents/2/parts/0/functionResponse/parts", file), "Multimodal function responses are not supported");
}

#[test]
fn files_must_be_of_a_known_type_and_whole() {
    let (inside, beside) =
        ("/contents/2/parts/0/functionResponse/parts/0/inlineData", "/contents/2/parts/2/inlineData");
    check(&with(&format!("{inside}/mimeType"), json!("image/heic")), "Unsupported MIME type: image/heic");
    check(&with(&format!("{beside}/mimeType"), json!("image/gif")), "Unsupported MIME type: image/gif");
    check(&with(&format!("{beside}/displayName"), json!("a.heic")), "Unknown name \"displayName\"");
    for place in [inside, beside] {
        check(&with(&format!("{place}/data"), json!("not base64")), "Base64 decoding failed");
        check(&with(&format!("{place}/data"), json!("")), "Base64 decoding failed");
    }
}

#[test]
fn the_key_is_checked_where_one_is_expected() {
    let options = ServerOptions { key: Some("right".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("ok")), options).unwrap();
    let path = "/v1beta/models/scripted:generateContent";
    let in_query = format!("{path}?key=right");
    let mut body = gemini_request("x");
    body.as_object_mut().unwrap().remove("model");
    for (path, headers, status) in [
        (path, vec![], 403),
        (path, vec![("x-goog-api-key", "wrong")], 400),
        (path, vec![("authorization", "Bearer right")], 403),
        (path, vec![("x-goog-api-key", "right")], 200),
        (in_query.as_str(), vec![], 200),
    ] {
        let mut client = Client::connect(&server);
        client.post(path, &headers, &body);
        let response = client.receive();
        assert_eq!(response.status, status, "{headers:?}: {}", response.body);
        assert_eq!(response.body.contains("API_KEY_INVALID"), status == 400, "{}", response.body);
    }
}
