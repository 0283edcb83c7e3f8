//! Refused calls are counted where programs and people look, also after a restart.

use rustix::process::Signal;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::resume::send;
use crate::world::{World, wait_for};

/// Model that makes three calls that need approval, and then answers.
fn refused() -> ScriptedServer {
    let write = |name: &str| reply::call("Write", json!({"file_path": name, "content": "x"}));
    let bash = reply::call("Bash", json!({"command": "true"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([write("a.txt"), bash, write("b.txt")]))
        .otherwise(reply::text("I could not.").held_by("end"));
    ScriptedServer::start(script).unwrap()
}

fn assert_counted(outcome: &Value) {
    let refused = outcome["refused"].as_array().unwrap_or_else(|| panic!("{outcome}"));
    let counts: Vec<Value> = refused.iter().map(|one| json!([one["tool"], one["count"]])).collect();
    assert_eq!(counts, [json!(["Write", 2]), json!(["Bash", 1])]);
    let reason = refused[0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("nobody can be asked here"), "{reason}");
}

#[test]
fn a_run_counts_its_refused_calls_by_tool_with_the_reason() {
    let (world, server) = (World::new(), refused());
    server.gate("end").open();
    let json = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").run();
    assert_counted(&json.stdout_json());
    let text = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    let last = text.stderr.lines().last().unwrap_or_default();
    assert!(last.ends_with(" · 3 calls refused"), "{last}");
}

#[test]
fn refused_calls_are_still_counted_after_a_restart() {
    let (world, server) = (World::new(), refused());
    let live = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").start();
    wait_for(&server, |traffic| traffic.calls == 2);
    send(&live, Signal::KILL);
    live.wait();
    server.gate("end").open();
    let ended = world.sortie(["resume", "--output-format", "json"]).on(&server, "anthropic").run();
    assert_counted(&ended.stdout_json());
}
