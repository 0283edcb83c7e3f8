//! Exact request bodies of every wire.

use expect_test::{Expect, expect};
use serde_json::Value;
use sortie_llm::wire::for_kind;
use sortie_llm::{ModelRequest, Route, ToolChoice, WireKind};
use sortie_protocol::{Message, ToolOutput};

use crate::fixture::{call, elements, everything, outputs, reply, request, route, tools};

fn body(route: &Route, request: &ModelRequest<'_>) -> Value {
    let encoded = for_kind(route.wire).encode(route, request).unwrap();
    serde_json::from_slice(&encoded.body).unwrap()
}

fn check(wire: WireKind, expected: &Expect) {
    let (tools, messages) = (tools(), everything());
    let elements = elements(&route(wire, "https://host.example"), &request(&tools, &messages));
    let lines = elements.iter().flat_map(|(key, values)| values.iter().map(move |value| format!("{key} {value}\n")));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_history_with_everything_in_it_on_anthropic() {
    check(
        WireKind::Anthropic,
        &expect![[r#"
            max_tokens 16000
            messages {"role":"user","content":[{"type":"text","text":"Where is it?"}]}
            messages {"role":"assistant","content":[{"type":"thinking","thinking":"Hm. Größe?","signature":"c2lnbmVk46d02cd225beb602"},{"type":"text","text":"Two looks."},{"type":"tool_use","id":"call_1","name":"Read","input":{"path":"a.rs"}},{"type":"tool_use","id":"call_2","name":"Grep","input":{"pattern": "size"}}]}
            messages {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"1\tfn size() {}\n[attachment film.mp4 (video/mp4, 8 bytes) was left out: the wire anthropic carries image/png, image/jpeg, image/gif, image/webp, application/pdf]"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjcK"},"title":"paper.pdf"}]},{"type":"tool_result","tool_use_id":"call_2","content":"no such directory","is_error":true}]}
            messages {"role":"assistant","content":[{"type":"tool_use","id":"functions_Read_3_43b4d1ddcda9313b","name":"Read","input":{"malformed_arguments":"{\"path\": \"b"}}]}
            messages {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_Read_3_43b4d1ddcda9313b","content":"Error: arguments are not a JSON object","is_error":true}]}
            messages {"role":"assistant","content":[{"type":"tool_use","id":"call_4","name":"dance_now","input":{}}]}
            messages {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_4","content":"(no output)"}]}
            messages {"role":"user","content":[{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}
            messages {"role":"assistant","content":[{"type":"text","text":"It is in a.rs."}]}
            messages {"role":"user","content":[{"type":"text","text":"Thank you. And its test?","cache_control":{"type":"ephemeral"}}]}
            model "some-model"
            stream true
            system {"type":"text","text":"You explore.","cache_control":{"type":"ephemeral"}}
            tools {"name":"Read","description":"Reads.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}
            tools {"name":"Grep","description":"Greps.","input_schema":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}}
        "#]],
    );
}

#[test]
fn a_history_with_everything_in_it_on_openai_chat() {
    check(
        WireKind::OpenAiChat,
        &expect![[r#"
            messages {"role":"system","content":"You explore."}
            messages {"role":"user","content":"Where is it?"}
            messages {"role":"assistant","content":"Two looks.","reasoning_content":"Hm. Größe?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a.rs\"}"}},{"id":"call_2","type":"function","function":{"name":"Grep","arguments":"{\"pattern\": \"size\"}"}}]}
            messages {"role":"tool","content":"1\tfn size() {}\n[attachment logo.png (image/png, 8 bytes) was left out: the wire openai-chat carries text only]\n[attachment paper.pdf (application/pdf, 9 bytes) was left out: the wire openai-chat carries text only]\n[attachment film.mp4 (video/mp4, 8 bytes) was left out: the wire openai-chat carries text only]","tool_call_id":"call_1"}
            messages {"role":"tool","content":"Error: no such directory","tool_call_id":"call_2"}
            messages {"role":"assistant","content":null,"tool_calls":[{"id":"functions.Read:3","type":"function","function":{"name":"Read","arguments":"{\"malformed_arguments\":\"{\\\"path\\\": \\\"b\"}"}}]}
            messages {"role":"tool","content":"Error: arguments are not a JSON object","tool_call_id":"functions.Read:3"}
            messages {"role":"assistant","content":null,"tool_calls":[{"id":"call_4","type":"function","function":{"name":"dance_now","arguments":"{}"}}]}
            messages {"role":"tool","content":"(no output)","tool_call_id":"call_4"}
            messages {"role":"user","content":"Go on."}
            messages {"role":"assistant","content":"It is in a.rs."}
            messages {"role":"user","content":"Thank you. And its test?"}
            model "some-model"
            stream true
            stream_options {"include_usage":true}
            tools {"type":"function","function":{"name":"Read","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}
            tools {"type":"function","function":{"name":"Grep","description":"Greps.","parameters":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}}}
        "#]],
    );
}

#[test]
fn a_history_with_everything_in_it_on_openai_responses() {
    check(
        WireKind::OpenAiResponses,
        &expect![[r#"
            input {"type":"message","role":"user","content":[{"type":"input_text","text":"Where is it?"}]}
            input {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm. Größe?"}],"encrypted_content":"c2lnbmVk46d02cd225beb602"}
            input {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two looks."}]}
            input {"type":"function_call","call_id":"call_1","name":"Read","arguments":"{\"path\":\"a.rs\"}"}
            input {"type":"function_call","call_id":"call_2","name":"Grep","arguments":"{\"pattern\": \"size\"}"}
            input {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"1\tfn size() {}\n[attachment film.mp4 (video/mp4, 8 bytes) was left out: the wire openai-responses carries image/png, image/jpeg, image/gif, image/webp, application/pdf]"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_file","filename":"paper.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjcK"}]}
            input {"type":"function_call_output","call_id":"call_2","output":"Error: no such directory"}
            input {"type":"function_call","call_id":"functions.Read:3","name":"Read","arguments":"{\"malformed_arguments\":\"{\\\"path\\\": \\\"b\"}"}
            input {"type":"function_call_output","call_id":"functions.Read:3","output":"Error: arguments are not a JSON object"}
            input {"type":"function_call","call_id":"call_4","name":"dance_now","arguments":"{}"}
            input {"type":"function_call_output","call_id":"call_4","output":"(no output)"}
            input {"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}
            input {"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is in a.rs."}]}
            input {"type":"message","role":"user","content":[{"type":"input_text","text":"Thank you. And its test?"}]}
            instructions "You explore."
            model "some-model"
            store false
            stream true
            tools {"type":"function","name":"Read","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}
            tools {"type":"function","name":"Grep","description":"Greps.","parameters":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]},"strict":false}
        "#]],
    );
}

#[test]
fn the_key_goes_into_the_wires_header_and_nowhere_else() {
    let (tools, messages) = (tools(), everything());
    for (wire, header, value) in [
        (WireKind::Anthropic, "x-api-key", "sk-test-key"),
        (WireKind::Gemini, "x-goog-api-key", "sk-test-key"),
        (WireKind::OpenAiChat, "authorization", "Bearer sk-test-key"),
        (WireKind::OpenAiResponses, "authorization", "Bearer sk-test-key"),
    ] {
        let route = route(wire, "https://host.example");
        let encoded = for_kind(wire).encode(&route, &request(&tools, &messages)).unwrap();
        assert_eq!(encoded.headers[header], value);
        assert!(!format!("{encoded:?} {route:?}").contains("sk-test"), "a key must not print");

        let keyless = Route { api_key: None, ..route };
        let encoded = for_kind(wire).encode(&keyless, &request(&tools, &messages)).unwrap();
        assert!(!encoded.headers.contains_key(header));
    }
}

#[test]
fn anthropic_requests_name_their_version() {
    let encoded = for_kind(WireKind::Anthropic)
        .encode(&route(WireKind::Anthropic, "https://host.example"), &request(&[], &everything()))
        .unwrap();
    assert_eq!(encoded.headers["anthropic-version"], "2023-06-01");
}

#[test]
fn a_key_that_no_header_can_carry_is_named_with_its_setting() {
    for wire in WireKind::ALL {
        let route = Route {
            api_key: Some(sortie_llm::Secret::new("sk\n").set_in("OPENAI_API_KEY")),
            ..route(wire, "https://host.example")
        };
        let error = for_kind(wire).encode(&route, &request(&[], &everything())).unwrap_err();
        assert_eq!(error.kind, sortie_llm::ErrorKind::Setup);
        assert!(error.message.contains("OPENAI_API_KEY") && !error.message.contains("sk"), "{error}");
    }
}

#[test]
fn tools_stay_in_the_request_when_calls_are_forbidden() {
    let (tools, messages) = (tools(), everything());
    let auto = request(&tools, &messages);
    let none = ModelRequest { tool_choice: ToolChoice::None, ..auto };
    for (wire, choice) in [
        (WireKind::Anthropic, serde_json::json!({ "type": "none" })),
        (WireKind::OpenAiChat, "none".into()),
        (WireKind::OpenAiResponses, "none".into()),
    ] {
        let route = route(wire, "https://host.example");
        let mut with_choice = body(&route, &none);
        assert_eq!(with_choice["tool_choice"], choice);
        with_choice.as_object_mut().unwrap().remove("tool_choice");
        assert_eq!(with_choice, body(&route, &auto));

        let no_tools = ModelRequest { tools: &[], ..none };
        assert_eq!(body(&route, &no_tools).get("tool_choice"), None, "there is nothing to choose from");
    }
}

#[test]
fn the_output_cap_has_the_name_that_each_server_knows() {
    let messages = everything();
    let cap = |wire, base_url, max_output| {
        let route = Route { max_output, ..route(wire, base_url) };
        let body = body(&route, &request(&[], &messages));
        ["max_tokens", "max_completion_tokens", "max_output_tokens"].map(|key| body.get(key).and_then(Value::as_u64))
    };
    assert_eq!(cap(WireKind::Anthropic, "https://api.anthropic.com", None), [Some(16_000), None, None]);
    assert_eq!(cap(WireKind::Anthropic, "https://api.anthropic.com", Some(9)), [Some(9), None, None]);
    assert_eq!(cap(WireKind::OpenAiChat, "https://api.openai.com", None), [None, None, None]);
    for openai in [
        "https://api.openai.com",
        "https://eu.api.openai.com/v1",
        "https://us-1.openai.azure.com/openai/v1",
        "https://us-1.services.ai.azure.com/openai/v1",
        "https://us-1.cognitiveservices.azure.com/openai/v1",
    ] {
        assert_eq!(cap(WireKind::OpenAiChat, openai, Some(9)), [None, Some(9), None], "{openai}");
        assert_eq!(cap(WireKind::OpenAiResponses, openai, Some(9)), [None, None, Some(9)], "{openai}");
    }
    assert_eq!(cap(WireKind::OpenAiChat, "https://not-api.openai.com.example", Some(9)), [Some(9), None, None]);
    assert_eq!(cap(WireKind::OpenAiChat, "http://127.0.0.1:8080", Some(9)), [Some(9), None, None]);
    assert_eq!(cap(WireKind::OpenAiResponses, "http://127.0.0.1:8080", None), [None, None, None]);
}

#[test]
fn openai_itself_gets_no_unknown_fields() {
    let (tools, messages) = (tools(), everything());
    let route = route(WireKind::OpenAiChat, "https://api.openai.com/v1");
    assert!(!body(&route, &request(&tools, &messages)).to_string().contains("reasoning"));
}

#[test]
fn long_ids_stay_distinct_and_only_openai_gets_them_shortened() {
    let ids = ["1", "2"].map(|end| "chatcmpl-tool-".repeat(5) + end);
    let messages = [
        Message::user("Where is it?"),
        reply(ids.iter().map(|id| call(id, "Read", "{}")).collect()),
        outputs(ids.iter().map(|id| (id.as_str(), ToolOutput::done("x", "x"))).collect()),
    ];
    let sent = |wire, base_url| {
        let body = body(&route(wire, base_url), &request(&[], &messages)).to_string();
        let ids = |key: &str| -> Vec<String> {
            body.split(&format!(r#""{key}":""#))
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap().to_owned())
                .collect()
        };
        let answered = if wire == WireKind::Anthropic { ids("tool_use_id") } else { ids("tool_call_id") };
        assert_eq!(ids("id"), answered, "each output belongs to its call");
        answered
    };
    assert_eq!(sent(WireKind::Anthropic, "https://host.example"), ids);
    assert_eq!(sent(WireKind::OpenAiChat, "https://host.example"), ids);
    let shortened = sent(WireKind::OpenAiChat, "https://api.openai.com");
    assert!(shortened.iter().all(|id| id.len() <= 40 && id.starts_with("chatcmpl-tool-")), "{shortened:?}");
    assert_ne!(shortened[0], shortened[1]);
    assert_eq!(sent(WireKind::OpenAiChat, "https://api.openai.com"), shortened, "the same in every request");
}
