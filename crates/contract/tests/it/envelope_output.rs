//! Outputs of other tools in the `envelope` contract.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sortie_contract::{CONTRACTS, Contract, Envelope, OutputCall, contract};
use sortie_protocol::{Fault, Payload, ToolOutput};

const ARGUMENTS: &str = r#"{"path": "src", "limit": 2.50}"#;

fn call(arguments: &str) -> OutputCall<'_> {
    OutputCall { arguments, tool: "LS", cwd: "src/deep", elapsed: Duration::from_micros(1700), full_text_path: None }
}

fn encode(output: &ToolOutput) -> Value {
    serde_json::from_str(&Envelope.encode_output(&call(ARGUMENTS), output)).expect("JSON")
}

fn listed(payload: Payload) -> ToolOutput {
    let data = Map::from_iter([("entries".to_owned(), json!([{"name": "a.rs", "type": "file"}]))]);
    let payload = Payload { data, ..payload };
    ToolOutput { payload: Some(Box::new(payload)), ..ToolOutput::done("a.rs", "src: 1 entry") }
}

#[test]
fn p_01_p_07_p_14_a_payload_is_the_data_of_a_success() {
    let expected = json!({
        "status": "success",
        "data": {"entries": [{"name": "a.rs", "type": "file"}]},
        "text": "src: 1 entry.",
        "stats": {"time_ms": 1},
        "context": {"cwd": "src/deep", "params_input": {"path": "src", "limit": 2.5}, "path_resolved": "src"},
    });
    assert_eq!(encode(&listed(Payload { path: Some("src".to_owned()), ..Payload::default() })), expected);
    let told = Envelope.encode_output(&call(ARGUMENTS), &listed(Payload::default()));
    assert!(told.contains(r#""params_input":{"path":"src","limit":2.50}"#), "digits as given: {told}");
    let unread = Envelope.encode_output(&call("{"), &listed(Payload::default()));
    assert!(unread.contains(r#""params_input":"{""#), "{unread}");
}

#[test]
fn p_02_p_04_p_09_an_incomplete_output_is_partial_with_reason_and_advice() {
    let notes = vec!["1 of 7 entries shown".to_owned(), "2 entries left out as asked".to_owned()];
    let whole = encode(&listed(Payload { notes: notes.clone(), ..Payload::default() }));
    assert_eq!(whole["status"], "success");
    assert_eq!(whole["text"], "src: 1 entry. Note: 1 of 7 entries shown; 2 entries left out as asked.");
    let partial = encode(&listed(Payload { notes, is_partial: true, ..Payload::default() }));
    assert_eq!(partial["status"], "partial");
    assert_eq!(
        partial["text"],
        "src: 1 entry. Partial, because not all is here: 1 of 7 entries shown; 2 entries left out as asked. \
         Use what is here, or try again with a narrower request."
    );
    assert_eq!(partial["data"], whole["data"]);
}

#[test]
fn p_05_p_08_p_15_every_fault_has_its_code_and_a_next_step() {
    for (fault, code) in [
        (Some(Fault::NotFound), "NOT_FOUND"),
        (Some(Fault::NoAccess), "ACCESS_DENIED"),
        (Some(Fault::IsDirectory), "IS_DIRECTORY"),
        (Some(Fault::Binary), "BINARY_FILE"),
        (Some(Fault::Arguments), "INVALID_PARAM"),
        (Some(Fault::NotAllowed), "PERMISSION_DENIED"),
        (Some(Fault::TimedOut), "TIMEOUT"),
        (Some(Fault::Conflict), "CONFLICT"),
        (Some(Fault::Internal), "INTERNAL_ERROR"),
        (None, "EXECUTION_ERROR"),
    ] {
        let output = ToolOutput { fault, ..ToolOutput::failure("`x` is not there.\nmore of it") };
        let value = encode(&output);
        assert_eq!(value["status"], "error");
        assert_eq!(value["data"], json!({}), "P-03");
        assert_eq!(value["error"], json!({"code": code, "message": "`x` is not there"}));
        let text = value["text"].as_str().expect("text");
        assert!(text.starts_with("`x` is not there.\nmore of it. "), "{text}");
        assert!(["Use ", "Check ", "Try "].iter().any(|step| text.contains(step)), "P-04: {text}");
    }
    let silent = encode(&ToolOutput::failure(""));
    assert_ne!(silent["error"]["message"], "", "P-05");
}

#[test]
fn p_10_a_long_output_is_cut_to_a_preview_and_kept_on_disk() {
    let text = (1..=3000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    let output = ToolOutput::done(text.clone(), "3000 lines");
    assert!(Envelope.must_spill(&output));
    let call = OutputCall { full_text_path: Some("/state/reports/Big-x"), ..call(ARGUMENTS) };
    let value: Value = serde_json::from_str(&Envelope.encode_output(&call, &output)).expect("JSON");
    assert_eq!((&value["status"], &value["data"]["truncated"]), (&json!("partial"), &json!(true)), "P-09");
    let truncation = &value["data"]["truncation"];
    assert_eq!((&truncation["original_lines"], &truncation["kept_lines"]), (&json!(3000), &json!(2000)));
    assert_eq!(truncation["full_output_path"], "/state/reports/Big-x");
    let preview = value["data"]["preview"].as_str().expect("a preview");
    assert!(text.starts_with(preview) && preview.ends_with("line 2000"));
    let said = value["text"].as_str().expect("text");
    assert!(said.contains("because") && said.contains("/state/reports/Big-x"), "P-04: {said}");

    let wide = ToolOutput::done("ä".repeat(30_000), "wide");
    assert!(Envelope.must_spill(&wide), "bytes count too");
    let value = encode(&wide);
    assert_eq!(value["data"]["truncation"]["kept_bytes"], 51_200);
    assert!(value["text"].as_str().expect("text").contains("could not be kept"), "{value:#}");
}

#[test]
fn p_11_a_page_is_never_cut() {
    let content = "line\n".repeat(3000);
    let data = Map::from_iter([("content".to_owned(), json!(content))]);
    let payload = Payload { data, is_page: true, ..Payload::default() };
    let output = ToolOutput { payload: Some(Box::new(payload)), ..ToolOutput::done(content.clone(), "x: 3000 lines") };
    assert!(!Envelope.must_spill(&output));
    let value = encode(&output);
    assert_eq!((&value["status"], &value["data"]["content"]), (&json!("success"), &json!(content)));
    assert_eq!(value["context"]["truncation_skip"], true);
}

#[test]
fn p_14_a_list_is_measured_by_its_items() {
    let of = |items: usize| {
        let matches: Value = (0..items).map(|line| json!({"file": "a", "line": line, "text": "t"})).collect();
        let data = Map::from_iter([("matches".to_owned(), matches)]);
        let payload = Payload { data, ..Payload::default() };
        ToolOutput { payload: Some(Box::new(payload)), ..ToolOutput::done("a", "some") }
    };
    assert!(!Envelope.must_spill(&of(1000)));
    assert!(Envelope.must_spill(&of(2001)));
}

#[test]
fn a_tool_without_keys_of_its_own_returns_its_text() {
    let value = encode(&ToolOutput::done("anything", ""));
    assert_eq!((&value["data"], &value["text"]), (&json!({"output": "anything"}), &json!("Done.")));
}

#[test]
fn in_every_other_contract_outputs_are_the_tools_own_text() {
    for name in CONTRACTS.iter().filter(|&&name| name != "envelope") {
        let contract = contract(name).expect("a contract");
        let output = ToolOutput::done("x\n".repeat(100_000), "x");
        assert!(!contract.defaults().structured_outputs && !contract.must_spill(&output), "{name}");
        assert_eq!(contract.encode_output(&call(ARGUMENTS), &output), output.for_model, "{name}");
    }
}

#[test]
fn p_04_the_next_step_fits_the_tool() {
    let told = |tool, fault| {
        let output = ToolOutput::failure("no.").because(fault);
        let told = Envelope.encode_output(&OutputCall { tool, ..call(ARGUMENTS) }, &output);
        let value: Value = serde_json::from_str(&told).expect("JSON");
        format!(
            "{} {}",
            value["error"]["code"].as_str().unwrap_or_default(),
            value["text"].as_str().unwrap_or_default()
        )
    };
    assert_eq!(told("Read", Fault::NoAccess), "ACCESS_DENIED no. Use a path inside the workspace that can be read.");
    assert_eq!(told("WebFetch", Fault::NoAccess), "ACCESS_DENIED no. Use a URL on the internet.");
    assert_eq!(told("WebFetch", Fault::NotFound), "NOT_FOUND no. Check the URL and try again.");
    assert_eq!(told("WebFetch", Fault::Binary), "BINARY_FILE no. Use another URL.");
    assert_eq!(
        told("Write", Fault::NotAllowed),
        "PERMISSION_DENIED no. Use a path or a tool that is allowed, or say what you could not do."
    );
    assert_eq!(told("Foo", Fault::NoSuchTool), "NOT_FOUND no. Use the tools that you have.");
}

#[test]
fn p_04_p_10_a_cut_output_reports_its_tools_omissions_first() {
    let content = "word \n".repeat(3000);
    let data = Map::from_iter([
        ("url".to_owned(), json!("http://host/")),
        ("status".to_owned(), json!(200)),
        ("content".to_owned(), json!(content)),
    ]);
    let notes = vec!["the first 18 KiB of 5120 KiB".to_owned()];
    let payload = Payload { data, notes, is_partial: true, ..Payload::default() };
    let output = ToolOutput { payload: Some(Box::new(payload)), ..ToolOutput::done(content, "http://host/: 200") };
    let call = OutputCall { full_text_path: Some("/state/reports/x"), ..call(ARGUMENTS) };
    let value: Value = serde_json::from_str(&Envelope.encode_output(&call, &output)).expect("JSON");
    assert_eq!(
        value["text"],
        "http://host/: 200. Partial, because not all is here: the first 18 KiB of 5120 KiB. \
         Partial, because the result was truncated: data.preview has 2000 of 3000 lines. \
         The result before the cut is kept for people in /state/reports/x. \
         Use the preview, or try again with a narrower request."
    );
    assert_eq!((&value["data"]["url"], &value["data"]["status"]), (&json!("http://host/"), &json!(200)));
    assert_eq!(value["data"]["content"], Value::Null, "the preview replaces it");
}

#[test]
fn p_07_long_arguments_are_replaced_by_their_length() {
    let given = json!({"file_path": "a", "content": "x".repeat(20_000), "n": 2.5}).to_string();
    let told = Envelope.encode_output(&call(&given), &listed(Payload::default()));
    let value: Value = serde_json::from_str(&told).expect("JSON");
    let input = &value["context"]["params_input"];
    assert_eq!((&input["file_path"], &input["n"]), (&json!("a"), &json!(2.5)));
    let content = input["content"].as_str().expect("a text");
    assert!(content.starts_with("xxx") && content.ends_with("… [shortened: 20000 characters in all]"), "{content}");
    let unread = Envelope.encode_output(&call(&"{".repeat(20_000)), &listed(Payload::default()));
    assert!(unread.contains("[shortened: 20000 characters in all]") && unread.len() < 2000, "{unread}");
}

#[test]
fn p_05_a_message_does_not_end_in_a_colon() {
    let output = ToolOutput::failure("`a` was not changed. Since then:\n-one\n+two").because(Fault::Conflict);
    assert_eq!(encode(&output)["error"]["message"], "`a` was not changed. Since then");
}
