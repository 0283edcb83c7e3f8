//! `sortie mcp` over its standard streams, as a program that starts it meets it.

mod background;
mod roots;
pub(crate) mod session;

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply};

use self::background::own_process;
use self::session::Session;
use crate::resume::{COMMAND, runs, states, wait_for_command, with_pipes};
use crate::world::{World, wait_for};

fn held() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("Done.").held_by("model"))).unwrap()
}

fn brief(more: &Value) -> Value {
    let mut arguments = json!({"description": "Look", "prompt": "QUESTION", "subagent_type": "explore"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"name": "Task", "arguments": arguments})
}

/// Starts a task in the server's background, and returns its id.
fn launched(session: &mut Session) -> String {
    let answer = session.ask("tools/call", brief(&json!({"run_in_background": true})));
    answer["result"]["structuredContent"]["task_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_host_lists_and_calls_without_a_key_or_a_model() {
    let world = World::new();
    let mut session = Session::open(world.sortie(["mcp", "--offline"]), &json!({}));
    let listed = session.ask("tools/list", json!({}));
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Task", "Explore", "SubagentOutput", "SubagentStop", "SubagentMessage", "SubagentList"]);
    let arguments = json!({"description": "Find", "prompt": "Where is AuthError?", "subagent_type": "explore"});
    let answer = session.ask("tools/call", json!({"name": "Task", "arguments": arguments}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["status"], "completed");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("src/auth.rs"), "{answer}");
    let notices = &answer["result"]["structuredContent"]["notices"];
    assert_eq!(notices, &json!(["answered by fixed rules (`offline`), not by a language model"]));
    let (code, stderr) = session.close();
    assert_eq!((code, stderr.as_str()), (0, ""));
}

#[test]
fn without_a_model_a_host_is_told_so_unless_it_names_the_rules() {
    let world = World::new();
    let mut session = Session::open(world.sortie(["mcp"]), &json!({}));
    let answer = session.ask("tools/call", brief(&json!({})));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let refused = &answer["result"]["structuredContent"];
    assert_eq!((&refused["status"], &refused["error"]["code"]), (&json!("rejected"), &json!("no_model")), "{answer}");
    let answer = session.ask("tools/call", brief(&json!({"model": "offline"})));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(answer["result"]["structuredContent"]["notices"].to_string().contains("by fixed rules"), "{answer}");
    assert_eq!(session.close().0, 0);
}

#[test]
fn another_contract_has_its_own_tool_and_words() {
    let world = World::new();
    let mut session = Session::open(world.sortie(["mcp", "--contract", "delegate"]), &json!({}));
    let answer = session.ask("tools/call", json!({"name": "task", "arguments": {}}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(session.close().0, 0);
}

#[test]
fn a_call_that_is_cancelled_ends_its_commands() {
    let world = with_pipes();
    let script = Script::always(reply::calls([reply::call("Bash", json!({"command": COMMAND}))]));
    let server = ScriptedServer::start(script).unwrap();
    let mut session = Session::open(world.sortie(["mcp", "--allow", "Bash"]).on(&server, "anthropic"), &json!({}));
    let call = session.send("tools/call", brief(&json!({"subagent_type": "general-purpose"})));
    wait_for_command(&world);
    assert!(runs(&world));
    session.notify("notifications/cancelled", &json!({"requestId": call}));
    let since = Instant::now();
    while runs(&world) || states(&world) != ["cancelled"] {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", states(&world));
    }
    // The server is still there, and has not answered the call.
    assert_eq!(session.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(session.close().0, 0);
}

#[test]
fn a_call_is_interrupted_when_its_host_has_gone_and_can_be_resumed() {
    let (world, server) = (World::new(), held());
    let mut session = Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    session.send("tools/call", brief(&json!({})));
    wait_for(&server, |traffic| traffic.in_flight == 1);
    assert_eq!(session.close().0, 0);
    assert_eq!(states(&world), ["interrupted"]);
    server.gate("model").open();
    assert_eq!(world.sortie(["resume"]).on(&server, "anthropic").run().code, 0);
    assert_eq!(states(&world), ["completed"]);
}

#[test]
fn the_end_does_not_wait_for_a_host_that_does_not_read_its_answers() {
    for by_signal in [false, true] {
        let (world, server) = (World::new(), held());
        let mut session = Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
        session.send("tools/call", brief(&json!({})));
        wait_for(&server, |traffic| traffic.in_flight == 1);
        // More than a pipe takes.
        for _ in 0..100 {
            session.send("tools/list", json!({}));
        }
        if by_signal {
            kill_process(Pid::from_child(&session.child), Signal::TERM).unwrap();
            session.child.wait().unwrap();
        }
        assert_eq!(session.close().0, if by_signal { 143 } else { 0 });
        assert_eq!(states(&world), ["interrupted"]);
    }
}

#[test]
fn background_work_is_left_for_resume_by_a_setting() {
    let (world, server) = (World::new(), held());
    let invocation = world.sortie(["mcp", "--set", "mcp.finish_background=false"]).on(&server, "anthropic");
    let mut session = Session::open(invocation, &json!({}));
    let task = launched(&mut session);
    wait_for(&server, |traffic| traffic.in_flight == 1);
    assert_eq!(session.close().0, 0);
    assert_eq!(states(&world), ["interrupted"]);
    server.gate("model").open();
    assert_eq!(world.sortie(["resume", &task]).on(&server, "anthropic").run().code, 0);
}

#[test]
fn a_handle_outlives_its_server_and_shows_how_to_resume_its_task() {
    let (world, server) = (World::new(), held());
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut session = Session::open_newest(world.sortie(["mcp"]).on(&server, "anthropic"), &tasks);
    let handle = session.ask("tools/call", brief(&json!({})));
    let task = json!({"taskId": handle["result"]["taskId"]});
    assert_eq!(handle["result"]["status"], "working", "{handle}");
    wait_for(&server, |traffic| traffic.in_flight == 1);
    session.child.kill().unwrap();
    session.close();
    kill_process(own_process(&world), Signal::KILL).unwrap();
    wait_for(&server, |traffic| traffic.open_connections == 0);
    server.gate("model").open();

    // A host that can ask nobody is told what it can do.
    let mut session = Session::open_newest(world.sortie(["mcp"]).on(&server, "anthropic"), &tasks);
    let got = session.ask("tasks/get", task.clone());
    assert_eq!(got["result"]["status"], "failed", "{got}");
    let error = got["result"]["error"]["message"].as_str().unwrap();
    assert!(error.contains("SubagentMessage") && error.contains("sortie resume"), "{error}");
    session.close();

    // A host that can ask is asked, and the answer resumes the task.
    let asking = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut session = Session::open_newest(world.sortie(["mcp"]).on(&server, "anthropic"), &asking);
    let got = session.ask("tasks/get", task.clone());
    assert_eq!(got["result"]["status"], "input_required", "{got}");
    assert_eq!(got["result"]["inputRequests"]["resume"]["method"], "elicitation/create");
    let mut answered =
        |answer| session.ask("tasks/update", json!({"taskId": task["taskId"], "inputResponses": {"resume": answer}}));
    // A question that is dismissed, or not understood, stays open.
    assert!(answered(json!({"action": "cancel"})).get("error").is_none());
    assert_eq!(answered(json!({}))["error"]["code"], -32602);
    let updated = answered(json!({"action": "accept", "content": {"resume": true}}));
    assert!(updated.get("error").is_none(), "{updated}");
    // The task finishes, whether the host is there or not.
    session.close();
    let mut session = Session::open_newest(world.sortie(["mcp"]).on(&server, "anthropic"), &tasks);
    let report = session.ask("tools/call", json!({"name": "SubagentOutput", "arguments": {"task_id": task["taskId"]}}));
    assert!(report.to_string().contains("Done."), "{report}");
    let got = session.ask("tasks/get", task);
    assert_eq!(got["result"]["status"], "completed", "{got}");
    assert_eq!(got["result"]["result"]["structuredContent"]["text"], "Done.");
    session.close();
}

#[cfg(target_os = "linux")]
#[test]
fn prints_go_to_stderr_and_only_the_protocol_to_stdout() {
    let world = World::new();
    let session = Session::open(world.sortie(["mcp"]), &json!({}));
    let leads_to = |stream: u32| fs::read_link(format!("/proc/{}/fd/{stream}", session.child.id())).unwrap();
    assert_eq!(leads_to(1), leads_to(2), "a print, or a panic, anywhere in the process or below it");
    session.close();
}

#[test]
fn an_agents_own_command_cannot_serve_tools_beyond_its_grant() {
    let world = World::new();
    let refused = world.sortie(["mcp"]).env("SORTIE_TASK", "agent-aaaaaaaaaaaa").run();
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{refused:#?}");
    assert!(refused.stderr.contains("only a person may"), "{}", refused.stderr);
}

#[test]
fn calls_of_a_host_are_admitted_in_the_order_of_their_arrival() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("done"))).unwrap();
    let invocation = world.sortie(["mcp", "--set", "task_tool.max_concurrent=1"]).on(&server, "anthropic");
    let mut session = Session::open(invocation, &json!({}));
    let prompts: Vec<String> = (0..8).map(|number| format!("CALL {number}")).collect();
    for prompt in &prompts {
        session.send("tools/call", brief(&json!({"prompt": prompt})));
    }
    wait_for(&server, |traffic| traffic.calls == 8 && traffic.in_flight == 0);
    assert_eq!(session.close().0, 0);
    let asked = |body: &Value| prompts.iter().find(|prompt| body.to_string().contains(*prompt)).cloned();
    let asked: Vec<String> = server.requests().iter().filter_map(|request| asked(&request.body)).collect();
    assert_eq!(asked, prompts);
}
