//! Purpose, scope and concepts: S0-01 to S0-20.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, ScriptedServer, reply, when};

use super::errand::{CHILD, answer, answers, arguments, delegating, notices, run, run_with, task};
use crate::program::wait_for;
use crate::world::{DONE, Heard, QUESTION, Run, WIRES, World, heard, main_agent_calls};

#[test]
fn s0_01_the_main_agent_delegates_through_a_tool_named_task_and_gets_the_answer() {
    for wire in WIRES {
        let run = run(&World::new(), wire, delegating(arguments("general")).otherwise(reply::text("FINAL")));
        assert!(run.main_agent()[0].offers("Task"));
        assert_eq!(run.sub_agents().len(), 1, "a second conversation");
        assert_eq!(answer(&run)["data"]["result"], "FINAL");
        assert_eq!((run.ended.code, run.ended.stdout), (0, format!("{DONE}\n")));
    }
}

#[test]
fn s0_16_nothing_is_delegated_unless_the_main_agent_calls_the_tool() {
    let run = run(&World::new(), "anthropic", Script::always(reply::text("I know it myself.")));
    assert_eq!(heard(&run.server).len(), 1);
    assert!(run.main_agent()[0].offers("Task"), "it could have");
}

/// Main agent that delegates twice in sequence, with text before and between.
fn twice() -> Script {
    let brief = |prompt: &str| task(json!({"description": "d", "prompt": prompt, "subagent_type": "general"}));
    Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::text("SECRET-THOUGHT").calls([brief("CHILD one")]))
        .on(when::prompt_contains(QUESTION).turn(1), reply::calls([brief("CHILD two")]))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .on(
            when::prompt_contains("CHILD one").turn(0),
            reply::calls([reply::call("Read", json!({"file_path": "src/auth.rs"}))]),
        )
        .on(when::prompt_contains("CHILD one"), reply::text("FIRST-REPORT"))
        .on(when::prompt_contains("CHILD two"), reply::text("SECOND-REPORT"))
}

#[test]
fn s0_02_a_sub_agent_sees_nothing_of_the_main_agents_conversation() {
    for wire in WIRES {
        let run = run(&World::new(), wire, twice());
        assert!(run.main_agent()[1].contains("SECRET-THOUGHT"));
        assert_eq!(run.sub_agents().len(), 3);
        for heard in run.sub_agents() {
            assert!(!heard.contains("SECRET-THOUGHT") && !heard.contains(QUESTION), "{heard:#?}");
        }
    }
}

/// Main agent that reads, and then delegates with these fields added to its call.
fn forking(fields: &Value) -> Script {
    let mut call = json!({"description": "d", "prompt": "CHILD forks", "subagent_type": "explore"});
    call.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Script::new()
        .on(when::last_contains("CHILD forks"), reply::text("REPORT"))
        .on(
            when::turn(0),
            reply::text("PARENTS-THOUGHT").calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]),
        )
        .on(when::turn(1), reply::calls([task(call)]))
        .otherwise(reply::text(DONE))
}

#[test]
fn s0_12_a_sub_agent_sees_the_main_agents_messages_only_if_the_call_forks_them() {
    for wire in WIRES {
        for (fields, is_forked) in [(json!({}), false), (json!({"fork": false}), false), (json!({"fork": true}), true)]
        {
            let run = Run::of(&World::new(), "sortie", wire, forking(&fields));
            assert_eq!(run.ended.stdout, format!("{DONE}\n"), "{:#?}", run.ended);
            let is_child = |heard: &&Heard| heard.contains("CHILD forks") && !heard.offers("Task");
            let all = heard(&run.server);
            let child = all.iter().find(is_child).unwrap();
            for words in [QUESTION, "PARENTS-THOUGHT", "mod auth;"] {
                assert_eq!(child.contains(words), is_forked, "{fields} {words}: {child:#?}");
            }
        }
        // This contract has no such field: its sub-agents never see the main agent's messages.
        let run = run(&World::new(), wire, forking(&json!({"fork": true})));
        assert!(run.sub_agent("CHILD forks").iter().all(|heard| !heard.contains("PARENTS-THOUGHT")));
        assert_eq!(run.sub_agent("CHILD forks").len(), 1);
    }
}

