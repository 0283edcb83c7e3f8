//! Child session: clean, restricted, short-lived, and on record.

use serde_json::{Value, json};
use sortie_testkit::{Fault, Script, ScriptedServer, StatusFault, reply, when};

use super::{CONTRACT, task, task_for};
use crate::program::wait_for;
use crate::world::{DONE, QUESTION, Run, WIRES, World, main_agent_calls};

#[test]
fn s4_01_s4_18_s4_25_a_child_begins_with_its_prompt_and_nothing_else() {
    for wire in WIRES {
        let world = World::new();
        let look = reply::call("Read", json!({"file_path": "src/main.rs"}));
        let script = Script::new()
            .on(when::prompt_contains(QUESTION).turn(0), reply::text("PARENT-ONLY").calls([look]))
            .on(when::prompt_contains(QUESTION).turn(1), reply::calls([task("CHILD: that variable we discussed")]))
            .on(when::prompt_contains(QUESTION).turn(2), reply::calls([task("SECOND: look again")]))
            .on(when::prompt_contains(QUESTION), reply::text(DONE))
            .on(when::prompt_contains("CHILD"), reply::text("FIRST-REPORT: which variable?"))
            .otherwise(reply::text("Done below."));
        let run = Run::of(&world, CONTRACT, wire, script);
        let child = run.sub_agent("CHILD").remove(0);
        assert_eq!((child.messages, child.prompt.as_str()), (1, "CHILD: that variable we discussed"));
        for alien in ["PARENT-ONLY", QUESTION, "mod auth", "Search X usages"] {
            assert!(!child.contains(alien), "{alien}");
        }
        assert!(!run.sub_agent("SECOND").remove(0).contains("FIRST-REPORT"), "nor of an earlier child");
    }
}

/// Recorded tasks, the newest first.
fn kept(world: &World) -> Vec<Value> {
    world.sortie(["tasks", "list", "--all", "--json"]).run().stdout_json().as_array().unwrap().clone()
}

#[test]
fn s4_01_s4_10_s4_14_a_child_session_has_its_parents_id_its_type_and_the_description_as_its_title() {
    let world = World::new();
    let script = main_agent_calls([task_for("explore", "CHILD looks")]).otherwise(reply::text("Done below."));
    Run::of(&world, CONTRACT, "anthropic", script);
    let tasks = kept(&world);
    let (root, child) = (&tasks[1], &tasks[0]);
    assert_eq!((&child["parent_id"], &child["depth"]), (&root["task_id"], &json!(1)));
    assert_eq!((&child["agent"], &child["title"]), (&json!("explore"), &json!("Search X usages")));
    assert_eq!(root.get("parent_id"), None);
}

#[test]
fn s4_04_a_child_has_gone_when_its_parent_continues_and_its_log_stays() {
    let world = World::new();
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls([task("CHILD looks")]))
        .on(when::prompt_contains(QUESTION), reply::text(DONE).held_by("parent"))
        .otherwise(reply::text("Done below."));
    let server = ScriptedServer::start(script).unwrap();
    let live = world.sortie(["run", "--contract", CONTRACT, QUESTION]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls == 3 && traffic.in_flight == 1);
    let status = |task: &Value| task["status"].as_str().unwrap().to_owned();
    let tasks = kept(&world);
    assert_eq!([status(&tasks[0]), status(&tasks[1])], ["completed", "running"], "the child and its parent");
    server.gate("parent").open();
    assert_eq!(live.wait().code, 0);
    assert_eq!(status(&kept(&world)[0]), "completed");
}

#[test]
fn s4_12_s4_23_a_child_can_neither_delegate_nor_write_the_task_list() {
    let forced = ["task", "Task", "TASK", "todowrite", "TodoWrite", "TODOWRITE", "Agent"];
    for wire in WIRES {
        for agent in ["general-purpose", "explore", "plan"] {
            let call = |tool: &&str| {
                let arguments = json!({"description": "d", "prompt": "GRANDCHILD", "todos": []});
                reply::call(*tool, arguments)
            };
            let script = main_agent_calls([task_for(agent, "CHILD looks")])
                .on(when::prompt_contains("CHILD looks").turn(0), reply::calls(forced.iter().map(call)))
                .otherwise(reply::text("Done below."));
            // Deep enough that depth is not what hides the tool.
            let world = World::new();
            world.config("[task_tool]\nmax_depth = 3\n");
            let run = Run::of(&world, CONTRACT, wire, script);
            let child = run.sub_agent("CHILD looks");
            let offered: Vec<String> = child[0].tool_names().iter().map(|tool| tool.to_lowercase()).collect();
            assert!(!offered.iter().any(|tool| tool == "task" || tool == "todowrite"), "{offered:?}");
            assert!(child[0].offers("Read") && child[0].offers("Grep"), "what else the parent has: {offered:?}");
            assert_eq!(child[1].results.len(), forced.len());
            let refused = |text: &str| text.contains("is not granted") || text.contains("There is no tool");
            assert!(child[1].results.iter().all(|result| refused(&result.text)), "{:#?}", child[1].results);
            assert!(child[1].results[0].text.contains("is not granted"), "{:#?}", child[1].results[0]);
            assert_eq!(run.sub_agents().len(), 2, "no grandchild");
            let main = run.main_agent().remove(0);
            assert!(main.offers("task") && main.offers("TodoWrite"), "its parent has both");
            assert_eq!(run.result().json()["toolCalls"], 0, "what was refused is not counted");
            assert_eq!(run.ended.stdout.trim_end(), DONE);
        }
    }
}

