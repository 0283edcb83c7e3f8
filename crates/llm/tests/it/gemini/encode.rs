//! Requests: their addresses, options and files.

use expect_test::{Expect, expect};
use serde_json::Value;
use sortie_llm::wire::for_kind;
use sortie_llm::{ErrorKind, ModelRequest, Route, ToolChoice};
use sortie_protocol::{Message, ToolOutput};
use sortie_testkit::{Script, ScriptedServer, reply as scripted};

use super::{EARLY, SIGNING, WIRE, google, to};
use crate::caller::{ONE_TRY, call as ask, open};
use crate::fixture::{attachment, call, elements, everything, outputs, reply, request, route, tools};

fn url(base_url: &str, model: &str) -> String {
    let messages = [Message::user("Where is it?")];
    for_kind(WIRE).encode(&route(WIRE, base_url), &to(model, &[], &messages)).unwrap().url.to_string()
}

#[test]
fn the_model_is_part_of_the_path_and_a_query_survives() {
    let host = "https://host.example";
    for (base_url, model, expected) in [
        ("", EARLY, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
        ("/", EARLY, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
        ("/v1beta/", EARLY, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
        ("/v1/publishers/google", EARLY, "/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
        ("/api?team=7", EARLY, "/api/models/gemini-2.5-flash:streamGenerateContent?team=7&alt=sse"),
        ("", "models/m", "/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("", "tunedModels/m", "/v1beta/tunedModels/m:streamGenerateContent?alt=sse"),
        ("", "google/m", "/v1beta/models/google/m:streamGenerateContent?alt=sse"),
        // An escape in an address is only text in an id.
        ("", "%2e%2e/m%3Fn", "/v1beta/models/%252e%252e/m%253Fn:streamGenerateContent?alt=sse"),
        ("", "größe", "/v1beta/models/gr%C3%B6%C3%9Fe:streamGenerateContent?alt=sse"),
    ] {
        assert_eq!(url(&format!("{host}{base_url}"), model), format!("{host}{expected}"), "{base_url} {model}");
    }
}

#[test]
fn an_id_that_would_lead_elsewhere_is_refused() {
    let messages = [Message::user("Where is it?")];
    for model in
        ["", "..", "a/../../v1/files", "models/../x", "./m", "a//b", "/m", "m/", "a?b", "a#b", "a\\b", "a b", "a\nb"]
    {
        let error = for_kind(WIRE).encode(&google(), &to(model, &[], &messages)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Setup, "{model}");
        assert_eq!(
            error.message,
            format!("`{}` cannot be part of a model's address; choose another id", model.escape_debug())
        );
    }
}

fn body(route: &Route, request: &ModelRequest<'_>) -> Value {
    serde_json::from_slice(&for_kind(WIRE).encode(route, request).unwrap().body).unwrap()
}

#[test]
fn a_history_with_everything_in_it() {
    let (tools, messages) = (tools(), everything());
    let elements = elements(&google(), &to(EARLY, &tools, &messages));
    let lines = elements.iter().flat_map(|(key, values)| values.iter().map(move |value| format!("{key} {value}\n")));
    expect![[r#"
        contents {"role":"user","parts":[{"text":"Where is it?"}]}
        contents {"role":"model","parts":[{"text":"Hm. Größe?","thought":true},{"text":"Two looks."},{"functionCall":{"name":"Read","args":{"path":"a.rs"}}},{"functionCall":{"name":"Grep","args":{"pattern": "size"}}}]}
        contents {"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"output":"1\tfn size() {}\n[attachment film.mp4 (video/mp4, 8 bytes) was left out: the wire gemini carries image/png, image/jpeg, image/webp, image/heic, image/heif, application/pdf]","attachments":["logo.png","paper.pdf"]}}},{"functionResponse":{"name":"Grep","response":{"error":"no such directory"}}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjcK"}}]}
        contents {"role":"model","parts":[{"functionCall":{"name":"Read","args":{"malformed_arguments":"{\"path\": \"b"}}}]}
        contents {"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"error":"Error: arguments are not a JSON object"}}}]}
        contents {"role":"model","parts":[{"functionCall":{"name":"dance_now","args":{}}}]}
        contents {"role":"user","parts":[{"functionResponse":{"name":"dance_now","response":{"output":"(no output)"}}}]}
        contents {"role":"user","parts":[{"text":"Go on."}]}
        contents {"role":"model","parts":[{"text":"It is in a.rs."}]}
        contents {"role":"user","parts":[{"text":"Thank you. And its test?"}]}
        generationConfig {"thinkingConfig":{"includeThoughts":true}}
        systemInstruction {"parts":[{"text":"You explore."}]}
        tools {"functionDeclarations":[{"name":"Read","description":"Reads.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},{"name":"Grep","description":"Greps.","parametersJsonSchema":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}}]}
    "#]].assert_eq(&lines.collect::<String>());
}

#[test]
fn only_thinking_models_are_asked_to_show_their_thoughts() {
    let messages = [Message::user("Where is it?")];
    let config = |model: &str, max_output| {
        body(&Route { max_output, ..google() }, &to(model, &[], &messages))["generationConfig"].to_string()
    };
    assert_eq!(config(SIGNING, None), r#"{"thinkingConfig":{"includeThoughts":true}}"#);
    assert_eq!(config(SIGNING, Some(9)), r#"{"maxOutputTokens":9,"thinkingConfig":{"includeThoughts":true}}"#);
    assert_eq!(config(EARLY, None), r#"{"thinkingConfig":{"includeThoughts":true}}"#);
    assert_eq!(config("gemini-2.0-flash", Some(9)), r#"{"maxOutputTokens":9}"#);
    assert_eq!(config("gemini-2.0-flash", None), "null");
}

#[test]
fn a_blank_system_prompt_is_left_out() {
    let messages = [Message::user("Where is it?")];
    let blank = ModelRequest { system: " \n", ..request(&[], &messages) };
    assert_eq!(body(&google(), &blank).get("systemInstruction"), None);
}

#[test]
fn calls_are_forbidden_while_the_tools_stay() {
    let (tools, messages) = (tools(), [Message::user("Where is it?")]);
    let none = ModelRequest { tool_choice: ToolChoice::None, ..request(&tools, &messages) };
    let body = body(&google(), &none);
    assert_eq!(body["toolConfig"].to_string(), r#"{"functionCallingConfig":{"mode":"NONE"}}"#);
    assert_eq!(body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), 2);
}

#[test]
fn an_output_carries_the_name_of_its_call_in_an_accepted_form() {
    let messages = [
        Message::user("Where is it?"),
        reply(vec![call("a", "Read", "{}"), call("b", "2 dance", "[1]"), call("c", "", "")]),
        outputs(vec![
            ("a", ToolOutput::done("one", "")),
            ("b", ToolOutput::failure("no such tool")),
            ("c", ToolOutput::done("", "")),
        ]),
    ];
    let sent = elements(&google(), &to(EARLY, &[], &messages));
    expect![[r#"
        {"role":"model","parts":[{"functionCall":{"name":"Read","args":{}}},{"functionCall":{"name":"_2_dance","args":{"malformed_arguments":"[1]"}}},{"functionCall":{"name":"unnamed","args":{}}}]}
        {"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"output":"one"}}},{"functionResponse":{"name":"_2_dance","response":{"error":"no such tool"}}},{"functionResponse":{"name":"unnamed","response":{"output":"(no output)"}}}]}
    "#]].assert_eq(&format!("{}\n{}\n", sent["contents"][1], sent["contents"][2]));
}

/// Two parallel calls with files of many kinds; the scripted server must accept them.
async fn check_files(model: &str, expected: &Expect) {
    let file = |name: &str, media_type: &str| attachment(name, media_type, "aGVsbG8=");
    let first = vec![file("logo.png", "image/png"), file("plan.pdf", "application/pdf")];
    let second = vec![file("photo.heic", "image/heic"), file("film.gif", "image/gif")];
    let messages = [
        Message::user("Where is it?"),
        reply(vec![call("a", "Read", "{}"), call("b", "Read", "{}")]),
        outputs(vec![
            ("a", ToolOutput::done("Two files.", "").with_attachments(first)),
            ("b", ToolOutput::done("", "").with_attachments(second)),
        ]),
    ];
    let sent = elements(&google(), &to(model, &[], &messages));
    expected.assert_eq(&sent["contents"][2]);
    let server = ScriptedServer::start(Script::always(scripted::text("Seen."))).unwrap();
    let asked = open(route(WIRE, &server.base_url()), ONE_TRY);
    assert_eq!(
        ask(asked.as_ref(), to(model, &[], &messages)).await.1.map(|reply| reply.text()),
        Ok("Seen.".to_owned())
    );
}

#[tokio::test]
async fn later_models_take_files_inside_an_output() {
    check_files(SIGNING, &expect![[r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"Read","response":{"output":"Two files."},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGVsbG8=","displayName":"logo.png"}},{"inlineData":{"mimeType":"application/pdf","data":"aGVsbG8=","displayName":"plan.pdf"}}]}},{"functionResponse":{"id":"b","name":"Read","response":{"output":"[attachment film.gif (image/gif, 5 bytes) was left out: the wire gemini carries image/png, image/jpeg, image/webp, image/heic, image/heif, application/pdf]","attachments":["photo.heic"]}}},{"inlineData":{"mimeType":"image/heic","data":"aGVsbG8="}}]}"#]]).await;
}

#[tokio::test]
async fn earlier_models_take_files_after_all_outputs() {
    check_files(EARLY, &expect![[r#"{"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"output":"Two files.","attachments":["logo.png","plan.pdf"]}}},{"functionResponse":{"name":"Read","response":{"output":"[attachment film.gif (image/gif, 5 bytes) was left out: the wire gemini carries image/png, image/jpeg, image/webp, image/heic, image/heif, application/pdf]","attachments":["photo.heic"]}}},{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}},{"inlineData":{"mimeType":"application/pdf","data":"aGVsbG8="}},{"inlineData":{"mimeType":"image/heic","data":"aGVsbG8="}}]}"#]]).await;
}
