//! Commands that were cut off with their process: what the model and the person learn of them when their task resumes.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::resume::{COMMAND, commanding, id, kill, last_sent, recorded, wait_for_command, with_pipes};
use crate::world::World;

const LOST: &str = "The program was stopped and has resumed. Your background commands no longer run: bash_1 `";

/// Run that was killed while its command ran in the background. Once told, it asks for the output of that command, and
/// starts another.
fn killed() -> (World, ScriptedServer) {
    let world = with_pipes();
    let start = |command: &str| reply::call("Bash", json!({"command": command, "run_in_background": true}));
    let look = reply::call("BashOutput", json!({"bash_id": "bash_1"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([start(COMMAND)]))
        .on(when::last_contains("no longer run"), reply::calls([look, start("true")]))
        .on(when::last_contains("bash_1 was ended"), reply::text("I know."))
        .on(when::last_contains("MORE"), reply::text("Nothing more."))
        .otherwise(reply::text("It runs.").held_by("model"));
    let server = ScriptedServer::start(script).unwrap();
    let live = world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").start();
    wait_for_command(&world);
    // Before that is on disk, the call itself is of unknown result.
    recorded(&world, "call_finished");
    kill(live);
    (world, server)
}

fn go_on(world: &World, server: &ScriptedServer, args: &[&str]) -> Value {
    let flags = ["--allow", "Bash", "--output-format", "json"];
    let ended = world.sortie(["resume"].iter().chain(args).chain(&flags)).on(server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    ended.stdout_json()
}

#[test]
fn a_lost_background_command_is_reported_once_and_its_name_is_not_reused() {
    let (world, server) = killed();
    let outcome = go_on(&world, &server, &[]);
    assert_eq!(outcome["text"], "I know.");
    let notices = outcome["notices"].to_string();
    assert!(
        notices.contains("commands in the background were ended when the program was stopped: bash_1 `"),
        "{notices}"
    );
    assert!(notices.contains("files that they changed may be missing from files_changed"), "{notices}");
    let sent = last_sent(&server, "QUESTION");
    assert!(sent.contains("bash_1 was ended when the program was stopped: its effects are unknown"), "{sent}");
    assert!(sent.contains("bash_2 runs in the background"), "{sent}");

    let task = outcome["task_id"].as_str().unwrap();
    let again = go_on(&world, &server, &[task, "MORE"]);
    assert_eq!(again["text"], "Nothing more.");
    assert!(!again["notices"].to_string().contains("when the program was stopped"), "{again}");
    assert_eq!(last_sent(&server, "QUESTION").matches(LOST).count(), 1);
}

#[test]
fn lost_commands_are_in_the_outcome_of_a_stop_and_in_the_resumed_conversation() {
    let (world, server) = killed();
    let task = id(&world.tasks(1)[0]);
    assert_eq!(world.sortie(["tasks", "stop", &task]).run().code, 0);
    let shown = world.sortie(["tasks", "show", &task, "--json"]).run().stdout;
    assert!(shown.contains("commands in the background were ended when the program was stopped: bash_1"), "{shown}");
    let outcome = go_on(&world, &server, &[&task, "Go on"]);
    assert_eq!(outcome["text"], "I know.");
    assert_eq!(last_sent(&server, "QUESTION").matches(LOST).count(), 1);
}

#[test]
fn files_changed_by_an_interrupted_command_are_reported_as_unknown() {
    for command in ["resume", "stop"] {
        let (world, server) = (with_pipes(), commanding(false));
        let live = world.sortie(["run", "--allow", "Bash", "QUESTION"]).on(&server, "anthropic").start();
        wait_for_command(&world);
        kill(live);
        let task = id(&world.tasks(1)[0]);
        if command == "stop" {
            assert_eq!(world.sortie(["tasks", "stop", &task]).run().code, 0);
        } else {
            go_on(&world, &server, &[]);
        }
        let shown = world.sortie(["tasks", "show", &task, "--json"]).run().stdout;
        assert!(shown.contains("was interrupted: files that it changed may be missing from files_changed"), "{shown}");
    }
}
