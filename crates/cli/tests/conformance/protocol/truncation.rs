//! Results that are too long: P-09 and P-10.

use std::fs;

use serde_json::{Value, json};
use sortie_testkit::{reply, when};

use crate::s0::{answer, arguments, delegating, run, run_with};
use crate::world::{WIRES, World};

const MAX_LINES: usize = 2000;
const MAX_BYTES: usize = 51_200;

/// Result of a sub-agent with this text, and the content of the file that it names, if any.
fn reported(wire: &str, text: &str) -> (Value, Option<String>) {
    let world = World::new();
    let result = answer(&run(&world, wire, delegating(arguments("explore")).otherwise(reply::text(text))));
    let path = result["data"]["truncation"]["full_output_path"].as_str();
    let kept = path.map(|path| fs::read_to_string(path).unwrap());
    (result, kept)
}

/// Part of a text that the result shows.
fn preview<'a>(result: &'a Value, original: &str) -> &'a str {
    let (data, figures) = (&result["data"], &result["data"]["truncation"]);
    let preview = data["preview"].as_str().unwrap();
    let kept = usize::try_from(figures["kept_bytes"].as_u64().unwrap()).unwrap();
    assert_eq!(preview[..kept], original[..kept], "the beginning, byte for byte");
    assert!(preview.len() <= MAX_BYTES && preview.lines().count() <= MAX_LINES, "the mark included");
    let kept_lines = preview[..kept].matches('\n').count() + 1;
    assert_eq!(figures["kept_lines"], kept_lines, "{figures}");
    preview
}

#[test]
fn p_09_p_10_too_many_lines_become_a_preview_and_the_whole_is_on_disk() {
    let original = (1..=3000).map(|n| format!("line {n} of the report")).collect::<Vec<_>>().join("\n");
    let original = original.as_str();
    for wire in WIRES {
        let (result, on_disk) = reported(wire, original);
        assert_eq!(result["status"], "partial", "P-09");
        assert_eq!(on_disk.as_deref(), Some(original));
        let data = result["data"].as_object().unwrap();
        let keys: Vec<&String> = data.keys().collect();
        let expected = ["status", "truncated", "truncation", "preview", "tool_summary", "model_used", "subagent_type"];
        assert_eq!(keys, expected, "in place of `result`");
        assert_eq!(data["truncated"], true);
        let figures = &data["truncation"];
        let keys: Vec<&String> = figures.as_object().unwrap().keys().collect();
        let expected = [
            "direction",
            "max_lines",
            "max_bytes",
            "head_tail_lines",
            "original_lines",
            "original_bytes",
            "kept_lines",
            "kept_bytes",
            "full_output_path",
        ];
        assert_eq!(keys, expected);
        assert_eq!((&figures["direction"], &figures["head_tail_lines"]), (&json!("head"), &Value::Null));
        assert_eq!((&figures["max_lines"], &figures["max_bytes"]), (&json!(MAX_LINES), &json!(MAX_BYTES)));
        assert_eq!(figures["original_lines"], 3000);
        assert_eq!(figures["original_bytes"], original.len());
        assert!(preview(&result, original).starts_with("line 1 of the report\nline 2 of"));
        let text = result["text"].as_str().unwrap();
        assert!(text.contains(figures["full_output_path"].as_str().unwrap()), "the next step: {text}");
    }
}

#[test]
fn p_09_p_10_too_many_bytes_are_cut_between_characters() {
    for original in ["ä".repeat(40_000), "🦀".repeat(30_000), format!("x{}", "…".repeat(20_000))] {
        let (result, on_disk) = reported("anthropic", &original);
        assert_eq!(result["status"], "partial", "P-09");
        assert_eq!(on_disk.as_deref(), Some(&*original));
        let preview = preview(&result, &original);
        assert!(preview.len() > MAX_BYTES - 1000, "no more is lost than has to be: {}", preview.len());
        assert_eq!(result["data"]["truncation"]["original_bytes"], original.len());
    }
}

#[test]
fn p_10_a_result_at_the_limit_is_whole() {
    for original in ["x".repeat(MAX_BYTES), vec!["x"; MAX_LINES].join("\n")] {
        let (result, on_disk) = reported("openai-chat", &original);
        assert_eq!((&result["status"], &on_disk), (&json!("success"), &None));
        assert_eq!(result["data"]["result"], original);
    }
}

#[test]
fn p_09_an_error_stays_an_error_however_long_the_text_so_far() {
    let long = reply::text("line\n".repeat(3000)).calls([reply::call("LS", json!({}))]);
    let script = delegating(arguments("explore")).on(when::turn(0), long).otherwise(reply::never());
    let world = World::new();
    let run = run_with(&world, "anthropic", script, &["--set", "task_tool.default_timeout_seconds=1"]);
    let result = answer(&run);
    assert_eq!((&result["status"], &result["data"]), (&json!("error"), &json!({})));
    assert_eq!(result["error"]["code"], "TIMEOUT");
    assert!(result["text"].as_str().unwrap().len() < MAX_BYTES + 1000, "and is bounded all the same");
}
