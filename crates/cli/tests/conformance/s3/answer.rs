//! Result: a summary, an id always, and the reason of a failure.

use std::fs;

use serde_json::json;
use sortie_testkit::{Fault, Script, ScriptedServer, reply, when};

use super::{answer, arguments, result, task, without_id};
use crate::world::{Run, WIRES, World, main_agent_calls};

#[test]
fn s3_09_s3_29_the_main_agent_reads_success_the_result_and_the_id_of_the_task() {
    for wire in WIRES {
        let world = World::new();
        let script = main_agent_calls([task("Explore", "CHILD looks")])
            .on(when::turn(0), reply::calls([reply::call("Grep", json!({"pattern": "login"}))]))
            .otherwise(reply::text("src/auth.rs:1 has it"));
        let run = Run::with(&world, "typed", wire, script, &["--output-format", "json"]);
        assert_eq!(result(&run), json!({"success": true, "result": "src/auth.rs:1 has it"}));
        let outcome = run.ended.stdout_json();
        assert_eq!(run.result().json()["agentId"], outcome["children"][0]["task_id"]);
        assert!(!run.result().is_error);
    }
}

#[test]
fn s3_09_a_failure_has_the_id_and_the_error_and_the_main_agent_continues() {
    for (fault, said) in [
        (reply::status(401), "401"),
        (reply::status(400), "400"),
        (reply::status(500), "500"),
        (reply::text("half of it").fault(Fault::CutAfter(60)), "the connection broke"),
        (reply::text("").fault(Fault::Empty), "without writing anything"),
    ] {
        let script = main_agent_calls([task("Explore", "CHILD looks")]).otherwise(fault);
        let flags = ["--set", "llm.retry_base_ms=1", "--set", "llm.max_retries=1"];
        let run = Run::with(&World::new(), "typed", "anthropic", script, &flags);
        let given = result(&run);
        assert_eq!(given["success"], false);
        let error = given["error"].as_str().unwrap_or_else(|| panic!("{given}"));
        assert!(error.contains(said), "{said}: {error}");
        assert!(run.result().is_error);
        let keys: Vec<&String> = given.as_object().unwrap().keys().collect();
        assert!(keys.iter().all(|key| ["success", "error", "result"].contains(&key.as_str())), "{given}");
    }
}

#[test]
fn s3_09_a_program_gets_the_same_object_and_the_exit_code_says_how_it_went() {
    let world = World::new();
    let server =
        ScriptedServer::start(Script::new().once(when::any(), reply::text("Found.")).otherwise(reply::status(400)));
    let server = server.unwrap();
    let good = answer(&world, &server, &arguments("Explore", "CHILD looks").to_string());
    assert_eq!((good.code, without_id(good.stdout_json())), (0, json!({"success": true, "result": "Found."})));
    let bad = answer(&world, &server, &arguments("Explore", "CHILD looks").to_string());
    assert_eq!((bad.code, &bad.stdout_json()["success"]), (1, &json!(false)));
    assert_ne!(good.stdout_json()["agentId"], bad.stdout_json()["agentId"]);
}

/// Report of many characters, none of which has one byte.
fn long_report() -> String {
    "Größe漢字\u{1f41e}".repeat(700)
}

#[test]
fn s3_27_a_long_report_is_cut_by_characters_marked_and_kept_whole() {
    for (agent, most) in [("Explore", 1000), ("Plan", 2000), ("general-purpose", 2000)] {
        let report = long_report();
        let script = main_agent_calls([task(agent, "CHILD looks")]).otherwise(reply::text(&report));
        let world = World::new();
        let run = Run::of(&world, "typed", "anthropic", script);
        let given = result(&run);
        assert_eq!(given["success"], true);
        let text = given["result"].as_str().unwrap();
        let count = text.chars().count();
        assert!(count <= most && count > most / 2, "{agent}: {count}");
        let (kept, mark) = text.split_once("\n[… the report was cut here; TaskOutput with offset ").unwrap();
        assert!(report.starts_with(kept));
        let (offset, mark) = mark.split_once(" has the rest; for people the whole is in ").unwrap();
        assert_eq!(offset, kept.chars().count().to_string());
        assert_eq!(fs::read_to_string(mark.strip_suffix(']').unwrap()).unwrap(), report);
    }
}

#[test]
fn s3_27_a_report_that_fits_is_not_touched() {
    for (agent, most) in [("Explore", 1000), ("Plan", 2000)] {
        let report = "ä".repeat(most);
        let script = main_agent_calls([task(agent, "CHILD looks")]).otherwise(reply::text(&report));
        let run = Run::of(&World::new(), "typed", "anthropic", script);
        assert_eq!(result(&run), json!({"success": true, "result": report}));
    }
}
