//! Sub-agents in the background: started at once, polled, waited for, stopped, reported once, cleaned up.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, ScriptedServer, reply, when};

use super::{answer, arguments, with, without_id};
use crate::older::make_older;
use crate::program::{Live, wait_for};
use crate::world::{DONE, QUESTION, Run, WIRES, World, main_agent_calls};

/// Call for a sub-agent in the background.
fn started(prompt: &str) -> ScriptedPart {
    let mut arguments = arguments("Explore", prompt);
    arguments["run_in_background"] = json!(true);
    reply::call("Task", arguments)
}

/// Main agent that starts these, then makes one call about them, and then says [`DONE`].
fn asking(prompts: &[&str], tool: &str, arguments: Value) -> Script {
    Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls(prompts.iter().map(|prompt| started(prompt))))
        .on(when::prompt_contains(QUESTION).turn(1), reply::calls([reply::call(tool, arguments)]))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
}

fn start(world: &World, server: &ScriptedServer, wire: &str) -> Live {
    world.sortie(["run", "--contract", "typed", QUESTION]).on(server, wire).start()
}

/// Waits for the run, which must succeed.
fn ended(live: Live, server: ScriptedServer) -> Run {
    let run = Run { ended: live.wait(), server };
    assert_eq!((run.ended.code, run.ended.stdout.trim_end()), (0, DONE), "{:#?}", run.ended);
    run
}

/// Number of times that these words appear in the main agent's last request.
fn told(run: &Run, words: &str) -> usize {
    run.main_agent().last().unwrap().body.to_string().matches(words).count()
}

#[test]
fn k13_s3_14_s3_32_a_call_returns_at_once_and_the_report_comes_later_once() {
    for wire in WIRES {
        let world = World::new();
        let script = main_agent_calls([started("CHILD looks")])
            .on(when::turn(0), reply::calls([reply::call("Grep", json!({"pattern": "login"}))]).held_by("child"))
            .otherwise(reply::text("src/auth.rs has it."));
        let server = ScriptedServer::start(script).unwrap();
        let live = start(&world, &server, wire);
        // The main agent continues while the sub-agent has not had its first answer.
        wait_for(&server, |traffic| traffic.calls >= 3);
        server.gate("child").open();
        let run = ended(live, server);
        let launched = run.results().remove(0).json();
        let result = "Not finished: it continues in the background, and its report follows when it ends. The output file is \
                      for people.";
        let expected = json!({"success": true, "result": result, "outputFile": launched["outputFile"]});
        assert_eq!(without_id(launched.clone()), expected);
        let file = fs::read_to_string(launched["outputFile"].as_str().unwrap()).unwrap();
        assert!(file.contains("> Grep") && file.ends_with("src/auth.rs has it.\n"), "{file}");
        assert_eq!(told(&run, "src/auth.rs has it."), 1);
        assert_eq!(run.main_agent().len(), 3, "one turn to start it, one to end, one with the report");
    }
}

#[test]
fn s3_32_a_disabled_background_is_refused_by_name() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::new()).unwrap());
    world.config("[task_tool]\nbackground = false\n");
    let ended = answer(&world, &server, &with("run_in_background", json!(true)).to_string());
    let given = without_id(ended.stdout_json());
    assert_eq!((ended.code, &given["success"]), (1, &json!(false)));
    assert!(given["error"].as_str().unwrap().contains("run_in_background"), "{given}");
    let script = main_agent_calls([started("CHILD looks")]);
    let run = Run::of(&world, "typed", "anthropic", script);
    assert_eq!(without_id(run.result().json())["success"], false);
    assert!(run.sub_agents().is_empty());
}

