//! Result: a compact account of the work, also after a failure.

use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Fault, ScriptedReply, reply, when};

use super::{CONTRACT, task};
use crate::world::{DONE, LONG_REPORTS, Run, WIRES, World, check_long, main_agent_calls};

fn spending(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn look() -> ScriptedReply {
    reply::calls([reply::call("LS", json!({}))])
}

#[test]
fn s2_11_s2_13_s2_22_s2_35_s2_43_a_result_says_success_files_summary_and_tokens() {
    for wire in WIRES {
        let world = World::new();
        let script = main_agent_calls([task("CHILD work")])
            .on(when::turn(0), look().usage(spending(1000, 10)))
            .otherwise(reply::text("Found two files: a and b.").usage(spending(1230, 7)));
        let run = Run::of(&world, CONTRACT, wire, script);
        let expected = json!({
            "success": true,
            "files_modified": [],
            "summary": "Found two files: a and b.",
            "tokens_used": 2247,
        });
        assert_eq!(run.result().json(), expected, "of the sub-agent alone, all its turns");
    }
}

#[test]
fn s2_35_a_program_gets_the_same_object_and_nothing_else() {
    let world = World::new();
    let server = sortie_testkit::ScriptedServer::start(sortie_testkit::Script::always(
        reply::text("Done.").usage(spending(1005, 2)),
    ))
    .unwrap();
    let request = json!({"task": "CHILD work"}).to_string();
    let ended = world.sortie(["task", "--contract", CONTRACT, "--json", &request]).on(&server, "anthropic").run();
    let expected = json!({"success": true, "files_modified": [], "summary": "Done.", "tokens_used": 1007});
    assert_eq!((ended.code, ended.stdout_json()), (0, expected));
}

#[test]
fn s2_22_s2_73_tokens_include_those_of_descendants() {
    let world = World::new();
    let script = main_agent_calls([task("OUTER work")])
        .on(when::prompt_contains("OUTER").turn(0), reply::calls([task("INNER work")]).usage(spending(1000, 100)))
        .on(when::prompt_contains("OUTER"), reply::text("Outer done.").usage(spending(2000, 200)))
        .once(when::prompt_contains("INNER"), reply::status(500))
        .on(when::prompt_contains("INNER"), reply::text("Inner done.").usage(spending(1030, 3)));
    let run = Run::with(&world, CONTRACT, "anthropic", script, &["--set", "llm.retry_base_ms=1"]);
    let inner = run.sub_agent("OUTER")[1].results[0].json();
    assert_eq!((&inner["summary"], &inner["tokens_used"]), (&json!("Inner done."), &json!(1033)));
    let outer = run.result().json();
    assert_eq!((&outer["summary"], &outer["tokens_used"]), (&json!("Outer done."), &json!(4333)));
}

#[test]
fn s2_14_s2_44_s2_45_a_long_report_is_cut_to_2000_tokens_marked_and_kept_whole() {
    for sentence in ["A sentence of the report. ", "ein Wörtchen über Überlänge. ", "これは長い報告です。"]
    {
        let world = World::new();
        let report = sentence.repeat(40_000 / sentence.len());
        let script = main_agent_calls([task("CHILD work")]).otherwise(reply::text(&report));
        let run = Run::of(&world, CONTRACT, "anthropic", script);
        let result = run.result();
        assert!(result.text.len().div_ceil(4) <= 2000, "{} bytes", result.text.len());
        let summary = result.json()["summary"].as_str().unwrap().to_owned();
        assert_eq!(result.json()["success"], true);
        let (kept, mark) = summary.rsplit_once("\n[… the report was cut here; the whole is in ").unwrap();
        assert!(report.starts_with(kept) && kept.len() > 4000, "{} bytes", kept.len());
        assert_eq!(std::fs::read_to_string(mark.trim_end_matches(']')).unwrap(), report);
    }
}

#[test]
fn s2_14_s2_44_a_report_of_any_content_is_cut_once_and_only_if_necessary() {
    for part in LONG_REPORTS {
        for bytes in [5000, 6300, 7500] {
            let (world, report) = (World::new(), part.repeat(bytes / part.len()));
            let script = main_agent_calls([task("CHILD work")]).otherwise(reply::text(&report));
            check_long(&Run::of(&world, CONTRACT, "anthropic", script).result(), &report, 6300);
        }
    }
}

/// Failing turns of a sub-agent's model, and the message about each.
fn breakdowns() -> [(ScriptedReply, &'static str); 6] {
    [
        (reply::status(400), "400"),
        (reply::status(401), "401"),
        (reply::status(500), "500"),
        (reply::text("half an answer").fault(Fault::CutAfter(60)), ""),
        (reply::text("half an answer").fault(Fault::Garbage), ""),
        (reply::fault(Fault::Empty), ""),
    ]
}

#[test]
fn s2_13_s2_15_s2_16_s2_17_s2_34_s2_43_s2_53_s2_54_s2_78_a_broken_sub_agent_is_reported_and_its_parent_continues() {
    for wire in WIRES {
        for (breakdown, said) in breakdowns() {
            let world = World::new();
            let script = main_agent_calls([task("CHILD work")]).otherwise(breakdown.clone());
            let quick = ["--set", "llm.retry_base_ms=1", "--set", "llm.max_retries=1"];
            let run = Run::with(&world, CONTRACT, wire, script, &quick);
            assert_eq!((run.ended.code, run.ended.stdout.trim_end()), (0, DONE), "{breakdown:?}: {:#?}", run.ended);

            let result = run.result();
            let told = result.json();
            let error = told["error"].as_str().unwrap_or_else(|| panic!("{breakdown:?}: {told}"));
            let (stage, cause) = error.split_once(": ").unwrap();
            assert_eq!(stage, "the sub-agent ran but did not finish", "what failed");
            assert!(cause.len() > 10 && cause.contains(said), "why: {cause}");
            assert_eq!((&told["success"], result.is_error), (&Value::Bool(false), false));
            assert!(!told["summary"].as_str().unwrap().is_empty());

            let main = run.main_agent();
            let before = main[0].body["messages"].as_array().unwrap();
            let after = main[1].body["messages"].as_array().unwrap();
            assert_eq!(main.len(), 2);
            assert_eq!(without_cache_marks(&after[..before.len()]), without_cache_marks(before), "nothing was lost");
            assert_eq!(main[1].messages, main[0].messages + 2, "the call and its result");
        }
    }
}

/// Messages without the cache marks, which move on with every turn.
fn without_cache_marks(messages: &[Value]) -> String {
    Value::from(messages.to_vec()).to_string().replace(r#""cache_control":{"type":"ephemeral"},"#, "")
}

#[test]
fn s2_15_a_sub_agent_survives_a_passing_fault() {
    let world = World::new();
    let script = main_agent_calls([task("CHILD work")])
        .once(when::any(), reply::fault(Fault::rate_limited("0")))
        .otherwise(reply::text("Done below."));
    let run = Run::with(&world, CONTRACT, "openai-chat", script, &["--set", "llm.retry_base_ms=1"]);
    assert_eq!(run.result().json()["success"], true);
}
