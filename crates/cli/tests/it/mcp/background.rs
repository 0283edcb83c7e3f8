//! Background work of `sortie mcp`: it goes on in a process of its own, however the host ends the server.

use std::fs;
use std::os::unix::process::CommandExt as _;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::session::Session;
use super::{brief, held, launched};
use crate::resume::recorded;
use crate::resume::states;
use crate::world::{World, wait_for};

/// Process that has the newest task, as the journal knows it.
pub(super) fn own_process(world: &World) -> Pid {
    let pid: i32 = world.sql().query_row("SELECT owner_pid FROM tasks", [], |row| row.get(0)).unwrap();
    Pid::from_raw(pid).unwrap()
}

fn call(session: &mut Session, tool: &str, arguments: &Value) -> String {
    let answer = session.ask("tools/call", json!({"name": tool, "arguments": arguments}));
    answer["result"]["content"].to_string()
}

/// The end of a server, as hosts bring it about.
type Ending = fn(&mut Session);

fn end_by(session: &mut Session, signal: Signal) {
    kill_process(Pid::from_child(&session.child), signal).unwrap();
    session.child.wait().unwrap();
}

#[test]
fn background_work_goes_on_however_a_host_ends_the_server_and_the_next_session_has_its_report() {
    let endings: [(Ending, i32); 5] = [
        (Session::close_input, 0),
        (|session| end_by(session, Signal::INT), 130),
        (|session| end_by(session, Signal::TERM), 143),
        (|session| end_by(session, Signal::KILL), 137),
        // With everything that it has started, as far as a group goes.
        (|session| kill_process_group(Pid::from_child(&session.child), Signal::KILL).unwrap(), 137),
    ];
    for (ending, code) in endings {
        let (world, server) = (World::new(), held());
        let serving = || world.sortie(["mcp"]).on(&server, "anthropic");
        let mut command = serving().into_command();
        command.process_group(0);
        let mut session = Session::over(command, &json!({}));
        let task = launched(&mut session);
        wait_for(&server, |traffic| traffic.in_flight == 1);
        let own = fs::read_to_string(format!("/proc/{}/status", own_process(&world).as_raw_nonzero())).unwrap();
        let server_process = session.child.id();
        assert!(!own.contains(&format!("\nPPid:\t{server_process}\n")), "hosts end whole trees of processes: {own}");
        ending(&mut session);
        // The server's streams end with it: the process of the task has none of them.
        assert_eq!(session.close().0, code);
        assert_eq!(states(&world), ["running"]);

        let mut next = Session::open(serving(), &json!({}));
        let listed = call(&mut next, "SubagentOutput", &json!({}));
        assert!(listed.contains(&task) && listed.contains("running, turn 1"), "{listed}");
        server.gate("model").open();
        let report = call(&mut next, "SubagentOutput", &json!({"task_id": task}));
        assert!(report.contains("Done.") && report.contains("completed"), "{report}");
        assert_eq!(next.close().0, 0);
        assert_eq!(
            (states(&world), server.traffic().calls),
            (vec!["completed".to_owned()], 1),
            "nothing is done twice"
        );
    }
}

#[test]
fn an_unread_report_is_offered_once_in_whichever_session() {
    let (world, server) = (World::new(), held());
    server.gate("model").open();
    let serve = || Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    let mut session = serve();
    let nothing = call(&mut session, "SubagentOutput", &json!({}));
    assert!(nothing.contains("No sub-agent works"), "{nothing}");
    // A report that a call was answered with is no news.
    session.ask("tools/call", brief(&json!({})));
    let task = launched(&mut session);
    session.close();
    world.sortie(["tasks", "output", &task, "--follow"]).run();
    let mut session = serve();
    let report = call(&mut session, "SubagentOutput", &json!({}));
    assert!(report.contains("Done.") && report.contains(&task), "{report}");
    assert_eq!(report.matches("report of a sub-agent").count(), 1, "{report}");
    session.close();
    let mut session = serve();
    let nothing = call(&mut session, "SubagentOutput", &json!({}));
    assert!(nothing.contains("No sub-agent works"), "{nothing}");
    // By its id, it can be read again.
    assert!(call(&mut session, "SubagentOutput", &json!({"task_id": task})).contains("Done."));
    session.close();
}