#[test]
fn s0_06_s0_18_a_sub_agent_has_messages_and_a_system_prompt_of_its_own() {
    for wire in WIRES {
        let run = run(&World::new(), wire, twice());
        let (main, child) = (&run.main_agent()[0], &run.sub_agents()[0]);
        assert_eq!((child.messages, child.prompt.as_str()), (1, "CHILD one"));
        assert!(!child.system.is_empty() && child.system != main.system);
        assert!(!child.system.contains(&main.system));
    }
}

#[test]
fn s0_17_a_sub_agent_sees_nothing_of_another_one() {
    for wire in WIRES {
        let run = run(&World::new(), wire, twice());
        let [second] = &run.sub_agent("CHILD two")[..] else { panic!("one request") };
        assert_eq!(second.messages, 1);
        assert!(!second.contains("FIRST-REPORT") && !second.contains("CHILD one"), "{second:#?}");
        assert_eq!(answers(&run).len(), 2, "the main agent has both");
    }
}

#[test]
fn s0_02_the_main_agent_sees_the_report_and_none_of_the_sub_agents_work() {
    for wire in WIRES {
        let run = run(&World::new(), wire, twice());
        assert!(run.sub_agent("CHILD one")[1].contains("pub fn login"), "the sub-agent read it");
        for heard in run.main_agent() {
            assert!(!heard.contains("pub fn login"), "{heard:#?}");
        }
    }
}

#[test]
fn s0_05_a_call_returns_when_its_sub_agent_has_ended() {
    let script = delegating(arguments("general"))
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::text("FINAL"));
    let run = run(&World::new(), "openai-chat", script);
    let by_main: Vec<bool> = heard(&run.server).iter().map(|heard| heard.prompt.contains(QUESTION)).collect();
    assert_eq!(by_main, [true, false, false, true]);
    assert_eq!(answer(&run)["data"]["status"], "completed");
}

#[test]
fn s0_05_calls_of_one_turn_run_one_after_the_other_and_are_all_answered() {
    let calls = ["one", "two", "three"]
        .map(|name| task(json!({"description": name, "prompt": format!("CHILD {name}"), "subagent_type": "general"})));
    let script = main_agent_calls(calls)
        .on(when::prompt_contains("CHILD one"), reply::text("REPORT one").after_ms(50))
        .on(when::prompt_contains("CHILD two"), reply::text("REPORT two").after_ms(50))
        .on(when::prompt_contains("CHILD three"), reply::text("REPORT three").after_ms(50));
    let run = run(&World::new(), "anthropic", script);
    assert_eq!(run.server.traffic().max_in_flight, 1);
    let results: Vec<Value> = answers(&run).iter().map(|answer| answer["data"]["result"].clone()).collect();
    assert_eq!(results, ["REPORT one", "REPORT two", "REPORT three"], "in the order of the calls");
}

#[test]
fn s0_05_s0_10_neither_background_nor_resume_is_offered_and_asking_for_them_changes_nothing() {
    let mut asked = arguments("general");
    asked["run_in_background"] = json!(true);
    asked["resume"] = json!("agent-aaaaaaaaaaaa");
    let script = delegating(asked.clone()).otherwise(reply::text("FINAL"));
    let run = run_with(&World::new(), "anthropic", script, &["--output-format", "stream-json"]);
    let main = &run.main_agent()[0];
    for companion in ["TaskOutput", "TaskStop", "TaskList", "SendMessage", "Ask", "Note"] {
        assert!(!main.offers(companion), "{:?}", main.tool_names());
    }
    let schema = &main.tool("Task").schema;
    let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["description", "prompt", "subagent_type", "model"]);

    let answer = answer(&run);
    assert_eq!((&answer["status"], &answer["data"]["result"]), (&json!("success"), &json!("FINAL")));
    assert_eq!(answer["context"]["params_input"], asked);
    assert_eq!(run.sub_agents()[0].prompt, CHILD);
    for key in ["run_in_background", "resume"] {
        assert!(notices(&run).contains(&format!("unknown key `{key}` was ignored")), "{:#?}", run.ended);
    }
}

