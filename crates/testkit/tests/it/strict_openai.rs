//! Everything that OpenAI rejects, each shown by an otherwise valid request.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, ServerOptions, reply};

use crate::client::{Client, Wire, ask, openai_request};
use crate::edit;

fn serving() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("ok"))).unwrap()
}

/// A valid request with everything that the rules look at.
fn valid() -> Value {
    json!({
        "model": "scripted",
        "stream": true,
        "stream_options": { "include_usage": true },
        "max_tokens": 64,
        "tools": [{
            "type": "function",
            "function": { "name": "Read", "description": "Reads.", "parameters": { "type": "object" } },
        }],
        "tool_choice": "none",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": [{ "type": "text", "text": "Look." }] },
            { "role": "assistant", "content": null, "reasoning_content": "Two.", "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "Read", "arguments": "{}" } },
                { "id": "c2", "type": "function", "function": { "name": "Read", "arguments": "{oops" } },
            ] },
            { "role": "tool", "tool_call_id": "c2", "content": "two" },
            { "role": "tool", "tool_call_id": "c1", "content": "one" },
            { "role": "assistant", "content": "Done." },
            { "role": "user", "content": "And?" },
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
    let response = ask(&serving(), Wire::OpenAi, request);
    let error = response.json();
    assert_eq!(response.status, 400, "{complaint}: {error}");
    assert_eq!(error["error"]["type"], "invalid_request_error");
    assert!(error["error"]["message"].as_str().unwrap().contains(complaint), "{complaint}: {error}");
}

#[test]
fn a_valid_request_is_served() {
    let response = ask(&serving(), Wire::OpenAi, &valid());
    assert_eq!(response.status, 200, "{}", response.body);
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    check(&json!("x"), "could not parse the JSON body");
    check(&without("/model"), "Missing required parameter: 'model'.");
    check(&without("/messages"), "Missing required parameter: 'messages'.");
    check(&with("/model", json!(7)), "Invalid type for 'model': expected a string, but got a number instead.");
    check(&with("/system", json!("x")), "Unrecognized request argument supplied: system");
    check(&with("/stream", json!("yes")), "Invalid type for 'stream'");
    check(&with("/stream", json!(false)), "'stream_options' parameter is only allowed when 'stream' is enabled");
    check(&with("/stream_options/usage", json!(true)), "Unknown parameter: 'stream_options.usage'.");
    check(&with("/max_completion_tokens", json!(64)), "at the same time is not supported");
    check(&with("/messages/0/cache_control", json!({})), "Unknown parameter: 'messages[0].cache_control'.");
    check(&with("/messages/2/tool_calls/0/index", json!(0)), "Unknown parameter: 'messages[2].tool_calls[0].index'.");
    check(&with("/messages/3/is_error", json!(true)), "Unknown parameter: 'messages[3].is_error'.");
    check(&with("/tools/0/name", json!("x")), "Unknown parameter: 'tools[0].name'.");
    check(&with("/tools/0/function/input_schema", json!({})), "Unknown parameter: 'tools[0].function.input_schema'.");
}

#[test]
fn an_error_names_the_parameter_and_has_a_code() {
    let error = ask(&serving(), Wire::OpenAi, &without("/model")).json();
    assert_eq!(error["error"]["param"], "model");
    assert_eq!(error["error"]["code"], "missing_required_parameter");
}

#[test]
fn malformed_tools_are_refused() {
    check(&with("/tools", json!([])), "Invalid 'tools': empty array");
    check(&with("/tools", json!({})), "Invalid type for 'tools'");
    check(&without("/tools/0/type"), "Missing required parameter: 'tools[0].type'.");
    check(&with("/tools/0/type", json!("custom")), "Invalid value: 'custom'");
    check(&without("/tools/0/function"), "Missing required parameter: 'tools[0].function'.");
    check(&without("/tools/0/function/name"), "Missing required parameter: 'tools[0].function.name'.");
    check(
        &with("/tools/0/function/name", json!("a.b")),
        "Invalid 'tools[0].function.name': string does not match pattern",
    );
    check(
        &with("/tools/0/function/name", json!("")),
        "Invalid 'tools[0].function.name': string does not match pattern",
    );
    check(&with("/tools/0/function/name", json!("x".repeat(65))), "Expected a string with maximum length 64");
    check(&with("/tools/0/function/parameters", json!({})), "Invalid schema for function 'Read'");
    check(&with("/tools/0/function/parameters/type", json!("array")), "got 'type: \"array\"'");
    for key in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        check(&with(&format!("/tools/0/function/parameters/{key}"), json!([])), "at the top level");
    }
    check(&with("/tools/0/function/parameters/required", json!(true)), "True is not of type 'array'");
    let old = json!({ "a": { "required": true } });
    check(&with("/tools/0/function/parameters/properties", old), "True is not of type 'array'");
}

#[test]
fn tools_are_refused_for_models_that_take_them_only_on_the_other_wire() {
    let complaint = "Function tools with reasoning_effort are not supported";
    for model in ["gpt-5.5", "gpt-5.6-sol", "gpt-5.10", "gpt-6", "gpt-6.1-terra", "gpt-12-pro"] {
        let request = with("/model", json!(model));
        check(&request, complaint);
        let unreasoning = edit::with(request.clone(), "/reasoning_effort", json!("none"));
        assert_eq!(ask(&serving(), Wire::OpenAi, &unreasoning).status, 200, "{model}");
        let without_tools = edit::without(edit::without(request, "/tool_choice"), "/tools");
        assert_eq!(ask(&serving(), Wire::OpenAi, &without_tools).status, 200, "{model}");
    }
    for model in ["gpt-5.4", "gpt-5", "gpt-4.1-mini", "gpt-4o", "gpt-oss-120b", "o3"] {
        assert_eq!(ask(&serving(), Wire::OpenAi, &with("/model", json!(model))).status, 200, "{model}");
    }
}

