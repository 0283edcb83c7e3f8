//! The wires as sent; a script sees one conversation identically through each of them.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sortie_protocol::{StopReason, Usage};
use sortie_testkit::{Script, ScriptedReply, ScriptedServer, reply, when};

use crate::client::{Wire, anthropic_request, ask, gemini_request, openai_request, streaming};

fn answer() -> ScriptedReply {
    let usage =
        Usage { input_tokens: 10, output_tokens: 4, cache_read_tokens: 3, cache_write_tokens: 2, ..Usage::default() };
    reply::reasoning("Two files.")
        .text("I read both of them.")
        .calls([reply::call("Read", json!({ "path": "a.rs" })), reply::call("Read", json!({ "path": "src/b.rs" }))])
        .usage(usage)
}

pub(crate) fn check(wire: Wire, request: &Value, expected: &Expect) {
    let server = ScriptedServer::start(Script::always(answer())).unwrap();
    let response = ask(&server, wire, request);
    let body = if response.body.starts_with('{') {
        serde_json::to_string_pretty(&response.json()).unwrap() + "\n"
    } else {
        response.body.replace("\r\n", "\n")
    };
    expected.assert_eq(&body);
}

#[test]
fn an_anthropic_stream_has_the_events_of_the_provider() {
    check(
        Wire::Anthropic,
        &streaming(anthropic_request("x")),
        &expect![[r#"
        event: message_start
        data: {"message":{"content":[],"id":"msg_scripted_1","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"input_tokens":10,"output_tokens":1}},"type":"message_start"}

        event: content_block_start
        data: {"content_block":{"signature":"","thinking":"","type":"thinking"},"index":0,"type":"content_block_start"}

        event: ping
        data: {"type":"ping"}

        event: content_block_delta
        data: {"delta":{"thinking":"Two files.","type":"thinking_delta"},"index":0,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"signature":"c2lnbmVkca79b4d0839c6c64","type":"signature_delta"},"index":0,"type":"content_block_delta"}

        event: content_block_stop
        data: {"index":0,"type":"content_block_stop"}

        event: content_block_start
        data: {"content_block":{"text":"","type":"text"},"index":1,"type":"content_block_start"}

        event: content_block_delta
        data: {"delta":{"text":"I read both ","type":"text_delta"},"index":1,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"text":"of them.","type":"text_delta"},"index":1,"type":"content_block_delta"}

        event: content_block_stop
        data: {"index":1,"type":"content_block_stop"}

        event: content_block_start
        data: {"content_block":{"id":"toolu_0_1","input":{},"name":"Read","type":"tool_use"},"index":2,"type":"content_block_start"}

        event: content_block_delta
        data: {"delta":{"partial_json":"","type":"input_json_delta"},"index":2,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"partial_json":"{\"path\":\"a.r","type":"input_json_delta"},"index":2,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"partial_json":"s\"}","type":"input_json_delta"},"index":2,"type":"content_block_delta"}

        event: content_block_stop
        data: {"index":2,"type":"content_block_stop"}

        event: content_block_start
        data: {"content_block":{"id":"toolu_0_2","input":{},"name":"Read","type":"tool_use"},"index":3,"type":"content_block_start"}

        event: content_block_delta
        data: {"delta":{"partial_json":"","type":"input_json_delta"},"index":3,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"partial_json":"{\"path\":\"src","type":"input_json_delta"},"index":3,"type":"content_block_delta"}

        event: content_block_delta
        data: {"delta":{"partial_json":"/b.rs\"}","type":"input_json_delta"},"index":3,"type":"content_block_delta"}

        event: content_block_stop
        data: {"index":3,"type":"content_block_stop"}

        event: message_delta
        data: {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"output_tokens":4}}

        event: message_stop
        data: {"type":"message_stop"}

    "#]],
    );
}

