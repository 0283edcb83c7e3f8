//! Stopping a working sub-agent: with its main agent by Ctrl-C, which can be resumed, and by another process, alone or
//! with all.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use super::task;
use crate::program::{Live, wait_for};
use crate::world::{DONE, QUESTION, Run, WIRES, World, heard, main_agent_calls};

/// Main agent whose sub-agent works on its second request, which is never answered.
fn at_work(world: &World, wire: &str) -> (ScriptedServer, Live, [String; 2]) {
    let look = reply::calls([reply::call("Grep", json!({"pattern": "login"}))]).text("First I look.");
    let script = main_agent_calls([task("Explore", "CHILD looks")])
        .once(sortie_testkit::when::turn(0), look)
        .otherwise(reply::never());
    let server = ScriptedServer::start(script).unwrap();
    let args = ["run", "--contract", "typed", "--output-format", "json", QUESTION];
    let live = world.sortie(args).on(&server, wire).start();
    wait_for(&server, |traffic| traffic.calls >= 3);
    let ids = world.tasks(2).iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    (server, live, ids.try_into().unwrap())
}

/// States of all tasks, the main agent's first.
fn states(world: &World) -> Vec<String> {
    world.tasks(2).iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
}

/// A resumed run that was stopped sends a whole conversation, with one output for each call.
fn goes_on(world: &World, wire: &str, main: &str) {
    let server = ScriptedServer::start(Script::always(reply::text("And on."))).unwrap();
    let args = ["resume", "--contract", "typed", main, "Go on."];
    let run = Run { ended: world.sortie(args).on(&server, wire).run(), server };
    assert_eq!((run.ended.code, run.ended.stdout.as_str()), (0, "And on.\n"), "{:#?}", run.ended);
    let asked = heard(&run.server);
    assert_eq!((asked.len(), asked[0].results.len(), asked[0].messages), (1, 1, 4), "{:#?}", asked[0].body);
}

#[test]
fn s3_35_ctrl_c_stops_a_sub_agent_with_its_main_agent_and_all_requests_end() {
    for wire in WIRES {
        let world = World::new();
        let (server, live, [main, child]) = at_work(&world, wire);
        kill_process(Pid::from_child(&live.child), Signal::INT).unwrap();
        let ended = live.wait();
        assert_eq!(ended.code, 130, "{ended:#?}");
        wait_for(&server, |traffic| traffic.open_connections == 0);
        assert_eq!(server.traffic().calls, 3, "no request after the stop");
        assert_eq!(states(&world), ["interrupted", "interrupted"]);
        let outcome = ended.stdout_json();
        let statuses = (&outcome["status"], &outcome["children"][0]["status"]);
        assert_eq!(statuses, (&json!("interrupted"), &json!("interrupted")));
        let receipt = world.sortie(["tasks", "stop", &main, "--json"]).run();
        assert_eq!((receipt.code, receipt.stdout_json()["stopped"].clone()), (0, json!([main, child])));
        let shown = world.sortie(["tasks", "show", &child, "--json"]).run().stdout_json();
        assert_eq!((&shown["status"], &shown["text"]), (&json!("cancelled"), &json!("First I look.")));
        goes_on(&world, wire, &main);
    }
}

#[test]
fn s3_35_another_process_stops_a_main_agent_with_its_sub_agent() {
    for wire in WIRES {
        let world = World::new();
        let (server, live, [main, child]) = at_work(&world, wire);
        let receipt = world.sortie(["tasks", "stop", &main, "--json"]).run();
        assert_eq!((receipt.code, receipt.stdout_json()["stopped"].clone()), (0, json!([main, child])));
        assert_eq!(live.wait().stdout_json()["status"], "cancelled");
        wait_for(&server, |traffic| traffic.open_connections == 0);
        assert_eq!((server.traffic().calls, states(&world)), (3, vec!["cancelled".to_owned(); 2]));
        goes_on(&world, wire, &main);
    }
}

#[test]
fn s3_35_a_sub_agent_is_stopped_alone_and_its_main_agent_is_told() {
    let world = World::new();
    let (server, live, [_, child]) = at_work(&world, "anthropic");
    let receipt = world.sortie(["tasks", "stop", &child, "--json"]).run();
    assert_eq!((receipt.code, receipt.stdout_json()["stopped"].clone()), (0, json!([child])));
    let run = Run { ended: live.wait(), server };
    assert_eq!((run.ended.code, run.ended.stdout_json()["text"].clone()), (0, json!(DONE)));
    let result = run.result().json();
    assert_eq!((&result["success"], &result["agentId"]), (&json!(false), &json!(child)), "{result}");
    assert!(result["error"].as_str().unwrap().contains("cancelled"), "{result}");
    assert_eq!(states(&world), ["completed", "cancelled"]);
    assert_eq!(run.sub_agent("CHILD looks").len(), 2, "no request of the sub-agent after the stop");
}
