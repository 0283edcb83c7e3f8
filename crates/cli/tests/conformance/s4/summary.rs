//! Parent's result: a summary and two figures.

use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Fault, ScriptedReply, reply, when};

use super::{CONTRACT, task, task_for};
use crate::world::{DONE, LONG_REPORTS, Run, WIRES, World, check_long, main_agent_calls};

fn spending(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn look(path: &str) -> ScriptedReply {
    reply::calls([reply::call("Read", json!({ "file_path": path }))])
}

#[test]
fn s4_02_s4_03_however_much_a_child_reads_its_parent_grows_by_the_summary() {
    for wire in WIRES {
        let world = World::new();
        for name in ["a", "b", "c"] {
            let line = format!("CHILD-ONLY {name} const x = require(\"x\")\n");
            world.write(&format!("workspace/{name}.ts"), &line.repeat(20_000 / line.len()));
        }
        let summary = "Found 3 files importing X: a.ts, b.ts, c.ts.";
        let script = main_agent_calls([task_for("explore", "CHILD: which files import X?")])
            .on(when::turn(0), look("a.ts"))
            .on(when::turn(1), look("b.ts"))
            .on(when::turn(2), look("c.ts"))
            .otherwise(reply::text(summary));
        let run = Run::of(&world, CONTRACT, wire, script);
        let size = |told: &crate::world::Heard| told.body.to_string().len();
        let (main, child) = (run.main_agent(), run.sub_agents());
        assert!(size(&child[3]) > 60_000, "15,000 tokens of files: {}", size(&child[3]));
        let grown = size(&main[1]) - size(&main[0]);
        assert!(grown < 2000, "less than 500 tokens: {grown}");
        assert!(main.iter().all(|told| !told.contains("CHILD-ONLY")));
        assert_eq!(run.result().json()["summary"], summary);
    }
}

#[test]
fn s4_02_a_summary_beyond_2000_tokens_is_cut_marked_and_kept_whole() {
    for contract in [CONTRACT, "child-recipe"] {
        for part in LONG_REPORTS {
            for bytes in [7000, 7900, 9000] {
                let (world, report) = (World::new(), part.repeat(bytes / part.len()));
                let script = main_agent_calls([task("CHILD")]).otherwise(reply::text(&report));
                let run = Run::of(&world, contract, "anthropic", script);
                check_long(&run.result(), &report, 7600);
            }
        }
    }
}

#[test]
fn s4_02_s4_15_a_long_summary_of_a_child_at_its_limit_is_cut_once_and_kept_whole() {
    let (world, report) = (World::new(), "One line of words, with \"quotes\".\n".repeat(400));
    let script = main_agent_calls([task("CHILD")])
        .on(when::last_contains("limit"), reply::text(&report))
        .otherwise(look("src/main.rs").usage(spending(3000, 0)));
    let run = Run::with(&world, CONTRACT, "anthropic", script, &["--set", "task_tool.max_tokens=12000"]);
    let summary = run.result().json()["summary"].as_str().unwrap().to_owned();
    let told = summary.strip_prefix("[Incomplete: the token limit was reached before the work was done]\n\n").unwrap();
    let (kept, mark) = told.rsplit_once("\n[… the report was cut here; the whole is in ").unwrap();
    assert!(report.starts_with(kept) && run.result().text.len() <= 8000);
    assert_eq!(std::fs::read_to_string(mark.trim_end_matches(']')).unwrap(), report);
}

#[test]
fn s4_15_s4_27_the_result_has_the_last_text_the_calls_and_the_tokens_of_the_child_alone() {
    for wire in WIRES {
        let calls = [
            reply::call("Read", json!({"file_path": "src/main.rs"})),
            reply::call("Grep", json!({"pattern": "login"})),
            reply::call("Forbidden", json!({})),
            // A call that did not fit did not run.
            reply::call("Read", json!({})),
            reply::raw_call("Read", "{"),
            reply::call("LS", json!({"path": 7})),
        ];
        let script = main_agent_calls([task("CHILD")])
            .on(when::turn(0), reply::text("Working.").calls(calls).usage(spending(1000, 50)))
            .on(when::turn(1), look("src/auth.rs").usage(spending(2000, 60)))
            .otherwise(reply::text("FINAL").usage(spending(3000, 70)));
        let run = Run::of(&World::new(), CONTRACT, wire, script);
        let mut result = run.result().json();
        let refused = result.as_object_mut().and_then(|result| result.shift_remove("refused")).unwrap_or_default();
        assert_eq!((&refused[0]["tool"], &refused[0]["count"]), (&json!("Forbidden"), &json!(1)));
        assert_eq!(result, json!({"summary": "FINAL", "toolCalls": 3, "tokensUsed": 6180}));
        assert!(run.main_agent().iter().all(|told| !told.contains("Working.")));
    }
}

#[test]
fn s4_15_a_broken_child_is_an_error_and_its_parent_continues() {
    for (breakdown, said) in [
        (reply::status(400), "400"),
        (reply::status(401), "401"),
        (reply::fault(Fault::Empty), "without writing anything"),
        (reply::text("half").fault(Fault::Garbage), ""),
    ] {
        let script = main_agent_calls([task("CHILD")]).otherwise(breakdown);
        let quick = ["--set", "llm.retry_base_ms=1", "--set", "llm.max_retries=1"];
        let run = Run::with(&World::new(), CONTRACT, "anthropic", script, &quick);
        let result = run.result();
        let told = result.json();
        let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["summary", "toolCalls", "tokensUsed", "error"]);
        assert!(told["error"].as_str().unwrap().contains(said), "{told}");
        assert!(result.is_error);
        assert_eq!(run.ended.stdout.trim_end(), DONE);
    }
}