#[test]
fn an_anthropic_document_has_the_fields_of_the_provider() {
    check(
        Wire::Anthropic,
        &anthropic_request("x"),
        &expect![[r#"
        {
          "content": [
            {
              "signature": "c2lnbmVkca79b4d0839c6c64",
              "thinking": "Two files.",
              "type": "thinking"
            },
            {
              "text": "I read both of them.",
              "type": "text"
            },
            {
              "id": "toolu_0_1",
              "input": {
                "path": "a.rs"
              },
              "name": "Read",
              "type": "tool_use"
            },
            {
              "id": "toolu_0_2",
              "input": {
                "path": "src/b.rs"
              },
              "name": "Read",
              "type": "tool_use"
            }
          ],
          "id": "msg_scripted_1",
          "model": "scripted",
          "role": "assistant",
          "stop_reason": "tool_use",
          "stop_sequence": null,
          "type": "message",
          "usage": {
            "cache_creation_input_tokens": 2,
            "cache_read_input_tokens": 3,
            "input_tokens": 10,
            "output_tokens": 4
          }
        }
    "#]],
    );
}

#[test]
fn an_openai_stream_has_the_chunks_of_the_provider() {
    let mut request = streaming(openai_request("x"));
    request["stream_options"] = json!({ "include_usage": true });
    check(
        Wire::OpenAi,
        &request,
        &expect![[r#"
        data: {"choices":[{"delta":{"content":"","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"reasoning_content":"Two files."},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"content":"I read both "},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"content":"of them."},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"","name":"Read"},"id":"call_0_1","index":0,"type":"function"}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"","name":"Read"},"id":"call_0_2","index":1,"type":"function"}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"path\":\"a.r"},"index":0}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"path\":\"src"},"index":1}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"s\"}"},"index":0}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"/b.rs\"}"},"index":1}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[{"delta":{},"finish_reason":"tool_calls","index":0,"logprobs":null}],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":null}

        data: {"choices":[],"created":1767225600,"id":"chatcmpl-scripted-1","model":"scripted","object":"chat.completion.chunk","system_fingerprint":null,"usage":{"completion_tokens":4,"completion_tokens_details":{"audio_tokens":0,"reasoning_tokens":0},"prompt_tokens":15,"prompt_tokens_details":{"audio_tokens":0,"cached_tokens":3},"total_tokens":19}}

        data: [DONE]

    "#]],
    );
}

