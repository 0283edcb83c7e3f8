//! Forks at each entry: from a task at work the sub-agent has its conversation, from elsewhere there is none to fork.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::mcp::session::Session;
use crate::world::World;

fn brief() -> Value {
    json!({"description": "Look", "prompt": "CHILD looks", "fork": true})
}

#[test]
fn a_main_agent_forks_itself_and_the_sub_agent_has_its_conversation() {
    let world = World::new();
    let script = Script::new()
        .on(when::last_contains("CHILD looks"), reply::text("Seen."))
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "src/auth.rs"}))]))
        .on(when::turn(1), reply::calls([reply::call("Task", brief())]))
        .otherwise(reply::text("Done."));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "openai-chat").run();
    let outcome = ended.stdout_json();
    assert_eq!(
        (&outcome["status"], &outcome["children"][0]["agent"]),
        (&json!("completed"), &json!("main")),
        "{ended:#?}"
    );
    let retried = world.sortie(["tasks", "retry", outcome["children"][0]["task_id"].as_str().unwrap()]).run();
    assert_eq!(retried.code, 2, "{retried:#?}");
    assert!(retried.stderr.contains("was forked from its parent's conversation"), "{retried:#?}");
    let bodies: Vec<Value> = server.requests().iter().map(|request| request.body.clone()).collect();
    let [_, parent, child, _] = &bodies[..] else { panic!("{bodies:#?}") };
    let (parents, childs) = (parent["messages"].as_array().unwrap(), child["messages"].as_array().unwrap());
    assert_eq!(parent["tools"], child["tools"]);
    assert_eq!((&childs[..parents.len()], childs.len()), (&parents[..], parents.len() + 1));
    assert!(childs.last().unwrap()["content"].as_str().unwrap().ends_with("CHILD looks"), "{childs:#?}");
}

#[test]
fn a_call_from_outside_every_task_has_no_conversation_to_fork() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let refusal = "there is no conversation to fork: no task makes this call; leave `fork` out";
    let json = brief().to_string();
    let by_flags = ["task", "--description", "Look", "--prompt", "CHILD looks", "--field", "fork=true"];
    for command in [vec!["task", "--json", &json], by_flags.to_vec()] {
        let ended = world.sortie(command).on(&server, "anthropic").run();
        assert_eq!(ended.code, 1, "{ended:#?}");
        assert_eq!(ended.stdout_json()["status"], "rejected", "{ended:#?}");
        assert!(ended.stdout.contains(refusal), "{ended:#?}");
    }
    let mut session = Session::open(world.sortie(["mcp"]).on(&server, "anthropic"), &json!({}));
    let answer = session.ask("tools/call", json!({"name": "Task", "arguments": brief()}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains(refusal), "{answer}");
    assert_eq!(session.close().0, 0);
    assert!(server.requests().is_empty(), "and no model was asked");
}
