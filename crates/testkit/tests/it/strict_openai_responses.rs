//! Everything that OpenAI rejects on its Responses wire, each shown by an otherwise valid request.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, ServerOptions, reply};

use crate::client::{Client, Wire, ask, openai_responses_request};
use crate::edit;

/// The seal of the reasoning in [`valid`].
const SEALED: &str = "c2lnbmVk46d02cd225beb602";

fn serving() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("ok"))).unwrap()
}

/// A valid request with everything that the rules look at.
fn valid() -> Value {
    json!({
        "model": "gpt-5",
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 64,
        "instructions": "Be brief.",
        "tools": [{
            "type": "function", "name": "Read", "description": "Reads.", "parameters": { "type": "object" }, "strict": false,
        }],
        "tool_choice": "none",
        "input": [
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Look." }] },
            { "type": "reasoning", "id": "rs_1", "encrypted_content": SEALED, "summary": [
                { "type": "summary_text", "text": "Hm. Größe?" },
            ] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Both." }] },
            { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "Read", "arguments": "{}" },
            { "type": "function_call", "call_id": "c2", "name": "Read", "arguments": "{oops" },
            { "type": "function_call_output", "call_id": "c2", "output": "two" },
            { "type": "function_call_output", "call_id": "c1", "output": [
                { "type": "input_text", "text": "one" },
                { "type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=" },
                { "type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjcK" },
            ] },
            { "role": "assistant", "content": "Done.", "phase": "final_answer" },
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
    let response = ask(&serving(), Wire::OpenAiResponses, request);
    let error = response.json();
    assert!(matches!(response.status, 400 | 404), "{complaint}: {error}");
    assert_eq!(error["error"]["type"], "invalid_request_error");
    assert!(error["error"]["message"].as_str().unwrap().contains(complaint), "{complaint}: {error}");
}

fn served(request: &Value) {
    let response = ask(&serving(), Wire::OpenAiResponses, request);
    assert_eq!(response.status, 200, "{}", response.body);
}

#[test]
fn a_valid_request_is_served() {
    served(&valid());
    served(&with("/input", json!("Look.")));
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    check(&json!("x"), "could not parse the JSON body");
    check(&without("/model"), "Missing required parameter: 'model'.");
    check(&without("/input"), "One of \"input\" or \"previous_response_id\"");
    check(&with("/model", json!(7)), "Invalid type for 'model': expected a string, but got a number instead.");
    check(&with("/messages", json!([])), "Unknown parameter: 'messages'.");
    check(&with("/max_tokens", json!(64)), "Unknown parameter: 'max_tokens'.");
    check(&with("/previous_response_id", json!("resp_1")), "Unknown parameter: 'previous_response_id'.");
    check(&with("/stream", json!("yes")), "Invalid type for 'stream'");
    check(&with("/store", json!(0)), "Invalid type for 'store'");
    check(&with("/instructions", json!([])), "Invalid type for 'instructions'");
    check(&with("/max_output_tokens", json!("many")), "Invalid type for 'max_output_tokens'");
    check(&with("/max_output_tokens", json!(15)), "integer below minimum value. Expected a value >= 16, but got 15");
    check(&with("/input/0/cache_control", json!({})), "Unknown parameter: 'input[0].cache_control'.");
    check(
        &with("/input/0/content/0/cache_control", json!({})),
        "Unknown parameter: 'input[0].content[0].cache_control'.",
    );
    check(&with("/input/1/wire", json!("x")), "Unknown parameter: 'input[1].wire'.");
    check(&with("/input/3/index", json!(0)), "Unknown parameter: 'input[3].index'.");
    check(&with("/input/5/is_error", json!(true)), "Unknown parameter: 'input[5].is_error'.");
    check(&with("/tools/0/input_schema", json!({})), "Unknown parameter: 'tools[0].input_schema'.");
}

#[test]
fn an_error_names_the_parameter_and_has_a_code() {
    let error = ask(&serving(), Wire::OpenAiResponses, &without("/input/3/call_id")).json();
    assert_eq!(error["error"]["param"], "input[3].call_id");
    assert_eq!(error["error"]["code"], "missing_required_parameter");
}

#[test]
fn malformed_tools_are_refused() {
    check(&with("/tools", json!({})), "Invalid type for 'tools'");
    check(&without("/tools/0/type"), "Missing required parameter: 'tools[0].type'.");
    check(&with("/tools/0/type", json!("custom")), "Invalid value: 'custom'");
    let of_chat = json!([{ "type": "function", "function": { "name": "Read" } }]);
    check(&with("/tools", of_chat), "Missing required parameter: 'tools[0].name'.");
    check(&with("/tools/0/name", json!("a.b")), "Invalid 'tools[0].name': string does not match pattern");
    check(&with("/tools/0/name", json!("")), "Invalid 'tools[0].name': string does not match pattern");
    check(&with("/tools/0/name", json!("x".repeat(65))), "Expected a string with maximum length 64");
    check(&with("/tools/0/parameters", json!({})), "Invalid schema for function 'Read'");
    check(&with("/tools/0/parameters/anyOf", json!([])), "at the top level");
    check(&with("/tools/0/strict", json!("no")), "Invalid type for 'tools[0].strict'");
}

#[test]
fn an_unknown_tool_choice_is_refused() {
    check(&with("/tool_choice", json!("any")), "Invalid value: 'any'");
    check(&with("/tool_choice", json!(true)), "Invalid type for 'tool_choice'");
    check(&with("/tool_choice", json!({ "type": "function" })), "Missing required parameter: 'tool_choice.name'.");
    check(&without("/tools"), "Tool choice 'none' must be specified with 'tools' parameter.");
}

#[test]
fn models_that_do_not_reason_neither_seal_reasoning_nor_take_it() {
    check(&with("/include", json!("x")), "Invalid type for 'include'");
    check(&with("/include", json!(["reasoning"])), "Invalid value: 'reasoning'");
    for model in ["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest"] {
        check(&with("/model", json!(model)), "Encrypted content is not supported with this model.");
        let mut unasked = with("/model", json!(model));
        unasked["include"] = json!([]);
        check(&unasked, "Reasoning input items can only be provided to a reasoning or computer use model.");
    }
}

#[test]
fn wrong_items_roles_and_contents_are_refused() {
    check(&with("/input", json!([])), "Invalid 'input': empty array");
    check(&with("/input", json!(7)), "Invalid type for 'input'");
    check(&with("/input/0", json!("Look.")), "Invalid type for 'input[0]'");
    check(&with("/input/0/type", json!("item_reference")), "Invalid value: 'item_reference'");
    check(&with("/input/0/role", json!("human")), "Invalid value: 'human'");
    check(&without("/input/0/role"), "Missing required parameter: 'input[0].role'.");
    check(&without("/input/0/content"), "Missing required parameter: 'input[0].content'.");
    check(&with("/input/0/content", json!(null)), "Invalid type for 'input[0].content'");
    check(&with("/input/0/content", json!([])), "Invalid 'input[0].content': empty array");
    check(&with("/input/0/content/0/type", json!("text")), "Invalid value: 'text'");
    check(&with("/input/0/content/0/type", json!("output_text")), "Invalid value: 'output_text'");
    check(&with("/input/2/content/0/type", json!("input_text")), "Invalid value: 'input_text'");
    check(&without("/input/2/content/0/text"), "Missing required parameter: 'input[2].content[0].text'.");
    check(&with("/input/6/output", json!([])), "Invalid 'input[6].output': empty array");
    check(&without("/input/6/output"), "Missing required parameter: 'input[6].output'.");
}

#[test]
fn files_of_other_kinds_and_in_other_forms_are_refused() {
    let image = "/input/6/output/1/image_url";
    check(&with(image, json!("data:video/mp4;base64,AAAA")), "does not represent a valid image");
    check(&with(image, json!("iVBORw0KGgo=")), "Expected a base64-encoded data URL with a MIME type.");
    check(&with(image, json!("data:image/png;base64,")), "Expected a base64-encoded data URL with a MIME type.");
    check(&with(image, json!("data:image/png;base64,iV")), "Expected a base64-encoded data URL with a MIME type.");
    check(&with(image, json!({ "url": "x" })), "Invalid type for 'input[6].output[1].image_url'");
    let file = "/input/6/output/2/file_data";
    check(&with(file, json!("data:text/plain;base64,AAAA")), "expected a PDF file");
    check(&with(file, json!("JVBERi0xLjcK")), "Expected a base64-encoded data URL with a MIME type.");
    check(&without("/input/6/output/2/filename"), "Missing required parameter: 'input[6].output[2].filename'.");
}

#[test]
fn malformed_calls_are_refused() {
    check(&with("/input/3/arguments", json!({})), "Invalid type for 'input[3].arguments': expected a string");
    check(&without("/input/3/arguments"), "Missing required parameter: 'input[3].arguments'.");
    check(&with("/input/3/name", json!("a b")), "Invalid 'input[3].name': string does not match pattern");
    check(&with("/input/3/id", json!("call_1")), "Expected an ID that begins with 'fc'.");
    check(&without("/input/3/call_id"), "Missing required parameter: 'input[3].call_id'.");
    check(&with("/input/5/call_id", json!("")), "Missing required parameter: 'input[5].call_id'.");
    let complaint = "string too long. Expected a string with maximum length 64, but got a string with length 65";
    check(&with("/input/3/call_id", json!("x".repeat(65))), complaint);
    check(&with("/input/5/call_id", json!("x".repeat(65))), complaint);
}

#[test]
fn calls_and_outputs_must_be_paired() {
    check(&without("/input/6"), "No tool output found for function call c1.");
    check(&with("/input/6/call_id", json!("c9")), "No tool call found for function call output with call_id c9.");
    check(&with("/input/6/call_id", json!("c2")), "No tool call found for function call output with call_id c2.");
    check(&without("/input/4"), "No tool call found for function call output with call_id c2.");
    let mut before_its_call = valid();
    before_its_call["input"].as_array_mut().unwrap().swap(4, 5);
    check(&before_its_call, "No tool call found for function call output with call_id c2.");
}

#[test]
fn reasoning_is_accepted_back_only_whole_and_before_its_result() {
    check(&without("/input/1/id"), "Missing required parameter: 'input[1].id'.");
    check(&with("/input/1/id", json!("x_1")), "Expected an ID that begins with 'rs'.");
    check(&without("/input/1/summary"), "Missing required parameter: 'input[1].summary'.");
    check(&with("/input/1/summary/0/text", json!("Hm!")), "could not be verified");
    check(&with("/input/1/encrypted_content", json!("forged")), "could not be verified");
    check(&without("/input/1/encrypted_content"), "Items are not persisted when `store` is set to false.");
    let alone = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
    served(&without("/input/2"));
    let mut last = valid();
    let items = last["input"].as_array_mut().unwrap();
    let reasoning = items.remove(1);
    items.push(reasoning.clone());
    check(&last, alone);
    let mut before_a_user = valid();
    let items = before_a_user["input"].as_array_mut().unwrap();
    let reasoning = items.remove(1);
    items.insert(0, reasoning);
    check(&before_a_user, alone);
    let mut twice = valid();
    let items = twice["input"].as_array_mut().unwrap();
    items.insert(1, items[1].clone());
    check(&twice, "Duplicate item found with id rs_1.");
}

#[test]
fn the_key_is_checked_where_one_is_expected() {
    let options = ServerOptions { key: Some("right".to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(Script::always(reply::text("ok")), options).unwrap();
    for (headers, status) in
        [(vec![], 401), (vec![("authorization", "Bearer wrong")], 401), (vec![("authorization", "Bearer right")], 200)]
    {
        let mut client = Client::connect(&server);
        client.post("/v1/responses", &headers, &openai_responses_request("x"));
        assert_eq!(client.receive().status, status, "{headers:?}");
    }
}