#[test]
fn an_openai_document_has_the_fields_of_the_provider() {
    check(
        Wire::OpenAi,
        &openai_request("x"),
        &expect![[r#"
        {
          "choices": [
            {
              "finish_reason": "tool_calls",
              "index": 0,
              "logprobs": null,
              "message": {
                "content": "I read both of them.",
                "reasoning_content": "Two files.",
                "refusal": null,
                "role": "assistant",
                "tool_calls": [
                  {
                    "function": {
                      "arguments": "{\"path\":\"a.rs\"}",
                      "name": "Read"
                    },
                    "id": "call_0_1",
                    "type": "function"
                  },
                  {
                    "function": {
                      "arguments": "{\"path\":\"src/b.rs\"}",
                      "name": "Read"
                    },
                    "id": "call_0_2",
                    "type": "function"
                  }
                ]
              }
            }
          ],
          "created": 1767225600,
          "id": "chatcmpl-scripted-1",
          "model": "scripted",
          "object": "chat.completion",
          "system_fingerprint": null,
          "usage": {
            "completion_tokens": 4,
            "completion_tokens_details": {
              "audio_tokens": 0,
              "reasoning_tokens": 0
            },
            "prompt_tokens": 15,
            "prompt_tokens_details": {
              "audio_tokens": 0,
              "cached_tokens": 3
            },
            "total_tokens": 19
          }
        }
    "#]],
    );
}

#[test]
fn an_openai_stream_reports_its_usage_only_on_request() {
    let server = ScriptedServer::start(Script::always(answer())).unwrap();
    assert!(!ask(&server, Wire::OpenAi, &streaming(openai_request("x"))).body.contains("usage"));
}

#[test]
fn a_gemini_stream_has_the_events_of_the_provider() {
    let mut request = streaming(gemini_request("x"));
    request["model"] = json!("gemini-3-pro-preview");
    check(
        Wire::Gemini,
        &request,
        &expect![[r#"
        data: {"candidates":[{"content":{"parts":[{"text":"Two files.","thought":true}],"role":"model"},"index":0}],"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1","usageMetadata":{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":15,"thoughtsTokenCount":2,"totalTokenCount":19}}

        data: {"candidates":[{"content":{"parts":[{"text":"I read both "}],"role":"model"},"index":0}],"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1","usageMetadata":{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":15,"thoughtsTokenCount":2,"totalTokenCount":19}}

        data: {"candidates":[{"content":{"parts":[{"text":"of them.","thoughtSignature":"c2lnbmVk56631364d96fc98e"}],"role":"model"},"index":0}],"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1","usageMetadata":{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":15,"thoughtsTokenCount":2,"totalTokenCount":19}}

        data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"path":"a.rs"},"id":"call_0_1","name":"Read"},"thoughtSignature":"c2lnbmVkfd0cb62447be86f9"}],"role":"model"},"index":0}],"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1","usageMetadata":{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":15,"thoughtsTokenCount":2,"totalTokenCount":19}}

        data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"path":"src/b.rs"},"id":"call_0_2","name":"Read"}}],"role":"model"},"index":0}],"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1","usageMetadata":{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":15,"thoughtsTokenCount":2,"totalTokenCount":19}}

        data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1","usageMetadata":{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":15,"thoughtsTokenCount":2,"totalTokenCount":19}}

    "#]],
    );
}

