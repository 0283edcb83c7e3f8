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
        data: {"response":{"created_at":1767225600,"error":null,"id":"resp_scripted_1","incomplete_details":null,"model":"scripted","object":"response","output":[],"parallel_tool_calls":true,"status":"in_progress","store":false,"tool_choice":"auto","tools":[],"usage":null},"sequence_number":0,"type":"response.created"}

        event: response.in_progress
        data: {"response":{"created_at":1767225600,"error":null,"id":"resp_scripted_1","incomplete_details":null,"model":"scripted","object":"response","output":[],"parallel_tool_calls":true,"status":"in_progress","store":false,"tool_choice":"auto","tools":[],"usage":null},"sequence_number":1,"type":"response.in_progress"}

        event: response.output_item.added
        data: {"item":{"encrypted_content":"","id":"rs_1_0","summary":[],"type":"reasoning"},"output_index":0,"sequence_number":2,"type":"response.output_item.added"}

        event: response.reasoning_summary_part.added
        data: {"item_id":"rs_1_0","output_index":0,"part":{"text":"","type":"summary_text"},"sequence_number":3,"summary_index":0,"type":"response.reasoning_summary_part.added"}

        event: response.reasoning_summary_text.delta
        data: {"delta":"Two files.","item_id":"rs_1_0","output_index":0,"sequence_number":4,"summary_index":0,"type":"response.reasoning_summary_text.delta"}

        event: response.reasoning_summary_text.done
        data: {"item_id":"rs_1_0","output_index":0,"sequence_number":5,"summary_index":0,"text":"Two files.","type":"response.reasoning_summary_text.done"}

        event: response.reasoning_summary_part.done
        data: {"item_id":"rs_1_0","output_index":0,"part":{"text":"Two files.","type":"summary_text"},"sequence_number":6,"summary_index":0,"type":"response.reasoning_summary_part.done"}

        event: response.output_item.done
        data: {"item":{"encrypted_content":"c2lnbmVkca79b4d0839c6c64","id":"rs_1_0","summary":[{"text":"Two files.","type":"summary_text"}],"type":"reasoning"},"output_index":0,"sequence_number":7,"type":"response.output_item.done"}

        event: response.output_item.added
        data: {"item":{"content":[],"id":"msg_1_1","role":"assistant","status":"in_progress","type":"message"},"output_index":1,"sequence_number":8,"type":"response.output_item.added"}

        event: response.content_part.added
        data: {"content_index":0,"item_id":"msg_1_1","output_index":1,"part":{"annotations":[],"text":"","type":"output_text"},"sequence_number":9,"type":"response.content_part.added"}

        event: response.output_text.delta
        data: {"content_index":0,"delta":"I read both ","item_id":"msg_1_1","logprobs":[],"output_index":1,"sequence_number":10,"type":"response.output_text.delta"}

        event: response.output_text.delta
        data: {"content_index":0,"delta":"of them.","item_id":"msg_1_1","logprobs":[],"output_index":1,"sequence_number":11,"type":"response.output_text.delta"}

        event: response.output_text.done
        data: {"content_index":0,"item_id":"msg_1_1","logprobs":[],"output_index":1,"sequence_number":12,"text":"I read both of them.","type":"response.output_text.done"}

        event: response.content_part.done
        data: {"content_index":0,"item_id":"msg_1_1","output_index":1,"part":{"annotations":[],"text":"I read both of them.","type":"output_text"},"sequence_number":13,"type":"response.content_part.done"}

        event: response.output_item.done
        data: {"item":{"content":[{"annotations":[],"text":"I read both of them.","type":"output_text"}],"id":"msg_1_1","role":"assistant","status":"completed","type":"message"},"output_index":1,"sequence_number":14,"type":"response.output_item.done"}

        event: response.output_item.added
        data: {"item":{"arguments":"","call_id":"call_0_1","id":"fc_1_2","name":"Read","status":"in_progress","type":"function_call"},"output_index":2,"sequence_number":15,"type":"response.output_item.added"}

        event: response.function_call_arguments.delta
        data: {"delta":"{\"path\":\"a.r","item_id":"fc_1_2","output_index":2,"sequence_number":16,"type":"response.function_call_arguments.delta"}

        event: response.function_call_arguments.delta
        data: {"delta":"s\"}","item_id":"fc_1_2","output_index":2,"sequence_number":17,"type":"response.function_call_arguments.delta"}

        event: response.function_call_arguments.done
        data: {"arguments":"{\"path\":\"a.rs\"}","item_id":"fc_1_2","output_index":2,"sequence_number":18,"type":"response.function_call_arguments.done"}

        event: response.output_item.done
        data: {"item":{"arguments":"{\"path\":\"a.rs\"}","call_id":"call_0_1","id":"fc_1_2","name":"Read","status":"completed","type":"function_call"},"output_index":2,"sequence_number":19,"type":"response.output_item.done"}

        event: response.output_item.added
        data: {"item":{"arguments":"","call_id":"call_0_2","id":"fc_1_3","name":"Read","status":"in_progress","type":"function_call"},"output_index":3,"sequence_number":20,"type":"response.output_item.added"}

        event: response.function_call_arguments.delta
        data: {"delta":"{\"path\":\"src","item_id":"fc_1_3","output_index":3,"sequence_number":21,"type":"response.function_call_arguments.delta"}

        event: response.function_call_arguments.delta
        data: {"delta":"/b.rs\"}","item_id":"fc_1_3","output_index":3,"sequence_number":22,"type":"response.function_call_arguments.delta"}

        event: response.function_call_arguments.done
        data: {"arguments":"{\"path\":\"src/b.rs\"}","item_id":"fc_1_3","output_index":3,"sequence_number":23,"type":"response.function_call_arguments.done"}

        event: response.output_item.done
        data: {"item":{"arguments":"{\"path\":\"src/b.rs\"}","call_id":"call_0_2","id":"fc_1_3","name":"Read","status":"completed","type":"function_call"},"output_index":3,"sequence_number":24,"type":"response.output_item.done"}

        event: response.completed
        data: {"response":{"created_at":1767225600,"error":null,"id":"resp_scripted_1","incomplete_details":null,"model":"scripted","object":"response","output":[{"encrypted_content":"c2lnbmVkca79b4d0839c6c64","id":"rs_1_0","summary":[{"text":"Two files.","type":"summary_text"}],"type":"reasoning"},{"content":[{"annotations":[],"text":"I read both of them.","type":"output_text"}],"id":"msg_1_1","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"path\":\"a.rs\"}","call_id":"call_0_1","id":"fc_1_2","name":"Read","status":"completed","type":"function_call"},{"arguments":"{\"path\":\"src/b.rs\"}","call_id":"call_0_2","id":"fc_1_3","name":"Read","status":"completed","type":"function_call"}],"parallel_tool_calls":true,"status":"completed","store":false,"tool_choice":"auto","tools":[],"usage":{"input_tokens":15,"input_tokens_details":{"cache_write_tokens":2,"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":19}},"sequence_number":25,"type":"response.completed"}

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
          "created_at": 1767225600,
          "error": null,
          "id": "resp_scripted_1",
          "incomplete_details": null,
          "model": "scripted",
          "object": "response",
          "output": [
            {
              "encrypted_content": "c2lnbmVkca79b4d0839c6c64",
              "id": "rs_1_0",
              "summary": [
                {
                  "text": "Two files.",
                  "type": "summary_text"
                }
              ],
              "type": "reasoning"
            },
            {
              "content": [
                {
                  "annotations": [],
                  "text": "I read both of them.",
                  "type": "output_text"
                }
              ],
              "id": "msg_1_1",
              "role": "assistant",
              "status": "completed",
              "type": "message"
            },
            {
              "arguments": "{\"path\":\"a.rs\"}",
              "call_id": "call_0_1",
              "id": "fc_1_2",
              "name": "Read",
              "status": "completed",
              "type": "function_call"
            },
            {
              "arguments": "{\"path\":\"src/b.rs\"}",
              "call_id": "call_0_2",
              "id": "fc_1_3",
              "name": "Read",
              "status": "completed",
              "type": "function_call"
            }
          ],
          "parallel_tool_calls": true,
          "status": "completed",
          "store": false,
          "tool_choice": "auto",
          "tools": [],
          "usage": {
            "input_tokens": 15,
            "input_tokens_details": {
              "cache_write_tokens": 2,
              "cached_tokens": 3
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
