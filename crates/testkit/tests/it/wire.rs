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
            data: {"type":"message_start","message":{"id":"msg_scripted_1","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}

            event: content_block_start
            data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

            event: ping
            data: {"type":"ping"}

            event: content_block_delta
            data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Two files."}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVkca79b4d0839c6c64"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":0}

            event: content_block_start
            data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I read both "}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"of them."}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":1}

            event: content_block_start
            data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_0_1","name":"Read","input":{}}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a.r"}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"s\"}"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":2}

            event: content_block_start
            data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_0_2","name":"Read","input":{}}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"src"}}

            event: content_block_delta
            data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"/b.rs\"}"}}

            event: content_block_stop
            data: {"type":"content_block_stop","index":3}

            event: message_delta
            data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":4}}

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
              "id": "msg_scripted_1",
              "type": "message",
              "role": "assistant",
              "model": "scripted",
              "content": [
                {
                  "type": "thinking",
                  "thinking": "Two files.",
                  "signature": "c2lnbmVkca79b4d0839c6c64"
                },
                {
                  "type": "text",
                  "text": "I read both of them."
                },
                {
                  "type": "tool_use",
                  "id": "toolu_0_1",
                  "name": "Read",
                  "input": {
                    "path": "a.rs"
                  }
                },
                {
                  "type": "tool_use",
                  "id": "toolu_0_2",
                  "name": "Read",
                  "input": {
                    "path": "src/b.rs"
                  }
                }
              ],
              "stop_reason": "tool_use",
              "stop_sequence": null,
              "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 2,
                "cache_read_input_tokens": 3,
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
            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"reasoning_content":"Two files."},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"I read both "},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"of them."},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_0_1","type":"function","function":{"name":"Read","arguments":""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_0_2","type":"function","function":{"name":"Read","arguments":""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a.r"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"path\":\"src"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"s\"}"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"/b.rs\"}"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}

            data: {"id":"chatcmpl-scripted-1","object":"chat.completion.chunk","created":1767225600,"model":"scripted","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":15,"completion_tokens":4,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":3,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}}

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
              "id": "chatcmpl-scripted-1",
              "object": "chat.completion",
              "created": 1767225600,
              "model": "scripted",
              "choices": [
                {
                  "index": 0,
                  "message": {
                    "role": "assistant",
                    "content": "I read both of them.",
                    "refusal": null,
                    "tool_calls": [
                      {
                        "id": "call_0_1",
                        "type": "function",
                        "function": {
                          "name": "Read",
                          "arguments": "{\"path\":\"a.rs\"}"
                        }
                      },
                      {
                        "id": "call_0_2",
                        "type": "function",
                        "function": {
                          "name": "Read",
                          "arguments": "{\"path\":\"src/b.rs\"}"
                        }
                      }
                    ],
                    "reasoning_content": "Two files."
                  },
                  "logprobs": null,
                  "finish_reason": "tool_calls"
                }
              ],
              "usage": {
                "prompt_tokens": 15,
                "completion_tokens": 4,
                "total_tokens": 19,
                "prompt_tokens_details": {
                  "cached_tokens": 3,
                  "audio_tokens": 0
                },
                "completion_tokens_details": {
                  "reasoning_tokens": 0,
                  "audio_tokens": 0
                }
              },
              "system_fingerprint": null
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
            data: {"candidates":[{"content":{"parts":[{"text":"Two files.","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":2,"totalTokenCount":19},"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1"}

            data: {"candidates":[{"content":{"parts":[{"text":"I read both "}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":2,"totalTokenCount":19},"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1"}

            data: {"candidates":[{"content":{"parts":[{"text":"of them.","thoughtSignature":"c2lnbmVk56631364d96fc98e"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":2,"totalTokenCount":19},"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1"}

            data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"Read","args":{"path":"a.rs"},"id":"call_0_1"},"thoughtSignature":"c2lnbmVkfd0cb62447be86f9"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":2,"totalTokenCount":19},"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1"}

            data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"Read","args":{"path":"src/b.rs"},"id":"call_0_2"}}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":2,"totalTokenCount":19},"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1"}

            data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":2,"totalTokenCount":19},"modelVersion":"gemini-3-pro-preview","responseId":"scripted-1"}

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
                          "name": "Read",
                          "args": {
                            "path": "a.rs"
                          }
                        }
                      },
                      {
                        "functionCall": {
                          "name": "Read",
                          "args": {
                            "path": "src/b.rs"
                          }
                        }
                      }
                    ],
                    "role": "model"
                  },
                  "index": 0,
                  "finishReason": "STOP"
                }
              ],
              "usageMetadata": {
                "promptTokenCount": 15,
                "cachedContentTokenCount": 3,
                "candidatesTokenCount": 2,
                "thoughtsTokenCount": 2,
                "totalTokenCount": 19
              },
              "modelVersion": "scripted",
              "responseId": "scripted-1"
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