#[test]
fn a_gemini_document_has_the_fields_of_the_provider() {
    check(
        Wire::Gemini,
        &gemini_request("x"),
        &expect![[r#"
        {
          "candidates": [
            {
              "content": {
                "parts": [
                  {
                    "text": "Two files.",
                    "thought": true
                  },
                  {
                    "text": "I read both of them."
                  },
                  {
                    "functionCall": {
                      "args": {
                        "path": "a.rs"
                      },
                      "name": "Read"
                    }
                  },
                  {
                    "functionCall": {
                      "args": {
                        "path": "src/b.rs"
                      },
                      "name": "Read"
                    }
                  }
                ],
                "role": "model"
              },
              "finishReason": "STOP",
              "index": 0
            }
          ],
          "modelVersion": "scripted",
          "responseId": "scripted-1",
          "usageMetadata": {
            "cachedContentTokenCount": 3,
            "candidatesTokenCount": 2,
            "promptTokenCount": 15,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 19
          }
        }
    "#]],
    );
}

#[test]
fn every_stop_reason_has_its_name_on_each_wire() {
    for (stop, anthropic, openai, gemini) in [
        (StopReason::End, "end_turn", "stop", "STOP"),
        (StopReason::Calls, "tool_use", "tool_calls", "STOP"),
        (StopReason::Length, "max_tokens", "length", "MAX_TOKENS"),
        (StopReason::Refusal, "refusal", "content_filter", "SAFETY"),
    ] {
        let server = ScriptedServer::start(Script::always(reply::text("x").stop(stop))).unwrap();
        assert_eq!(ask(&server, Wire::Anthropic, &anthropic_request("x")).json()["stop_reason"], anthropic);
        assert_eq!(ask(&server, Wire::OpenAi, &openai_request("x")).json()["choices"][0]["finish_reason"], openai);
        assert_eq!(ask(&server, Wire::Gemini, &gemini_request("x")).json()["candidates"][0]["finishReason"], gemini);
    }
}

/// One conversation on every wire: two calls, and their outputs last.
fn conversation(wire: Wire) -> Value {
    match wire {
        Wire::Anthropic => json!({
            "model": "large",
            "max_tokens": 64,
            "system": [{ "type": "text", "text": "You explore." }],
            "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "Find the door." }] },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "a", "name": "Read", "input": {} },
                    { "type": "tool_use", "id": "b", "name": "Read", "input": {} },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "a", "content": "first output" },
                    { "type": "tool_result", "tool_use_id": "b", "content": [{ "type": "text", "text": "second output" }] },
                ] },
            ],
        }),
        Wire::Gemini => json!({
            "model": "large",
            "systemInstruction": { "parts": [{ "text": "You explore." }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "Find the door." }] },
                { "role": "model", "parts": [
                    { "functionCall": { "name": "Read", "args": {} } },
                    { "functionCall": { "name": "Read", "args": {} } },
                ] },
                { "role": "user", "parts": [
                    { "functionResponse": { "name": "Read", "response": { "output": "first output" } } },
                    { "functionResponse": { "name": "Read", "response": { "error": "second output" } } },
                ] },
            ],
        }),
        Wire::OpenAiResponses => json!({
            "model": "large",
            "instructions": "You explore.",
            "input": [
                { "role": "user", "content": [{ "type": "input_text", "text": "Find the door." }] },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Both." }] },
                { "type": "function_call", "call_id": "a", "name": "Read", "arguments": "{}" },
                { "type": "function_call", "call_id": "b", "name": "Read", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "a", "output": "first output" },
                { "type": "function_call_output", "call_id": "b", "output": [
                    { "type": "input_text", "text": "second output" },
                ] },
            ],
        }),
        Wire::OpenAi => json!({
            "model": "large",
            "messages": [
                { "role": "system", "content": "You explore." },
                { "role": "user", "content": [{ "type": "text", "text": "Find the door." }] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "a", "type": "function", "function": { "name": "Read", "arguments": "{}" } },
                    { "id": "b", "type": "function", "function": { "name": "Read", "arguments": "{}" } },
                ] },
                { "role": "tool", "tool_call_id": "a", "content": "first output" },
                { "role": "tool", "tool_call_id": "b", "content": "second output" },
            ],
        }),
    }
}

#[test]
fn a_script_sees_the_same_conversation_through_every_wire() {
    for wire in Wire::ALL {
        for (when, matches) in [
            (when::model("large"), true),
            (when::system_contains("explore"), true),
            (when::prompt_contains("the door"), true),
            (when::prompt_contains("explore"), false),
            (when::last_contains("first output"), true),
            (when::last_contains("second output"), true),
            (when::last_contains("door"), false),
            (when::turn(1), true),
            (when::turn(2), false),
        ] {
            let description = format!("{wire:?} {when:?}");
            let server = ScriptedServer::start(Script::new().on(when, reply::text("yes"))).unwrap();
            let status = ask(&server, wire, &conversation(wire)).status;
            assert_eq!(status, if matches { 200 } else { 400 }, "{description}");
        }
    }
}

#[test]
fn calls_are_numbered_by_turn_and_place() {
    let script = Script::always(reply::calls([reply::call("Read", json!({})), reply::call("Read", json!({}))]));
    let server = ScriptedServer::start(script).unwrap();
    let anthropic = ask(&server, Wire::Anthropic, &conversation(Wire::Anthropic)).json();
    assert_eq!(
        (&anthropic["content"][0]["id"], &anthropic["content"][1]["id"]),
        (&json!("toolu_1_1"), &json!("toolu_1_2"))
    );
    let openai = ask(&server, Wire::OpenAi, &conversation(Wire::OpenAi)).json();
    assert_eq!(openai["choices"][0]["message"]["tool_calls"][1]["id"], "call_1_2");
    let responses = ask(&server, Wire::OpenAiResponses, &conversation(Wire::OpenAiResponses)).json();
    assert_eq!(responses["output"][1]["call_id"], "call_1_2");
}