#[test]
fn a_host_messages_and_stops_background_work_of_an_earlier_session() {
    let look = reply::calls([reply::call("LS", json!({"path": "."}))]).held_by("first");
    let script = Script::new()
        .on(when::last_contains("also b.rs"), reply::text("b.rs, too").held_by("second"))
        .on(when::turn(0), look)
        .otherwise(reply::text("nothing else"));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let serve = || Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    let mut session = serve();
    let task = launched(&mut session);
    wait_for(&server, |traffic| traffic.in_flight == 1);
    session.close();
    let mut session = serve();
    let sent = call(&mut session, "SubagentMessage", &json!({"to": task, "message": "also b.rs"}));
    assert!(sent.contains("delivered"), "{sent}");
    assert_eq!(recorded(&world, "message_arrived")["from"], json!({"sender": "host"}), "it is no person's");
    server.gate("first").open();
    wait_for(&server, |traffic| traffic.calls == 2 && traffic.in_flight == 1);
    let stopped = call(&mut session, "SubagentStop", &json!({"task_id": task}));
    assert!(stopped.contains("cancelled"), "{stopped}");
    session.close();
    assert_eq!(states(&world), ["cancelled"]);
}

#[test]
fn a_follow_up_outlives_its_session_too() {
    let script = Script::new()
        .on(when::last_contains("and now?"), reply::text("More.").held_by("more"))
        .otherwise(reply::text("Done."));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let serve = || Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    let mut session = serve();
    let answer = session.ask("tools/call", brief(&json!({})));
    let task = answer["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    let sent = call(&mut session, "SubagentMessage", &json!({"to": task, "message": "and now?"}));
    assert!(sent.contains("resumes"), "{sent}");
    wait_for(&server, |traffic| traffic.in_flight == 1);
    end_by(&mut session, Signal::TERM);
    session.close();
    server.gate("more").open();
    let mut session = serve();
    assert!(call(&mut session, "SubagentOutput", &json!({"task_id": task})).contains("More."));
    session.close();
}

#[test]
fn a_background_task_has_the_grant_of_its_server() {
    let write = |to: &str| reply::call("Write", json!({"file_path": to, "content": "x"}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([write("docs/a.md"), write("src/a.rs")]))
        .otherwise(reply::text("Written."));
    let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
    let invocation = world.sortie(["mcp", "--allow", "Edit(docs/**)"]).on(&server, "anthropic");
    // No form reaches the host from there.
    let mut session = Session::open(invocation, &json!({"elicitation": {"form": {}}}));
    let more = json!({"run_in_background": true, "subagent_type": "general-purpose"});
    let answer = session.ask("tools/call", brief(&more));
    let task = answer["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    assert!(call(&mut session, "SubagentOutput", &json!({"task_id": task})).contains("Written."));
    session.close();
    assert!(world.path("workspace/docs/a.md").exists() && !world.path("workspace/src/a.rs").exists());
    let told = server.requests().last().unwrap().body.to_string();
    assert!(told.contains("nobody can be asked here"), "{told}");
}

#[test]
fn a_background_task_on_fixed_rules_says_so() {
    let (world, server) = (World::new(), held());
    let mut session = Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    let answer = session.ask("tools/call", brief(&json!({"run_in_background": true, "model": "offline"})));
    let task = answer["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    let report = call(&mut session, "SubagentOutput", &json!({"task_id": task}));
    assert!(report.contains("answered by fixed rules"), "{report}");
    session.close();
    assert_eq!(server.traffic().calls, 0);
}

#[test]
fn a_background_process_that_cannot_start_says_why() {
    let (world, server) = (World::new(), held());
    let config = world.config("");
    let mut session = Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    fs::write(&config, "nonsense = [").unwrap();
    let answer = session.ask("tools/call", brief(&json!({"run_in_background": true})));
    let text = answer["result"].to_string();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text.contains("did not start") && text.contains("config.toml"), "{text}");
    assert_eq!(session.close().0, 0);
}

#[test]
fn background_work_on_the_hosts_own_model_is_interrupted_when_the_host_goes() {
    let world = World::new();
    let mut session = Session::open(world.sortie(["mcp"]), &json!({"sampling": {"tools": {}}}));
    launched(&mut session);
    assert_eq!(session.close().0, 0);
    assert_eq!(states(&world), ["interrupted"]);
}
