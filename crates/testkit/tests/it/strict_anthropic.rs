//! Everything that Anthropic rejects, each shown by an otherwise valid request.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, ServerOptions, reply};

use crate::client::{Client, Response, Wire, anthropic_request, ask};
use crate::edit;

fn serving() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("ok"))).unwrap()
}

/// A valid request with everything that the rules look at.
fn valid() -> Value {
    json!({
        "model": "scripted",
        "max_tokens": 64,
        "stream": false,
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }],
        "tools": [
            { "name": "Read", "description": "Reads.", "input_schema": { "type": "object" } },
            { "name": "Grep", "input_schema": { "type": "object" }, "cache_control": { "type": "ephemeral", "ttl": "1h" } },
        ],
        "tool_choice": { "type": "auto" },
        "messages": [
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": [
                { "type": "text", "text": "Both." },
                { "type": "tool_use", "id": "t1", "name": "Read", "input": { "path": "a" } },
                { "type": "tool_use", "id": "t2", "name": "Read", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t1", "content": "one" },
                { "type": "tool_result", "tool_use_id": "t2", "content": [{ "type": "text", "text": "two" }], "is_error": true },
                { "type": "text", "text": "Go on." },
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

fn check(request: &Value, complaint: &str) {
    let response = ask(&serving(), Wire::Anthropic, request);
    let error = response.json();
    assert_eq!((response.status, &error["type"]), (400, &json!("error")), "{complaint}: {error}");
    assert_eq!(error["error"]["type"], "invalid_request_error");
    assert!(error["error"]["message"].as_str().unwrap().contains(complaint), "{complaint}: {error}");
}

#[test]
fn a_valid_request_is_served() {
    let response = ask(&serving(), Wire::Anthropic, &valid());
    assert_eq!(response.status, 200, "{}", response.body);
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    check(&json!([]), "not valid JSON");
    check(&without("/model"), "model: Field required");
    check(&without("/max_tokens"), "max_tokens: Field required");
    check(&without("/messages"), "messages: Field required");
    check(&with("/max_tokens", json!("many")), "max_tokens: Input should be a valid integer");
    check(&with("/model", json!(7)), "model: Input should be a valid string");
    check(&with("/stream", json!("yes")), "stream: Input should be a valid boolean");
    check(&with("/reasoning", json!({})), "reasoning: Extra inputs are not permitted");
    check(&with("/system/0/extra", json!(1)), "system.0.extra: Extra inputs are not permitted");
    check(&with("/tools/0/function", json!({})), "tools.0.custom.function: Extra inputs are not permitted");
    check(&with("/messages/0/name", json!("x")), "messages.0.name: Extra inputs are not permitted");
    let extra = with("/messages/1/content/1/index", json!(0));
    check(&extra, "messages.1.content.1.tool_use.index: Extra inputs are not permitted");
    let extra = with("/messages/2/content/0/name", json!("Read"));
    check(&extra, "messages.2.content.0.tool_result.name: Extra inputs are not permitted");
}

#[test]
fn malformed_tools_are_refused() {
    let pattern = "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
    check(&with("/tools/0/name", json!("a.b")), pattern);
    check(&with("/tools/0/name", json!("")), pattern);
    check(&with("/tools/0/name", json!("x".repeat(129))), pattern);
    check(&without("/tools/0/input_schema"), "tools.0.custom.input_schema: Field required");
    check(&with("/tools/0/input_schema", json!({})), "tools.0.custom.input_schema.type: Field required");
    check(&with("/tools/0/input_schema/type", json!("array")), "input_schema.type: Input should be 'object'");
    for key in ["oneOf", "allOf", "anyOf"] {
        let complaint =
            "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level";
        check(&with(&format!("/tools/0/input_schema/{key}"), json!([])), complaint);
    }
    let old = "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12";
    check(&with("/tools/0/input_schema/required", json!(true)), old);
    check(&with("/tools/0/input_schema/properties", json!({ "a": { "required": true } })), old);
    check(&with("/tools/0/description", json!(1)), "tools.0.custom.description: Input should be a valid string");
    check(&with("/tools/0/name", json!("Grep")), "Tool names must be unique");
}

#[test]
fn a_tool_name_may_be_as_long_as_the_provider_allows() {
    let response = ask(&serving(), Wire::Anthropic, &with("/tools/0/name", json!("x".repeat(128))));
    assert_eq!(response.status, 200, "{}", response.body);
}

#[test]
fn an_unknown_tool_choice_is_refused() {
    check(&with("/tool_choice", json!({ "type": "required" })), "Input tag 'required' found using 'type'");
    check(&with("/tool_choice", json!("auto")), "tool_choice: Input should be an object");
    check(&with("/tool_choice", json!({})), "tool_choice.type: Field required");
    check(&with("/tool_choice", json!({ "type": "tool" })), "tool_choice.name: Field required");
    check(&with("/tool_choice", json!({ "type": "none", "name": "x" })), "tool_choice.name: Extra inputs");
    check(&without("/tools"), "tool_choice may only be specified while providing tools");
}

#[test]
fn wrong_roles_are_refused() {
    check(&with("/messages", json!([])), "at least one message is required");
    check(&without("/messages/0"), "first message must use the \"user\" role");
    check(&with("/messages/0/role", json!("system")), "Unexpected role \"system\"");
    check(&with("/messages/0/role", json!("tool")), "messages.0.role: Input should be 'user' or 'assistant'");
    let misplaced = json!([{ "type": "tool_use", "id": "t9", "name": "Read", "input": {} }]);
    check(&with("/messages/0/content", misplaced), "`tool_use` blocks can only be in `assistant` messages");
    let misplaced = json!([{ "type": "tool_result", "tool_use_id": "t1" }]);
    check(&with("/messages/1/content", misplaced), "`tool_result` blocks can only be in `user` messages");
}

#[test]
fn empty_content_is_refused() {
    check(&with("/messages/0/content", json!("")), "messages.0: user messages must have non-empty content");
    check(&with("/messages/0/content", json!([])), "messages.0: user messages must have non-empty content");
    check(&with("/messages/1/content", json!("")), "messages.1: all messages must have non-empty content");
    check(&with("/messages/1/content/0/text", json!("")), "text content blocks must be non-empty");
    check(&with("/messages/1/content/0/text", json!(" \n")), "must contain non-whitespace text");
    check(&with("/messages/2/content/1/content/0/text", json!("")), "text content blocks must be non-empty");
    check(&with("/system/0/text", json!("")), "system: text content blocks must be non-empty");
}

#[test]
fn calls_and_results_must_be_paired() {
    let unanswered = "`tool_use` ids were found without `tool_result` blocks immediately after";
    let stray = "unexpected `tool_use_id` found in `tool_result` blocks";
    check(&without("/messages/2"), "messages.1: `tool_use` ids were found without `tool_result` blocks");
    check(&with("/messages/2/content", json!("Go on.")), "immediately after: t1, t2.");
    check(&without("/messages/2/content/1"), "immediately after: t2.");
    check(&with("/messages/2/content/0/tool_use_id", json!("t9")), unanswered);
    check(&with("/messages/0/content", json!([{ "type": "tool_result", "tool_use_id": "t1" }])), stray);
    let mut late = valid();
    let results = late["messages"][2]["content"].as_array_mut().unwrap();
    results.rotate_right(1);
    check(&late, unanswered);
    let mut twice = valid();
    let results = twice["messages"][2]["content"].as_array_mut().unwrap();
    results.insert(2, results[0].clone());
    check(&twice, "each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1");
    check(&with("/messages/1/content/2/id", json!("t1")), "`tool_use` ids must be unique");
}

#[test]
fn malformed_blocks_are_refused() {
    check(&with("/messages/0/content", json!(7)), "messages.0.content: Input should be a valid string or array");
    check(&with("/messages/0/content", json!([{ "type": "video" }])), "Input tag 'video' found using 'type'");
    check(&with("/messages/1/content/1/input", json!("{}")), "tool_use.input: Input should be a valid dictionary");
    check(&with("/messages/1/content/1/id", json!("a b")), "tool_use.id: String should match pattern");
    check(&with("/messages/1/content/1/name", json!("a b")), "tool_use.name: String should match pattern");
    check(&without("/messages/1/content/1/input"), "tool_use.input: Field required");
    check(&with("/messages/2/content/0/is_error", json!("no")), "is_error: Input should be a valid boolean");
    check(&with("/messages/2/content/0/content", json!({})), "content: Input should be a valid string or array");
    let mut prefilled = anthropic_request("x");
    prefilled["messages"] = json!([{ "role": "user", "content": "x" }, { "role": "assistant", "content": "So " }]);
    check(&prefilled, "final assistant content cannot end with trailing whitespace");
}

#[test]
fn a_failed_result_may_only_have_text() {
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "aGVsbG8=" });
    let content = json!([{ "type": "text", "text": "Half." }, { "type": "image", "source": source }]);
    check(
        &with("/messages/2/content/1/content", content.clone()),
        "all content must be type `text` if `is_error` is true",
    );
    let done =
        edit::with(with("/messages/2/content/1/content", content), "/messages/2/content/1/is_error", json!(false));
    assert_eq!(ask(&serving(), Wire::Anthropic, &done).status, 200);
}

#[test]
fn files_of_other_kinds_and_in_other_forms_are_refused() {
    let result = |kind: &str, media_type: &str, data: &str| {
        let source = json!({ "type": "base64", "media_type": media_type, "data": data });
        with("/messages/2/content/0/content", json!([{ "type": kind, "source": source }]))
    };
    for (kind, media_type) in [("image", "image/png"), ("image", "image/webp"), ("document", "application/pdf")] {
        let response = ask(&serving(), Wire::Anthropic, &result(kind, media_type, "AAAA"));
        assert_eq!(response.status, 200, "{}", response.body);
    }
    check(
        &result("image", "image/heic", "AAAA"),
        "source.base64.media_type: Input should be 'image/jpeg', 'image/png'",
    );
    check(&result("document", "image/png", "AAAA"), "source.base64.media_type: Input should be 'application/pdf'");
    check(&result("image", "image/png", ""), "source.base64.data: String should have at least 1 character");
    check(&result("image", "image/png", "A"), "source.base64.data: Invalid base64 data");
    check(&result("video", "video/mp4", "AAAA"), "Input should be a text, image or document block");
    let document = result("document", "application/pdf", "AAAA");
    let titled = |title: Value| edit::with(document.clone(), "/messages/2/content/0/content/0/title", title);
    check(&titled(json!("")), "title: String should have at least 1 character");
    check(&titled(json!("x".repeat(501))), "title: String should have at most 500 characters");
    check(&titled(json!(7)), "title: Input should be a valid string");
}

#[test]
fn cache_marks_are_checked_and_counted() {
    check(
        &with("/system/0/cache_control", json!({ "type": "forever" })),
        "cache_control.type: Input should be 'ephemeral'",
    );
    check(&with("/system/0/cache_control", json!({ "type": "ephemeral", "ttl": "2h" })), "cache_control.ttl");
    let mut marked = valid();
    for block in marked["messages"][2]["content"].as_array_mut().unwrap() {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
    check(&marked, "A maximum of 4 blocks with cache_control may be provided. Found 5.");
}

#[test]
fn thinking_is_accepted_back_only_unchanged() {
    let server = ScriptedServer::start(Script::always(reply::reasoning("Let me see.").text("ok"))).unwrap();
    let given = ask(&server, Wire::Anthropic, &anthropic_request("x")).json()["content"].clone();
    let replay = |content: &Value| {
        let mut request = anthropic_request("x");
        let messages = request["messages"].as_array_mut().unwrap();
        messages.push(json!({ "role": "assistant", "content": content }));
        messages.push(json!({ "role": "user", "content": "And?" }));
        ask(&server, Wire::Anthropic, &request)
    };
    assert_eq!(replay(&given).status, 200);
    for (field, value) in [("thinking", "Let me see!"), ("signature", "forged")] {
        let mut touched = given.clone();
        touched[0][field] = Value::from(value);
        let response = replay(&touched);
        assert_eq!(response.status, 400);
        assert!(response.body.contains("Invalid `signature` in `thinking` block"), "{}", response.body);
    }
}

fn ask_with(server: &ScriptedServer, headers: &[(&str, &str)], request: &Value) -> Response {
    let mut client = Client::connect(server);
    client.post("/v1/messages", headers, request);
    client.receive()
}

#[test]
fn the_key_is_checked_where_one_is_expected() {
    let options = ServerOptions { key: Some("right".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("ok")), options).unwrap();
    let version = ("anthropic-version", "2023-06-01");
    for (headers, status) in [
        (vec![version], 401),
        (vec![version, ("x-api-key", "wrong")], 401),
        (vec![version, ("authorization", "right")], 401),
        (vec![version, ("x-api-key", "right")], 200),
        (vec![version, ("authorization", "Bearer right")], 200),
    ] {
        let response = ask_with(&server, &headers, &valid());
        assert_eq!(response.status, status, "{headers:?}");
        if status == 401 {
            assert_eq!(response.json()["error"]["type"], "authentication_error");
        }
    }
}

#[test]
fn the_version_must_be_named_and_known() {
    let server = serving();
    for (headers, status) in [
        (vec![], 400),
        (vec![("anthropic-version", "2000-01-01")], 400),
        (vec![("anthropic-version", "2023-06-01")], 200),
        (vec![("anthropic-version", "2026-10-21")], 200),
    ] {
        assert_eq!(ask_with(&server, &headers, &valid()).status, status, "{headers:?}");
    }
}

#[test]
fn sampling_parameters_are_refused_by_the_version_that_has_none() {
    let server = serving();
    for field in ["temperature", "top_k", "top_p"] {
        let request = with(&format!("/{field}"), json!(1));
        assert_eq!(ask_with(&server, &[("anthropic-version", "2023-06-01")], &request).status, 200, "{field}");
        assert_eq!(ask_with(&server, &[("anthropic-version", "2026-10-21")], &request).status, 400, "{field}");
    }
}
