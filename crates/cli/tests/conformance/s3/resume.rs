//! Resuming a sub-agent by its id: in another process, in another turn, and refusals.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::{answer, arguments, task, without_id};
use crate::program::wait_for;
use crate::world::{DONE, QUESTION, Run, WIRES, World, heard, main_agent_calls};

fn resuming(id: &str, prompt: &str) -> Value {
    let mut arguments = arguments("Explore", prompt);
    arguments["resume"] = json!(id);
    arguments
}

/// World after a main agent had a sub-agent look at something, and the ids of both.
fn after_a_run(wire: &str) -> (World, Run, [String; 2]) {
    let world = World::new();
    let script = main_agent_calls([task("Explore", "CHILD looks")])
        .on(when::turn(0), reply::calls([reply::call("Grep", json!({"pattern": "login"}))]))
        .otherwise(reply::text("src/auth.rs:1 has it"));
    let run = Run::with(&world, "typed", wire, script, &["--output-format", "json"]);
    let outcome = run.ended.stdout_json();
    let id = |outcome: &Value| outcome["task_id"].as_str().unwrap().to_owned();
    let ids = [id(&outcome), id(&outcome["children"][0])];
    (world, run, ids)
}

/// Message of a refused resume, for a program with these flags.
fn refusal(world: &World, id: &str, flags: &[&str]) -> String {
    let server = ScriptedServer::start(Script::new()).unwrap();
    let arguments = resuming(id, "And now?").to_string();
    let args = [&["task", "--contract", "typed", "--json", &arguments], flags].concat();
    let ended = world.sortie(args).on(&server, "anthropic").run();
    let given = without_id(ended.stdout_json());
    assert_eq!((ended.code, &given["success"], server.requests().len()), (1, &json!(false), 0), "{given}");
    given["error"].as_str().unwrap().to_owned()
}

#[test]
fn s3_10_s3_38_s3_39_s3_40_an_agent_id_resumes_in_another_process_with_its_conversation() {
    for wire in WIRES {
        let (world, run, [_, child]) = after_a_run(wire);
        assert_eq!(run.result().json()["agentId"], child.as_str());
        let server = ScriptedServer::start(Script::always(reply::text("In line 2."))).unwrap();
        let args = ["task", "--contract", "typed", "--json", &resuming(&child, "In which line?").to_string()];
        let ended = world.sortie(args).on(&server, wire).run();
        assert_eq!(ended.stdout_json(), json!({"success": true, "result": "In line 2.", "agentId": child}));
        let (before, after) = (run.sub_agent("CHILD looks").pop().unwrap(), heard(&server));
        assert_eq!((after.len(), after[0].messages), (1, before.messages + 2), "the answer and the new prompt");
        assert_eq!((&after[0].prompt, &after[0].system), (&before.prompt, &before.system));
        assert_eq!((after[0].results.clone(), after[0].tool_names()), (before.results.clone(), before.tool_names()));
        assert!(after[0].contains("In which line?"));
    }
}

#[test]
fn s3_10_s3_40_a_resumed_main_agent_can_resume_its_sub_agent() {
    for wire in WIRES {
        let (world, _, [main, child]) = after_a_run(wire);
        let script = Script::new()
            .on(when::last_contains("FOLLOW-UP"), reply::calls([reply::call("Task", resuming(&child, "Which line?"))]))
            .on(when::prompt_contains(QUESTION), reply::text(DONE))
            .otherwise(reply::text("In line 2."));
        let server = ScriptedServer::start(script).unwrap();
        let args = ["resume", "--contract", "typed", &main, "FOLLOW-UP"];
        let run = Run { ended: world.sortie(args).on(&server, wire).run(), server };
        assert_eq!((run.ended.code, run.ended.stdout.as_str()), (0, &*format!("{DONE}\n")), "{:#?}", run.ended);
        let last = run.results().pop().unwrap().json();
        assert_eq!(last, json!({"success": true, "result": "In line 2.", "agentId": child}));
        assert_eq!(run.sub_agent("CHILD looks").len(), 1);
    }
}

#[test]
fn s3_38_s3_41_an_id_that_is_unknown_expired_or_switched_off_is_a_clear_error() {
    let (world, _, [_, child]) = after_a_run("anthropic");
    for unknown in ["agent-zzzzzzzzzzzz", "the one before"] {
        assert_eq!(refusal(&world, unknown, &[]), format!("Resume failed: there is no task `{unknown}`"));
    }
    let expired = refusal(&world, &child, &["--set", "task_tool.resume_days=0"]);
    assert!(expired.starts_with(&format!("Resume failed: {child} has expired: it ended 0 days ago")), "{expired}");
    let off = refusal(&world, &child, &["--set", "task_tool.resume=false"]);
    assert!(off.starts_with("Resume failed: resuming a task is switched off"), "{off}");
    let denied = refusal(&world, &child, &["--deny", "Task(Explore)"]);
    assert!(denied.starts_with("Resume failed: `explore` was not started: "), "{denied}");
}

#[test]
fn s3_41_a_working_sub_agent_cannot_be_resumed() {
    let world = World::new();
    let script = main_agent_calls([task("Explore", "CHILD looks")]).otherwise(reply::text("Done.").held_by("child"));
    let server = ScriptedServer::start(script).unwrap();
    let live = world.sortie(["run", "--contract", "typed", QUESTION]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls >= 2);
    let tasks = world.tasks(2);
    let id = tasks[1]["task_id"].as_str().unwrap();
    let error = refusal(&world, id, &[]);
    let pid = live.child.id();
    assert_eq!(error, format!("Resume failed: {id} is still running, in process {pid}; wait for it, or stop it first"));
    server.gate("child").open();
    assert_eq!(live.wait().code, 0);
}

#[test]
fn s3_41_another_agents_sub_agent_cannot_be_resumed() {
    let (world, _, [_, child]) = after_a_run("anthropic");
    let script = main_agent_calls([reply::call("Task", resuming(&child, "And now?"))]);
    let run = Run::of(&world, "typed", "anthropic", script);
    let why = format!("{child} is not a sub-agent of this task; only its parent can resume it");
    assert_eq!(without_id(run.result().json()), json!({"success": false, "error": format!("Resume failed: {why}")}));
    assert!(run.sub_agents().is_empty());
    let server = ScriptedServer::start(Script::always(reply::text("Here."))).unwrap();
    let by_a_person = answer(&world, &server, &resuming(&child, "And now?").to_string());
    assert_eq!(by_a_person.stdout_json()["result"], "Here.");
}