#[test]
fn s4_15_an_endless_child_is_stopped() {
    let script = main_agent_calls([task_for("explore", "CHILD")])
        .on(when::last_contains("limit"), reply::text("So far: one file."))
        .otherwise(look("src/main.rs").usage(spending(1, 0)));
    let run = Run::of(&World::new(), CONTRACT, "openai-chat", script);
    assert_eq!(run.sub_agents().len(), 31, "thirty turns and a last word");
    let told = run.result().json();
    assert!(told["summary"].as_str().unwrap().starts_with("[Incomplete: the turn limit was reached"), "{told}");
    assert_eq!(told["toolCalls"], 30);
}

#[test]
fn s4_15_a_child_that_hangs_is_stopped_in_time() {
    let script = main_agent_calls([task("CHILD")]).otherwise(reply::never());
    let short = ["--set", "task_tool.default_timeout_seconds=1"];
    let run = Run::with(&World::new(), CONTRACT, "anthropic", script, &short);
    let told = run.result().json();
    assert_eq!((&told["error"], &told["summary"]), (&json!("timed out after 1000ms"), &json!("")));
    assert_eq!(run.ended.stdout.trim_end(), DONE);
}

#[test]
fn s4_15_a_child_that_ran_into_a_limit_says_so_before_its_summary() {
    let script = main_agent_calls([task("CHILD")])
        .on(when::last_contains("limit"), reply::text("So far: one file."))
        .otherwise(look("src/main.rs").usage(spending(3000, 0)));
    let run = Run::with(&World::new(), CONTRACT, "anthropic", script, &["--set", "task_tool.max_tokens=12000"]);
    let told: Value = run.result().json();
    let why = "the token limit was reached before the work was done";
    assert_eq!(told["summary"], format!("[Incomplete: {why}]\n\nSo far: one file."));
    assert_eq!(told["error"], why);
    assert!((2..=3).contains(&told["toolCalls"].as_u64().unwrap()), "as many as fit: {told}");
}

#[test]
fn s4_16_the_result_has_the_cost_if_the_price_is_known() {
    for (prices, cost) in [("input = 2\noutput = 10\n", Some(0.0025)), ("", None)] {
        let world = World::new();
        world.write("home/.config/sortie/models.toml", &format!("[[models]]\nid = \"test-model\"\n{prices}"));
        let script = main_agent_calls([task("CHILD")]).otherwise(reply::text("Done.").usage(spending(1000, 50)));
        let told = Run::of(&world, CONTRACT, "anthropic", script).result().json();
        assert_eq!((told["cost"].as_f64(), &told["tokensUsed"]), (cost, &json!(1050)));
    }
}