#[test]
fn k13_s3_33_polling_returns_the_status_and_never_the_report() {
    let poll = json!({"task_id": "<task 1>", "block": false});
    let script = asking(&["CHILD looks"], "TaskOutput", poll)
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]).text("Secret thoughts."))
        .otherwise(reply::text("The report.").held_by("end"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = start(&world, &server, "anthropic");
    wait_for(&server, |traffic| traffic.calls >= 5);
    server.gate("end").open();
    let run = ended(live, server);
    let polled = run.results().remove(1);
    assert!(!polled.is_error && polled.text.contains("1 of 1 has not ended"), "{polled:#?}");
    assert!(!polled.text.contains("Secret thoughts.") && !polled.text.contains("The report."), "{polled:#?}");
    assert_eq!(told(&run, "The report."), 1, "delivered when it ended");
}

#[test]
fn k13_s3_33_waiting_returns_the_report_which_is_not_delivered_again() {
    for wire in WIRES {
        let wait = json!({"task_id": "<task 1>"});
        let script = asking(&["CHILD looks"], "TaskOutput", wait).otherwise(reply::text("The report.").held_by("end"));
        let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
        let live = start(&world, &server, wire);
        wait_for(&server, |traffic| traffic.calls >= 3);
        server.gate("end").open();
        let run = ended(live, server);
        assert!(run.results()[1].text.contains("The report."), "{:#?}", run.results());
        assert_eq!(told(&run, "The report."), 1);
        assert_eq!(run.main_agent().len(), 3, "nothing wakes it again");
    }
}

#[test]
fn k13_s3_33_waiting_ends_at_its_timeout() {
    let wait = json!({"task_id": "<task 1>", "timeout": 1});
    let script = asking(&["CHILD looks"], "TaskOutput", wait).otherwise(reply::text("The report.").held_by("end"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = start(&world, &server, "anthropic");
    // The sub-agent cannot end before the main agent has its answer.
    wait_for(&server, |traffic| traffic.calls >= 4);
    server.gate("end").open();
    let run = ended(live, server);
    let waited = run.results().remove(1);
    assert!(!waited.is_error && waited.text.contains("1 of 1 has not ended"), "{waited:#?}");
    assert_eq!(told(&run, "The report."), 1);
}

#[test]
fn k13_s3_33_an_unknown_id_is_an_error_and_spoils_no_other() {
    let both = json!({"task_ids": ["<task 1>", "agent-zzzzzzzzzzzz"]});
    let script = asking(&["CHILD looks"], "TaskOutput", both).otherwise(reply::text("The report."));
    let run = Run::of(&World::new(), "typed", "anthropic", script);
    let looked = run.results().remove(1);
    assert!(!looked.is_error && looked.text.contains("The report."), "{looked:#?}");
    assert!(looked.text.contains("there is no task `agent-zzzzzzzzzzzz` below this one"), "{looked:#?}");
    let nobody = json!({"task_id": "agent-zzzzzzzzzzzz"});
    let script = main_agent_calls([reply::call("TaskOutput", nobody)]);
    let looked = Run::of(&World::new(), "typed", "anthropic", script).result();
    assert!(looked.is_error && looked.text.contains("there is no task"), "{looked:#?}");
}

#[test]
fn s3_33_a_report_that_was_cut_is_read_whole_page_by_page() {
    let report = (1..=1000).map(|line| format!("line {line:04} of the report\n")).collect::<Vec<_>>().concat();
    let page =
        |offset: u32| reply::calls([reply::call("TaskOutput", json!({"task_id": "<task 1>", "offset": offset}))]);
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls([started("CHILD looks")]))
        .on(when::prompt_contains(QUESTION).turn(1), page(0))
        .on(when::prompt_contains(QUESTION).turn(2), page(20_000))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .otherwise(reply::text(report));
    let run = Run::of(&World::new(), "typed", "anthropic", script);
    let pages: Vec<String> = run.results().iter().skip(1).map(|result| result.text.clone()).collect();
    assert!(pages[0].contains("line 0001 of the report\nline 0002") && pages[0].contains("line 0300"), "{}", pages[0]);
    assert!(pages[0].contains("of 24,000; next offset: "), "{}", pages[0]);
    assert!(pages[1].contains("line 1000 of the report") && pages[1].contains("of 24,000: the end"), "{}", pages[1]);
}

#[test]
fn s3_14_s3_34_a_command_shows_the_status_by_an_id_with_or_without_its_prefix() {
    let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report.").held_by("end"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let live = start(&world, &server, "anthropic");
    wait_for(&server, |traffic| traffic.calls >= 3);
    let id = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    let status = |id: &str| world.sortie(["task-status", id, "--json"]).run().stdout_json();
    let letters = id.strip_prefix("agent-").unwrap();
    assert_eq!((&status(letters)["status"], &status(&id)["task_id"]), (&json!("running"), &json!(id)));
    server.gate("end").open();
    ended(live, server);
    let told = status(letters);
    assert_eq!((&told["status"], &told["text"]), (&json!("completed"), &json!("The report.")));
    assert_eq!(world.sortie(["task-status", "zzzzzzzzzzzz"]).run().code, 1);
}

#[test]
fn k13_s3_35_a_parent_stops_the_task_that_it_started() {
    let script = asking(&["CHILD looks"], "TaskStop", json!({"task_id": "<task 1>"})).otherwise(reply::never());
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let run = ended(start(&world, &server, "anthropic"), server);
    let receipt = run.results().remove(1);
    assert!(!receipt.is_error && receipt.text.contains("cancelled"), "{receipt:#?}");
    assert_eq!(world.tasks(2)[1]["status"], "cancelled");
    wait_for(&run.server, |traffic| traffic.open_connections == 0);
    assert!(run.sub_agents().len() <= 1, "no request after the stop");
}

#[test]
fn s3_36_people_see_a_background_task_and_the_commands_for_it() {
    let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report."));
    let world = World::new();
    let run = Run::of(&world, "typed", "anthropic", script);
    let id = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    for line in [
        format!("[Task running in background: {id}]\n"),
        format!("Use `sortie task-status {id}` in another terminal to check progress.\n"),
    ] {
        assert_eq!(run.ended.stderr.matches(&line).count(), 1, "{line}{}", run.ended.stderr);
    }
    assert!(!run.ended.stderr.contains("continue working"), "the run has not ended: {}", run.ended.stderr);
    let server = ScriptedServer::start(Script::always(reply::text("The report."))).unwrap();
    let arguments = json!({"description": "d", "prompt": "p", "subagent_type": "Explore", "run_in_background": true});
    let args = ["task", "--contract", "typed", "--json", &arguments.to_string()];
    let ended = world.sortie(args).on(&server, "anthropic").run();
    let id = ended.stdout_json()["agentId"].as_str().unwrap().to_owned();
    let said = format!(
        "[Task running in background: {id}]\n\
        You can continue working. Use `sortie task-status {id}` to check progress.\n"
    );
    assert_eq!(ended.stderr, said, "another process works");
}

#[test]
fn s3_37_ended_tasks_are_removed_with_their_files_and_running_ones_stay() {
    let world = World::new();
    let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report."));
    let old = Run::of(&world, "typed", "anthropic", script);
    let old_file = old.results().remove(0).json()["outputFile"].as_str().unwrap().to_owned();
    let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report.").held_by("end"));
    let server = ScriptedServer::start(script).unwrap();
    let live = start(&world, &server, "anthropic");
    wait_for(&server, |traffic| traffic.calls >= 3);
    let running = world.tasks(4)[3]["task_id"].clone();
    assert!(fs::exists(&old_file).unwrap());
    let pruned = world.sortie(["tasks", "prune", "--older-than", "0d", "--json"]).run();
    assert_eq!((pruned.code, &pruned.stdout_json()["tasks"]), (0, &json!(2)), "{pruned:#?}");
    assert!(!fs::exists(&old_file).unwrap());
    assert_eq!(world.tasks(2)[1]["task_id"], running);
    server.gate("end").open();
    let run = ended(live, server);
    assert!(fs::exists(run.results().remove(0).json()["outputFile"].as_str().unwrap()).unwrap());
}

#[test]
fn s3_37_retention_removes_old_background_tasks_by_itself_and_leaves_running_ones() {
    let world = World::new();
    let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report."));
    let old = Run::of(&world, "typed", "anthropic", script);
    let old_file = old.results().remove(0).json()["outputFile"].as_str().unwrap().to_owned();
    let old_ids: Vec<Value> = world.tasks(2).iter().map(|task| task["task_id"].clone()).collect();
    make_older(&world, 2);
    // A run looks for old tasks once a day; the next one is to look again.
    fs::remove_file(world.path("state/journal.db.pruned")).unwrap();
    let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report."));
    let kept_a_day = ["--set", "journal.retention_days=1"];
    let new = Run::with(&world, "typed", "anthropic", script, &kept_a_day);
    assert_eq!(new.ended.stdout.trim_end(), DONE, "{:#?}", new.ended);
    let left: Vec<Value> = world.tasks(2).iter().map(|task| task["task_id"].clone()).collect();
    assert!(left.len() == 2 && old_ids.iter().all(|id| !left.contains(id)), "{old_ids:?} {left:?}");
    assert!(!fs::exists(&old_file).unwrap());
    assert!(fs::exists(new.results().remove(0).json()["outputFile"].as_str().unwrap()).unwrap());
}

#[test]
fn k13_s3_32_three_simultaneous_endings_each_reach_a_parked_parent_once() {
    for wire in WIRES {
        let prompts = ["CHILD a", "CHILD b", "CHILD c"];
        let script = prompts.iter().fold(main_agent_calls(prompts.map(started)), |script, prompt| {
            script.on(when::prompt_contains(*prompt), reply::text(format!("Report of {prompt}.")).held_by("end"))
        });
        let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
        let live = start(&world, &server, wire);
        // The main agent's second answer is under way or done; the sub-agents wait for theirs.
        wait_for(&server, |traffic| traffic.calls >= 5);
        server.gate("end").open();
        let run = ended(live, server);
        for prompt in prompts {
            assert_eq!(told(&run, &format!("Report of {prompt}.")), 1, "{:#?}", run.main_agent().last());
        }
    }
}

#[test]
fn k13_s3_32_a_background_child_of_an_ended_sub_agent_reports_to_its_grandparent() {
    let world = World::new();
    let script = main_agent_calls([reply::call("Task", arguments("general-purpose", "PARENT delegates"))])
        .on(when::prompt_contains("PARENT").turn(0), reply::calls([started("CHILD looks")]))
        .on(when::prompt_contains("PARENT"), reply::status(400))
        .otherwise(reply::text("The report.").held_by("end"));
    let server = ScriptedServer::start(script).unwrap();
    let args = ["run", "--contract", "typed", "--set", "task_tool.max_depth=2", QUESTION];
    let live = world.sortie(args).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 4);
    server.gate("end").open();
    let run = ended(live, server);
    assert_eq!(told(&run, "The report."), 1, "{:#?}", run.main_agent().last());
}

#[test]
fn k13_s3_32_s3_40_a_report_is_delivered_once_although_the_program_was_gone_meanwhile() {
    for wire in WIRES {
        let script = main_agent_calls([started("CHILD looks")]).otherwise(reply::text("The report.").held_by("end"));
        let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
        let live = start(&world, &server, wire);
        wait_for(&server, |traffic| traffic.calls >= 3);
        kill_process(Pid::from_child(&live.child), Signal::KILL).unwrap();
        assert_eq!(live.wait().code, 137);
        server.gate("end").open();
        let again = world.sortie(["resume", "--contract", "typed"]).on(&server, wire).start();
        let run = ended(again, server);
        assert_eq!(told(&run, "The report."), 1, "{:#?}", run.main_agent().last());
        assert_eq!(world.tasks(2)[1]["status"], "completed");
    }
}

#[test]
fn s3_55_types_filters_isolation_background_and_resume_work_together() {
    let world = World::new();
    let script = main_agent_calls([started("CHILD finds"), reply::call("Task", arguments("Plan", "CHILD plans"))])
        .on(when::prompt_contains("finds").turn(0), reply::calls([reply::call("Glob", json!({"pattern": "**/*.rs"}))]))
        .on(when::prompt_contains("finds"), reply::text("src/auth.rs and src/main.rs"))
        .otherwise(reply::text("First this, then that."));
    let run = Run::of(&world, "typed", "anthropic", script);
    assert_eq!(run.ended.stdout.trim_end(), DONE, "{:#?}", run.ended);
    let (finds, plans) = (run.sub_agent("CHILD finds"), run.sub_agent("CHILD plans"));
    assert!(finds[1].results[0].text.contains("src/auth.rs"), "{:#?}", finds[1].results);
    assert!(!finds[0].offers("Write") && !plans[0].offers("Write") && plans[0].offers("TodoWrite"));
    assert!(!finds[1].contains("plans") && !plans[0].contains("finds") && !plans[0].contains(QUESTION));
    assert_eq!(run.results()[1].json()["result"], "First this, then that.");
    assert_eq!(told(&run, "src/auth.rs and src/main.rs"), 1);
    let id = run.results()[0].json()["agentId"].as_str().unwrap().to_owned();
    let server = ScriptedServer::start(Script::always(reply::text("No more."))).unwrap();
    let mut resuming = arguments("Explore", "Any more?");
    resuming["resume"] = json!(id);
    let resumed = answer(&world, &server, &resuming.to_string()).stdout_json();
    assert_eq!(resumed, json!({"success": true, "result": "No more.", "agentId": id}));
}