#[test]
fn s0_10_background_and_polling_are_there_in_our_own_contract_and_the_call_waits_here() {
    let mut asked = json!({"description": "Find it", "prompt": CHILD, "subagent_type": "general"});
    asked["run_in_background"] = json!(true);
    let world = World::new();
    let server =
        ScriptedServer::start(delegating(asked.clone()).otherwise(reply::text("FINAL").held_by("end"))).unwrap();
    let live = world.sortie(["run", "--contract", "envelope", QUESTION]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls == 2 && traffic.in_flight == 1);
    server.gate("end").open();
    let run = Run { ended: live.wait(), server };
    assert_eq!((run.ended.code, run.main_agent().len()), (0, 2), "{:#?}", run.ended);
    assert_eq!(answer(&run)["data"]["result"], "FINAL", "the call waited for the sub-agent");

    asked["subagent_type"] = json!("explore");
    let poll = task_output();
    let script = Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls([task(asked)]))
        .on(when::prompt_contains(QUESTION).turn(1), reply::calls([poll]))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
        .otherwise(reply::text("FINAL"));
    let run = Run::of(&World::new(), "sortie", "anthropic", script);
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    let [launched, polled] = &run.results()[..] else { panic!("{:#?}", run.results()) };
    assert!(!launched.text.contains("FINAL"), "it was started alone: {launched:?}");
    assert!(polled.text.contains("FINAL"), "{polled:?}");
}

/// Call that polls the main agent's first task until it ends.
fn task_output() -> ScriptedPart {
    reply::call("TaskOutput", json!({"task_id": "<task 1>", "block": true}))
}

#[test]
fn s0_13_a_sub_agents_step_is_reported_while_it_is_still_at_work() {
    let script = delegating(arguments("general"))
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::text("FINAL").held_by("end"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let args = ["run", "--contract", "envelope", "--output-format", "stream-json", QUESTION];
    let mut program = world.sortie(args).on(&server, "anthropic").into_command();
    let mut child = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The sub-agent's last answer is held until its first call has been read here.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let of_child = |line: &String| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["depth"] == 1 && event["type"] == "call_started" && event["call"]["tool"] == "LS"
    };
    assert!(lines.any(|line| of_child(&line)), "it ended without the event");
    server.gate("end").open();
    let last: Value = serde_json::from_str(&lines.last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["depth"]), (&json!("outcome"), &json!(0)));
    assert!(child.wait().unwrap().success());
}

#[test]
fn s0_13_a_sub_agents_steps_are_reported_as_they_happen() {
    let script = delegating(arguments("general"))
        .on(when::turn(0), reply::calls([reply::call("LS", json!({}))]))
        .otherwise(reply::text("FINAL"));
    let run = run_with(&World::new(), "anthropic", script, &["--output-format", "stream-json"]);
    let events: Vec<Value> = run.ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at = |wanted: &dyn Fn(&Value) -> bool| events.iter().position(wanted).unwrap_or_else(|| panic!("{events:#?}"));
    let of_child = at(&|event| event["depth"] == 1 && event["type"] == "call_started" && event["call"]["tool"] == "LS");
    let of_main = at(&|event| event["depth"] == 0 && event["type"] == "call_finished");
    let outcome = at(&|event| event["type"] == "outcome" && event["depth"] == 0);
    assert!(of_child < of_main && of_main < outcome, "{events:#?}");
}

#[test]
fn s0_14_an_agent_file_is_picked_up_elsewhere_and_leaves_these_types_as_they_are() {
    let world = World::new();
    world.write("workspace/.sortie/agents/wizard.md", "---\nname: wizard\ndescription: conjures\n---\nConjure.\n");
    let call = || delegating(arguments("wizard")).otherwise(reply::text("FINAL"));

    let elsewhere = Run::of(&world, "sortie", "anthropic", call());
    assert!(elsewhere.sub_agents()[0].system.starts_with("Conjure."));

    let here = run(&world, "anthropic", call());
    let offered = here.main_agent()[0].tool("Task").clone();
    assert_eq!(offered.schema["properties"]["subagent_type"]["enum"], json!(["general", "explore", "summary", "plan"]));
    assert!(!offered.description.contains("wizard"));
    assert_eq!(answer(&here)["error"]["code"], "INVALID_PARAM");
    assert!(here.sub_agents().is_empty());
}
