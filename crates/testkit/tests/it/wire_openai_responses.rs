//! The Responses wire as sent.

use expect_test::expect;
use serde_json::json;
use sortie_protocol::StopReason;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::client::{Wire, ask, openai_responses_request, streaming};
use crate::wire::check;

#[test]
fn a_stream_has_the_events_of_the_provider() {
    check(
        Wire::OpenAiResponses,
        &streaming(openai_responses_request("x")),
        &expect![[r#"
            event: response.created
            data: {"response":{"id":"resp_scripted_1","object":"response","created_at":1767225600,"status":"in_progress","error":null,"incomplete_details":null,"model":"scripted","output":[],"parallel_tool_calls":true,"store":false,"tool_choice":"auto","tools":[],"usage":null},"type":"response.created","sequence_number":0}

            event: response.in_progress
            data: {"response":{"id":"resp_scripted_1","object":"response","created_at":1767225600,"status":"in_progress","error":null,"incomplete_details":null,"model":"scripted","output":[],"parallel_tool_calls":true,"store":false,"tool_choice":"auto","tools":[],"usage":null},"type":"response.in_progress","sequence_number":1}

            event: response.output_item.added
            data: {"output_index":0,"item":{"id":"rs_1_0","type":"reasoning","summary":[],"encrypted_content":""},"type":"response.output_item.added","sequence_number":2}

            event: response.reasoning_summary_part.added
            data: {"item_id":"rs_1_0","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""},"type":"response.reasoning_summary_part.added","sequence_number":3}

            event: response.reasoning_summary_text.delta
            data: {"item_id":"rs_1_0","output_index":0,"summary_index":0,"delta":"Two files.","type":"response.reasoning_summary_text.delta","sequence_number":4}

            event: response.reasoning_summary_text.done
            data: {"item_id":"rs_1_0","output_index":0,"summary_index":0,"text":"Two files.","type":"response.reasoning_summary_text.done","sequence_number":5}

            event: response.reasoning_summary_part.done
            data: {"item_id":"rs_1_0","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"Two files."},"type":"response.reasoning_summary_part.done","sequence_number":6}

            event: response.output_item.done
            data: {"output_index":0,"item":{"id":"rs_1_0","type":"reasoning","summary":[{"type":"summary_text","text":"Two files."}],"encrypted_content":"c2lnbmVkca79b4d0839c6c64"},"type":"response.output_item.done","sequence_number":7}

            event: response.output_item.added
            data: {"output_index":1,"item":{"id":"msg_1_1","type":"message","status":"in_progress","role":"assistant","content":[]},"type":"response.output_item.added","sequence_number":8}

            event: response.content_part.added
            data: {"item_id":"msg_1_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"type":"response.content_part.added","sequence_number":9}

            event: response.output_text.delta
            data: {"item_id":"msg_1_1","output_index":1,"content_index":0,"delta":"I read both ","logprobs":[],"type":"response.output_text.delta","sequence_number":10}

            event: response.output_text.delta
            data: {"item_id":"msg_1_1","output_index":1,"content_index":0,"delta":"of them.","logprobs":[],"type":"response.output_text.delta","sequence_number":11}

            event: response.output_text.done
            data: {"item_id":"msg_1_1","output_index":1,"content_index":0,"text":"I read both of them.","logprobs":[],"type":"response.output_text.done","sequence_number":12}

            event: response.content_part.done
            data: {"item_id":"msg_1_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"I read both of them.","annotations":[]},"type":"response.content_part.done","sequence_number":13}

            event: response.output_item.done
            data: {"output_index":1,"item":{"id":"msg_1_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I read both of them.","annotations":[]}]},"type":"response.output_item.done","sequence_number":14}

            event: response.output_item.added
            data: {"output_index":2,"item":{"id":"fc_1_2","type":"function_call","status":"in_progress","call_id":"call_0_1","name":"Read","arguments":""},"type":"response.output_item.added","sequence_number":15}

            event: response.function_call_arguments.delta
            data: {"item_id":"fc_1_2","output_index":2,"delta":"{\"path\":\"a.r","type":"response.function_call_arguments.delta","sequence_number":16}

            event: response.function_call_arguments.delta
            data: {"item_id":"fc_1_2","output_index":2,"delta":"s\"}","type":"response.function_call_arguments.delta","sequence_number":17}

            event: response.function_call_arguments.done
            data: {"item_id":"fc_1_2","output_index":2,"arguments":"{\"path\":\"a.rs\"}","type":"response.function_call_arguments.done","sequence_number":18}

            event: response.output_item.done
            data: {"output_index":2,"item":{"id":"fc_1_2","type":"function_call","status":"completed","call_id":"call_0_1","name":"Read","arguments":"{\"path\":\"a.rs\"}"},"type":"response.output_item.done","sequence_number":19}

            event: response.output_item.added
            data: {"output_index":3,"item":{"id":"fc_1_3","type":"function_call","status":"in_progress","call_id":"call_0_2","name":"Read","arguments":""},"type":"response.output_item.added","sequence_number":20}

            event: response.function_call_arguments.delta
            data: {"item_id":"fc_1_3","output_index":3,"delta":"{\"path\":\"src","type":"response.function_call_arguments.delta","sequence_number":21}

            event: response.function_call_arguments.delta
            data: {"item_id":"fc_1_3","output_index":3,"delta":"/b.rs\"}","type":"response.function_call_arguments.delta","sequence_number":22}

            event: response.function_call_arguments.done
            data: {"item_id":"fc_1_3","output_index":3,"arguments":"{\"path\":\"src/b.rs\"}","type":"response.function_call_arguments.done","sequence_number":23}

            event: response.output_item.done
            data: {"output_index":3,"item":{"id":"fc_1_3","type":"function_call","status":"completed","call_id":"call_0_2","name":"Read","arguments":"{\"path\":\"src/b.rs\"}"},"type":"response.output_item.done","sequence_number":24}

            event: response.completed
            data: {"response":{"id":"resp_scripted_1","object":"response","created_at":1767225600,"status":"completed","error":null,"incomplete_details":null,"model":"scripted","output":[{"id":"rs_1_0","type":"reasoning","summary":[{"type":"summary_text","text":"Two files."}],"encrypted_content":"c2lnbmVkca79b4d0839c6c64"},{"id":"msg_1_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I read both of them.","annotations":[]}]},{"id":"fc_1_2","type":"function_call","status":"completed","call_id":"call_0_1","name":"Read","arguments":"{\"path\":\"a.rs\"}"},{"id":"fc_1_3","type":"function_call","status":"completed","call_id":"call_0_2","name":"Read","arguments":"{\"path\":\"src/b.rs\"}"}],"parallel_tool_calls":true,"store":false,"tool_choice":"auto","tools":[],"usage":{"input_tokens":15,"input_tokens_details":{"cached_tokens":3,"cache_write_tokens":2},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":19}},"type":"response.completed","sequence_number":25}

        "#]],
    );
}

#[test]
fn a_document_has_the_fields_of_the_provider() {
    check(
        Wire::OpenAiResponses,
        &openai_responses_request("x"),
        &expect![[r#"
            {
              "id": "resp_scripted_1",
              "object": "response",
              "created_at": 1767225600,
              "status": "completed",
              "error": null,
              "incomplete_details": null,
              "model": "scripted",
              "output": [
                {
                  "id": "rs_1_0",
                  "type": "reasoning",
                  "summary": [
                    {
                      "type": "summary_text",
                      "text": "Two files."
                    }
                  ],
                  "encrypted_content": "c2lnbmVkca79b4d0839c6c64"
                },
                {
                  "id": "msg_1_1",
                  "type": "message",
                  "status": "completed",
                  "role": "assistant",
                  "content": [
                    {
                      "type": "output_text",
                      "text": "I read both of them.",
                      "annotations": []
                    }
                  ]
                },
                {
                  "id": "fc_1_2",
                  "type": "function_call",
                  "status": "completed",
                  "call_id": "call_0_1",
                  "name": "Read",
                  "arguments": "{\"path\":\"a.rs\"}"
                },
                {
                  "id": "fc_1_3",
                  "type": "function_call",
                  "status": "completed",
                  "call_id": "call_0_2",
                  "name": "Read",
                  "arguments": "{\"path\":\"src/b.rs\"}"
                }
              ],
              "parallel_tool_calls": true,
              "store": false,
              "tool_choice": "auto",
              "tools": [],
              "usage": {
                "input_tokens": 15,
                "input_tokens_details": {
                  "cached_tokens": 3,
                  "cache_write_tokens": 2
                },
                "output_tokens": 4,
                "output_tokens_details": {
                  "reasoning_tokens": 0
                },
                "total_tokens": 19
              }
            }
        "#]],
    );
}

#[test]
fn every_stop_reason_has_its_name() {
    for (stop, status, reason) in [
        (StopReason::End, "completed", json!(null)),
        (StopReason::Calls, "completed", json!(null)),
        (StopReason::Length, "incomplete", json!({ "reason": "max_output_tokens" })),
        (StopReason::Refusal, "incomplete", json!({ "reason": "content_filter" })),
    ] {
        let server = ScriptedServer::start(Script::always(reply::text("x").stop(stop))).unwrap();
        let response = ask(&server, Wire::OpenAiResponses, &openai_responses_request("x")).json();
        assert_eq!((&response["status"], &response["incomplete_details"]), (&json!(status), &reason));
        let stream = ask(&server, Wire::OpenAiResponses, &streaming(openai_responses_request("x"))).body;
        assert!(stream.contains(&format!("event: response.{status}\n")), "{stream}");
    }
}

#[test]
fn consecutive_texts_are_one_message() {
    let server = ScriptedServer::start(Script::always(reply::text("One. ").text("Two."))).unwrap();
    let response = ask(&server, Wire::OpenAiResponses, &openai_responses_request("x")).json();
    assert_eq!(response["output"].as_array().unwrap().len(), 1);
    assert_eq!(response["output"][0]["content"][0]["text"], "One. Two.");
}

#[test]
fn a_prompt_may_be_plain_text() {
    let script = Script::new().on(when::prompt_contains("Look"), reply::text("here"));
    let server = ScriptedServer::start(script).unwrap();
    let response = ask(&server, Wire::OpenAiResponses, &json!({ "model": "scripted", "input": "Look." }));
    assert_eq!(response.status, 200, "{}", response.body);
}

#[test]
fn a_reply_of_several_items_is_one_turn() {
    let reasoning =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2lnbmVkcbf29ce484222325" });
    let request = json!({ "model": "scripted", "store": false, "input": [
        { "role": "user", "content": "Look." },
        reasoning,
        { "role": "assistant", "content": "Both." },
        { "type": "function_call", "call_id": "a", "name": "Read", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "a", "output": "x" },
        { "role": "assistant", "content": "Done." },
        { "role": "user", "content": "And?" },
    ] });
    let server = ScriptedServer::start(Script::new().on(when::turn(2), reply::text("here"))).unwrap();
    let response = ask(&server, Wire::OpenAiResponses, &request);
    assert_eq!(response.status, 200, "{}", response.body);
}
