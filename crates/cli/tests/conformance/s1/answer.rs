//! Result: four fields, with the last message as it is.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::{REVIEWER, answer, arguments, failed, result, task, with_agents};
use crate::world::{DONE, QUESTION, Run, WIRES, main_agent_calls};

/// Reviewer that reads three times, searches once and ends with these words.
fn reviewer(last: &str) -> Script {
    let read = |path: &str| reply::call("Read", json!({"file_path": path}));
    let look = [
        read("src/auth.rs"),
        read("src/main.rs"),
        read("src/auth.rs"),
        reply::call("Grep", json!({"pattern": "login"})),
    ];
    main_agent_calls([task(REVIEWER, "CHILD reviews\n  src/auth.rs ")])
        .on(when::turn(0), reply::text("Looking.").calls(look))
        .otherwise(reply::text(last))
}

#[test]
fn s1_09_s1_10_s1_12_s1_27_the_main_agent_reads_three_fields_and_the_last_message_to_the_letter() {
    for wire in WIRES {
        let run = Run::of(&with_agents(), "result", wire, reviewer("  A bug in\tline 2. \u{1f41e}\n\n"));
        assert_eq!(run.ended.stdout, format!("{DONE}\n"));
        let expected = json!({
            "success": true,
            "content": "  A bug in\tline 2. \u{1f41e}\n\n",
            "shortResult": "Task completed by code-reviewer",
        });
        assert_eq!(result(&run), expected);
        assert!(!run.result().is_error);
        assert_eq!((run.main_agent().len(), run.sub_agents().len()), (2, 2), "no call more than the script's");
    }
}

#[test]
fn s1_24_s1_41_a_sub_agent_sees_its_own_words_alone_and_the_main_agent_only_the_report() {
    for wire in WIRES {
        let run = Run::of(&with_agents(), "result", wire, reviewer("A bug."));
        let child = run.sub_agents();
        assert_eq!(child[0].system, "You are the code-reviewer.");
        assert_eq!((child[0].prompt.as_str(), child[0].messages), ("CHILD reviews\n  src/auth.rs ", 1));
        for heard in &child {
            assert!(!heard.contains(QUESTION) && !heard.contains(DONE));
            assert!(!heard.contains("Answers a person's request"), "nothing of the main agent's own words");
        }
        assert!(child[1].contains("pub fn login()"), "it did read the file");
        for heard in run.main_agent() {
            assert!(!heard.contains("pub fn login()") && !heard.contains("Looking."));
        }
    }
}

#[test]
fn s1_12_a_report_of_any_size_comes_back_byte_for_byte() {
    let keys =
        "AKIAIOSFODNN7EXAMPLE, ghp_abcdefghijklmnopqrstuvwxyz0123456789\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAA\n";
    let report = format!("{keys}{}   \n", "Zeile äöü 漢字 \"quoted\" \\ \u{1}\n".repeat(4000));
    assert!(report.len() > 100_000);
    let (world, script) = (with_agents(), reviewer(&report));
    let run = Run::of(&world, "result", "anthropic", script.clone());
    assert_eq!(result(&run)["content"], report.as_str());

    let server = ScriptedServer::start(script).unwrap();
    let ended = answer(&world, &server, &arguments(REVIEWER, "CHILD reviews").to_string());
    assert_eq!(ended.code, 0);
    let expected = json!({"success": true, "content": report, "shortResult": "Task completed by code-reviewer"});
    assert_eq!(ended.stdout_json(), expected);
}

#[test]
fn s1_09_s1_11_s1_14_s1_27_a_task_that_fails_at_work_says_so_in_four_fields() {
    let script = main_agent_calls([task(REVIEWER, "CHILD reviews")])
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::status(400));
    for wire in WIRES {
        let run = Run::of(&with_agents(), "result", wire, script.clone());
        let given = result(&run);
        let error = given["error"].as_str().unwrap();
        assert!(error.contains("400"), "the cause: {error}");
        let short = given["shortResult"].as_str().unwrap();
        let brief = short.strip_prefix("Task failed: ").unwrap();
        assert!(error.starts_with(brief.trim_end_matches('…')) && brief.chars().count() <= 80, "{short}");
        assert_eq!(given, failed(error, short));
    }
}

#[test]
fn s1_11_s1_14_an_empty_last_message_is_a_failure() {
    let script = main_agent_calls([task(REVIEWER, "CHILD reviews")]).otherwise(reply::text(" \n"));
    let run = Run::of(&with_agents(), "result", "anthropic", script);
    let error = "the model ended its turn without writing anything";
    assert_eq!(result(&run), failed(error, &format!("Task failed: {error}")));
    assert!(run.result().is_error);
}

#[test]
fn s1_11_s1_14_a_turn_limit_is_not_a_success_and_keeps_the_text_so_far() {
    let world = with_agents();
    super::agent_with(&world, "looper", "description: Loops\nmaxTurns: 3");
    let script = main_agent_calls([task("looper", "CHILD loops")])
        .on(when::last_contains("limit"), reply::text("Half a review."))
        .otherwise(reply::calls([reply::call("LS", json!({}))]));
    let run = Run::of(&world, "result", "anthropic", script);
    assert_eq!(run.sub_agents().len(), 4, "three turns and the report");
    let given = result(&run);
    let error = given["error"].as_str().unwrap();
    assert!(error.contains("the turn limit was reached") && error.ends_with("Half a review."), "{error}");
    assert_eq!(given, failed(error, "Task failed: the turn limit was reached before the work was done"));
}

#[test]
fn s1_09_s1_10_a_model_that_recovers_leaves_no_trace_in_the_result() {
    for fault in [reply::status(429), reply::status(500), reply::text("half").fault(sortie_testkit::Fault::Garbage)] {
        let script = main_agent_calls([task(REVIEWER, "CHILD reviews")])
            .once(when::any(), fault)
            .otherwise(reply::text("A bug."));
        let run = Run::with(&with_agents(), "result", "anthropic", script, &["--set", "llm.retry_base_ms=1"]);
        let expected = json!({"success": true, "content": "A bug.", "shortResult": "Task completed by code-reviewer"});
        assert_eq!(result(&run), expected);
        assert_eq!(run.sub_agents().len(), 2);
    }
}
