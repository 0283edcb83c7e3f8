//! `sortie task` in the background: answered at once, done by another process.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::background::held;
use crate::hooks_at_work::with_hook;
use crate::world::World;

#[test]
fn a_request_for_a_disabled_feature_names_the_setting() {
    for contract in ["typed", "sortie"] {
        let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("x"))).unwrap());
        let request = json!({
            "description": "Find it", "prompt": "CHILD", "subagent_type": "Explore", "run_in_background": true
        });
        let off = ["task", "--contract", contract, "--set", "task_tool.background=false", "--json"];
        let ended = world.sortie(off).arg(request.to_string()).on(&server, "anthropic").run();
        let answer = ended.stdout_json();
        assert_eq!(ended.code, 1, "{ended:#?}");
        assert!(answer.to_string().contains("`run_in_background` is switched off here"), "{answer}");
        if contract == "typed" {
            assert_eq!(answer["success"], false);
        }
        assert_eq!(server.traffic().calls, 0);
    }
}

#[test]
fn a_background_delegation_is_answered_at_once_and_runs_in_its_own_process() {
    let request = json!({
        "description": "Find it", "prompt": "CHILD", "subagent_type": "Explore", "run_in_background": true
    });
    for (contract, id, file) in [("typed", "agentId", "outputFile"), ("sortie", "task_id", "output_file")] {
        for stdin in [false, true] {
            let (world, server) = (World::new(), held(true));
            let json = if stdin { "-".to_owned() } else { request.to_string() };
            let task = world.sortie(["task", "--contract", contract, "--json", &json]).on(&server, "anthropic");
            let ended = if stdin { task.stdin(request.to_string()) } else { task }.run();
            let answer = ended.stdout_json();
            let task = answer[id].as_str().unwrap();
            let said = format!(
                "[Task running in background: {task}]\n\
                You can continue working. Use `sortie task-status {task}` to check progress.\n"
            );
            assert_eq!((ended.code, ended.stderr), (0, said), "{answer}");
            assert_eq!(world.tasks(1)[0]["status"], "running", "{answer}");
            let following = world.sortie(["tasks", "output", task, "--follow"]).start();
            server.gate("child").open();
            server.gate("end").open();
            assert_eq!(following.wait().code, 0);
            let output = std::fs::read_to_string(answer[file].as_str().unwrap()).unwrap();
            assert!(output.contains("> LS") && output.ends_with("The child's report.\n"), "{output}");
        }
    }
}

#[test]
fn the_output_file_has_every_later_leg_too() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("Report."))).unwrap());
    let ask = |request: serde_json::Value| {
        let args = ["task", "--json", &request.to_string()];
        let launched = world.sortie(args).on(&server, "anthropic").run().stdout_json();
        let task = launched["task_id"].as_str().unwrap().to_owned();
        assert_eq!(world.sortie(["tasks", "output", &task, "--follow"]).run().code, 0);
        (task, launched["output_file"].as_str().unwrap().to_owned())
    };
    let (task, file) = ask(json!({"description": "d", "prompt": "CHILD", "run_in_background": true}));
    let told = || fs::read_to_string(&file).unwrap();
    let legs = || told().matches("\nReport.\n").count();
    assert!(!told().contains("resumed, ") && legs() == 1, "{}", told());
    assert_eq!(world.sortie(["resume", &task, "MORE"]).on(&server, "anthropic").run().code, 0);
    assert!(told().contains("\nresumed, ") && told().contains(": MORE\n") && legs() == 2, "{}", told());
    let more = json!({"description": "d", "prompt": "THIRD", "resume": task, "run_in_background": true});
    assert_eq!(ask(more), (task, file.clone()));
    assert!(told().contains(": THIRD\n") && legs() == 3, "{}", told());
}

#[test]
fn a_background_delegation_that_cannot_start_is_refused_like_any_other() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::new()).unwrap());
    let refused = |background: bool| {
        let request = json!({
            "description": "Find it", "prompt": "CHILD", "subagent_type": "nobody", "run_in_background": background
        });
        let ended = world.sortie(["task", "--json", &request.to_string()]).on(&server, "anthropic").run();
        let mut answer = ended.stdout_json();
        answer["task_id"].take();
        (ended.code, answer)
    };
    assert_eq!(refused(true), refused(false));
    assert_eq!(refused(true).0, 1);
    assert!(world.kept_nothing());
}

#[test]
fn f55_a_background_delegation_gets_an_immediate_refusal_if_nobody_can_be_asked() {
    let write = reply::call("Write", json!({"file_path": "notes.md", "content": "hello\n"}));
    let script = Script::new().on(when::turn(0), reply::calls([write])).otherwise(reply::text("It was refused."));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let request = json!({"description": "Write it", "prompt": "CHILD", "run_in_background": true});
    let ended = world.sortie(["task", "--json", &request.to_string()]).on(&server, "anthropic").run();
    let task = ended.stdout_json()["task_id"].as_str().unwrap().to_owned();
    let followed = world.sortie(["tasks", "output", &task, "--follow"]).run();
    assert!(followed.code == 0 && followed.stdout.ends_with("It was refused.\n"), "{followed:#?}");
    let told = server.requests().last().unwrap().body.to_string();
    assert!(told.contains("nobody can be asked here") && told.contains("`Edit(/notes.md)`"), "{told}");
    assert!(!world.path("workspace/notes.md").exists());
}

#[test]
fn complaints_about_hooks_appear_where_the_task_is_inspected() {
    let world = with_hook("task_ended", "echo broken >&2; exit 1\n", "");
    let server = ScriptedServer::start(Script::always(reply::text("Found."))).unwrap();
    let request = json!({
        "description": "Find it", "prompt": "CHILD", "subagent_type": "explore", "run_in_background": true
    });
    let ended = world.sortie(["task", "--json", &request.to_string()]).on(&server, "anthropic").run();
    let file = ended.stdout_json()["output_file"].as_str().unwrap().to_owned();
    let since = Instant::now();
    loop {
        let output = fs::read_to_string(&file).unwrap();
        if let Some((_, said)) = output.split_once("Found.\n")
            && said.ends_with('\n')
        {
            assert!(said.starts_with("warning: the hook ") && said.contains("broken"), "{output}");
            return;
        }
        assert!(since.elapsed() < Duration::from_mins(1), "{output}");
    }
}

#[test]
fn a_background_task_refuses_settings_that_can_be_read_only_once() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("Found."))).unwrap());
    let task = |background: bool| {
        let request = json!({
            "description": "Find it", "prompt": "CHILD", "subagent_type": "explore", "run_in_background": background
        });
        let task = world.sortie(["task", "--env-file", "/dev/stdin", "--json", &request.to_string()]);
        task.on(&server, "anthropic").stdin("MINE=1\n").run()
    };
    let refused = task(true);
    assert!(refused.code == 2 && refused.stderr.contains("/dev/stdin can be read only once"), "{refused:#?}");
    assert!(world.kept_nothing());
    assert_eq!(task(false).code, 0);
}