#[test]
fn a_too_long_call_id_is_refused_everywhere() {
    let long = json!("x".repeat(41));
    let complaint = "string too long. Expected a string with maximum length 40, but got a string with length 41";
    check(&with("/messages/2/tool_calls/0/id", long.clone()), complaint);
    check(&with("/messages/3/tool_call_id", long), complaint);
    let mut longest = with("/messages/2/tool_calls/0/id", json!("x".repeat(40)));
    longest["messages"][4]["tool_call_id"] = json!("x".repeat(40));
    assert_eq!(ask(&serving(), Wire::OpenAi, &longest).status, 200);
}

#[test]
fn the_reasoning_of_compatible_servers_is_accepted_back() {
    for (pointer, value) in [
        ("/messages/2/reasoning", json!("Two.")),
        ("/messages/2/reasoning_details", json!([{ "type": "reasoning.text", "text": "Two." }])),
        ("/messages/2/content", json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "Two." }] }])),
        ("/messages/2/tool_calls/0/extra_content", json!({ "google": { "thought_signature": "c2ln" } })),
    ] {
        let response = ask(&serving(), Wire::OpenAi, &with(pointer, value));
        assert_eq!(response.status, 200, "{pointer}: {}", response.body);
    }
    check(&with("/messages/1/content/0/type", json!("thinking")), "Invalid value: 'thinking'");
    check(&with("/messages/1/reasoning", json!("Two.")), "Unknown parameter: 'messages[1].reasoning'.");
}

#[test]
fn a_tool_name_may_be_as_long_as_the_provider_allows() {
    let response = ask(&serving(), Wire::OpenAi, &with("/tools/0/function/name", json!("x".repeat(64))));
    assert_eq!(response.status, 200, "{}", response.body);
}

#[test]
fn an_unknown_tool_choice_is_refused() {
    check(
        &with("/tool_choice", json!("any")),
        "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
    );
    check(&with("/tool_choice", json!(true)), "Invalid type for 'tool_choice'");
    check(
        &with("/tool_choice", json!({ "type": "function" })),
        "Missing required parameter: 'tool_choice.function.name'.",
    );
    check(&without("/tools"), "'tool_choice' is only allowed when 'tools' are specified");
}

#[test]
fn wrong_roles_and_empty_content_are_refused() {
    check(&with("/messages", json!([])), "Invalid 'messages': empty array");
    check(&with("/messages/1/role", json!("human")), "Invalid value: 'human'");
    check(&without("/messages/1/role"), "Missing required parameter: 'messages[1].role'.");
    check(&with("/messages/1/content", json!(null)), "Invalid value for 'content': expected a string, got null.");
    check(&with("/messages/1/content", json!([])), "Invalid 'messages[1].content': empty array");
    check(&with("/messages/1/content", json!(7)), "Invalid type for 'messages[1].content'");
    check(&with("/messages/1/content/0/type", json!("video")), "Invalid value: 'video'");
    check(&without("/messages/5/content"), "Invalid value for 'content': expected a string, got null.");
    check(&with("/messages/2/tool_calls", json!([])), "Invalid 'messages[2].tool_calls': empty array");
}

#[test]
fn malformed_calls_are_refused() {
    let arguments =
        "Invalid type for 'messages[2].tool_calls[0].function.arguments': expected a string, but got an object";
    check(&with("/messages/2/tool_calls/0/function/arguments", json!({})), arguments);
    check(&without("/messages/2/tool_calls/0/function/arguments"), "tool_calls[0].function.arguments'.");
    check(&without("/messages/2/tool_calls/0/id"), "Missing required parameter: 'messages[2].tool_calls[0].id'.");
    check(&without("/messages/2/tool_calls/0/type"), "Missing required parameter: 'messages[2].tool_calls[0].type'.");
    check(&with("/messages/2/tool_calls/0/function/name", json!("a b")), "string does not match pattern");
    check(&with("/messages/2/tool_calls/0/id", json!("c2")), "Duplicate tool call id 'c2'");
}

#[test]
fn calls_and_tool_messages_must_be_paired() {
    let unanswered = "must be followed by tool messages responding to each 'tool_call_id'";
    let stray = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'";
    check(&without("/messages/4"), unanswered);
    check(&without("/messages/4"), "did not have response messages: c1");
    check(&with("/messages/4/tool_call_id", json!("c9")), stray);
    check(&with("/messages/4/tool_call_id", json!("c2")), stray);
    check(&without("/messages/2"), stray);
    check(&without("/messages/4/tool_call_id"), "Missing required parameter: 'messages[4].tool_call_id'.");
    let mut interrupted = valid();
    interrupted["messages"].as_array_mut().unwrap().swap(4, 5);
    check(&interrupted, unanswered);
    let mut open = valid();
    open["messages"].as_array_mut().unwrap().truncate(3);
    check(&open, unanswered);
}

#[test]
fn the_key_is_checked_where_one_is_expected() {
    let options = ServerOptions { key: Some("right".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("ok")), options).unwrap();
    for (headers, status) in [
        (vec![], 401),
        (vec![("authorization", "Bearer wrong")], 401),
        (vec![("authorization", "Basic right")], 401),
        (vec![("x-api-key", "right")], 401),
        (vec![("authorization", "Bearer right")], 200),
    ] {
        let mut client = Client::connect(&server);
        client.post("/v1/chat/completions", &headers, &openai_request("x"));
        assert_eq!(client.receive().status, status, "{headers:?}");
    }
}