#[test]
fn s4_13_a_child_runs_the_same_loop_as_its_parent() {
    let world = World::new();
    let look = |path: &str| reply::call("Read", json!({ "file_path": path }));
    let both = || reply::calls([look("src/main.rs"), look("src/auth.rs")]);
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), both())
        .on(when::prompt_contains(QUESTION).turn(1), reply::calls([task("CHILD looks")]))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .on(when::turn(0), both())
        .once(when::turn(1), reply::status(500))
        .once(when::turn(1), reply::text("cut").fault(Fault::CutAfter(30)))
        .otherwise(reply::text("Done below."));
    let run = Run::with(&world, CONTRACT, "anthropic", script, &["--set", "llm.retry_base_ms=1"]);
    let (main, child) = (run.main_agent(), run.sub_agent("CHILD looks"));
    assert_eq!(child[1].results, main[1].results, "several calls in a turn, run and answered alike");
    assert_eq!(child.len(), 4, "two tries failed and were made again, as a main agent's are");
    assert_eq!(run.results()[2].json()["summary"], "Done below.");
}

#[test]
fn s4_21_a_wrong_summary_can_be_looked_into() {
    let world = World::new();
    let grep = reply::call("Grep", json!({"pattern": "AuthError"}));
    let script = main_agent_calls([task("CHILD looks")])
        .on(when::turn(0), reply::text("THINKING: errors first").calls([grep]))
        .otherwise(reply::text("There are none."));
    Run::of(&world, CONTRACT, "anthropic", script);
    let id = kept(&world)[0]["task_id"].as_str().unwrap().to_owned();
    let log = world.sortie(["tasks", "output", &id, "--follow"]).run().stdout;
    let parts = [
        "Search X usages",
        "THINKING: errors first",
        "> Grep {\"pattern\":\"AuthError\"}",
        "1 file",
        "There are none.",
    ];
    let mut rest = log.as_str();
    for part in parts {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part}, in this order: {log}"));
        rest = after;
    }
    let shown = world.sortie(["tasks", "show", &id]).run().stdout;
    assert!(shown.contains("There are none.") && shown.contains("1 call"), "{shown}");
}

#[test]
fn s4_22_a_child_that_outgrows_its_window_is_shortened_and_its_parent_has_the_report_alone() {
    let too_long = StatusFault { code: 400, retry_after: None, message: Some("prompt is too long".to_owned()) };
    let look = |n: usize| {
        let read = reply::call("Read", json!({"file_path": "src/main.rs", "offset": n}));
        reply::text(format!("LOOK-{n} {}", "and again ".repeat(100))).calls([read])
    };
    for wire in WIRES {
        let script = main_agent_calls([task("CHILD looks for long")])
            .on(when::last_contains("Sum up this conversation"), reply::text("SUMMARY of what it saw."));
        let script = (1..=6).fold(script, |script, n| script.times(1, when::any(), look(n)));
        let script = script
            .times(1, when::any(), reply::fault(Fault::Status(too_long.clone())))
            .otherwise(reply::text("Done below."));
        let world = World::new();
        let run = Run::of(&world, CONTRACT, wire, script);
        assert_eq!((run.ended.code, run.ended.stdout.as_str()), (0, format!("{DONE}\n").as_str()), "{:#?}", run.ended);
        assert_eq!(run.result().json()["summary"], "Done below.", "{wire}");
        let child = run.sub_agent("CHILD").pop().unwrap();
        assert!(child.contains("SUMMARY") && !child.contains("LOOK-1 ") && child.contains("LOOK-6 "), "{child:#?}");
        assert!(run.main_agent().iter().all(|heard| !heard.contains("LOOK-") && !heard.contains("SUMMARY")), "{wire}");
    }
}
