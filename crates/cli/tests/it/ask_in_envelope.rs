//! Questions to a person from the contract `envelope`, whose tools never ask by themselves: only the user's rules do.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::ask::Session;
use crate::world::World;

const CHOICES: &str = "[n]o (and why) ";

/// Sub-agent that reads, writes, and reports.
fn script() -> Script {
    let task = json!({"description": "Look", "prompt": "CHILD looks", "subagent_type": "general"});
    let write = json!({"file_path": "src/new.rs", "content": "new"});
    Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION"), reply::text("DONE"))
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "src/auth.rs"}))]))
        .on(when::turn(1), reply::calls([reply::call("Write", write)]))
        .otherwise(reply::text("FINAL"))
}

/// Results of the sub-agent's calls, as objects of the protocol.
fn results(server: &ScriptedServer) -> Vec<Value> {
    let bodies: Vec<Value> = server.requests().iter().map(|request| request.body.clone()).collect();
    let is_child = |body: &&Value| body["messages"][0].to_string().contains("CHILD looks");
    let messages = bodies.iter().rfind(is_child).unwrap()["messages"].as_array().unwrap().clone();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let texts = blocks.filter(|block| block["type"] == "tool_result").map(|block| block["content"].as_str().unwrap());
    texts.map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn a_person_at_a_terminal_is_asked_by_the_users_own_rules_and_the_answer_counts() {
    for (answer, status) in [("y\n", "success"), ("n not that one\n", "error")] {
        let world = World::new();
        let server = ScriptedServer::start(script()).unwrap();
        let flags = ["run", "--contract", "envelope", "--ask", "Read(src/**)", "--allow", "Write", "QUESTION"];
        let mut session = Session::start(world.sortie(flags).on(&server, "anthropic"));
        let asked = session.sees(CHOICES);
        assert!(asked.contains("Read") && asked.contains("src/auth.rs"), "{asked}");
        session.types(answer);
        assert_eq!(session.ends(), (0, "DONE\n".to_owned()));
        let [read, write] = &results(&server)[..] else { panic!("two results") };
        assert_eq!(read["status"], status, "{read:#}");
        if status == "error" {
            assert_eq!(read["error"]["code"], "PERMISSION_DENIED", "{read:#}");
            assert!(read.to_string().contains("the user said no: not that one"), "{read:#}");
        }
        // Tools that this contract denies are not even asked about.
        assert_eq!(write["status"], "error", "{write:#}");
        assert!(!world.path("workspace/src/new.rs").exists());
    }
}
