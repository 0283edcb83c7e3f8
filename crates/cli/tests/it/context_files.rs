//! Context files chosen by a call, at each entry: in the system prompt as far as the agent may read them, else named.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::mcp::session::Session;
use crate::world::World;

const CHOSEN: [&str; 4] = ["docs/api.md", "missing.md", "secret.md", "long.md"];

fn world() -> World {
    let world = World::new();
    world.write("workspace/AGENTS.md", "USUAL RULES\n");
    world.write("workspace/docs/api.md", "API RULES\n");
    world.write("workspace/secret.md", "SECRET RULES\n");
    world.write("workspace/long.md", &"LONG RULES\n".repeat(2000));
    world
}

fn brief(fields: &Value) -> Value {
    let mut call = json!({"description": "Look", "prompt": "CHILD looks", "subagent_type": "explore"});
    call.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    call
}

fn script(fields: &Value) -> Script {
    Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", brief(fields))]))
        .otherwise(reply::text("Done."))
}

/// System prompt of the sub-agent.
fn system(server: &ScriptedServer) -> String {
    let is_child =
        |body: &&Value| body["messages"].to_string().contains("CHILD looks") && !body.to_string().contains("QUESTION");
    let bodies: Vec<Value> = server.requests().iter().map(|request| request.body.clone()).collect();
    bodies.iter().find(is_child).unwrap_or_else(|| panic!("no sub-agent: {bodies:#?}"))["system"].to_string()
}

/// Checks that the one file is there, and the words that tell about the others.
fn check(entry: &str, server: &ScriptedServer, told: &str) {
    let system = system(server);
    assert!(system.contains("# docs/api.md\\nAPI RULES"), "{entry}: {system}");
    for words in ["USUAL RULES", "SECRET RULES", "LONG RULES"] {
        assert!(!system.contains(words), "{entry}: {system}");
    }
    for words in [
        "the instructions in missing.md were left out: there is no such file",
        "the instructions in secret.md were left out: ",
        "the instructions in long.md were left out: all such files together may have 16384 bytes",
    ] {
        assert!(told.contains(words), "{entry}: {words}: {told}");
    }
}

#[test]
fn a_call_chooses_the_context_files_of_its_sub_agent_and_hears_about_the_others() {
    let fields = json!({"context_files": CHOSEN});
    let deny = ["--deny", "Read(secret.md)"];
    let world = world();
    let server = ScriptedServer::start(script(&fields)).unwrap();
    let ended = world.sortie([&["run"], &deny[..], &["QUESTION"]].concat()).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let told = server.requests().last().unwrap().body["messages"].to_string();
    check("run", &server, &told);

    let server = ScriptedServer::start(script(&fields)).unwrap();
    let json = brief(&fields).to_string();
    let ended = world.sortie([&["task", "--json", &json], &deny[..]].concat()).on(&server, "anthropic").run();
    check("task --json", &server, &ended.stdout);

    let server = ScriptedServer::start(script(&fields)).unwrap();
    let mut flags = vec!["task", "--agent", "explore", "--description", "Look", "--prompt", "CHILD looks"];
    flags.extend(CHOSEN.iter().flat_map(|path| ["--context-file", path]));
    let ended = world.sortie([&flags[..], &deny[..]].concat()).on(&server, "anthropic").run();
    check("task --context-file", &server, &ended.stdout);

    let server = ScriptedServer::start(script(&fields)).unwrap();
    let mut session = Session::open(world.sortie([&["mcp"], &deny[..]].concat()).on(&server, "anthropic"), &json!({}));
    let answer = session.ask("tools/call", json!({"name": "Task", "arguments": brief(&fields)}));
    check("mcp", &server, &answer["result"].to_string());
    assert_eq!(session.close().0, 0);
}

#[test]
fn an_empty_list_means_no_context_file_whatever_the_settings_say() {
    let world = world();
    for (fields, has_usual) in [(json!({}), true), (json!({"context_files": []}), false)] {
        let server = ScriptedServer::start(script(&fields)).unwrap();
        let inherit = ["run", "--set", "task_tool.inherit_context_files=true", "QUESTION"];
        world.sortie(inherit).on(&server, "anthropic").run();
        assert_eq!(system(&server).contains("USUAL RULES"), has_usual, "{fields}");
    }
}

#[test]
fn an_agent_file_names_the_context_files_of_its_agent() {
    let world = world();
    let file = "---\nname: writer\ndescription: writes\ntools: Read\ncontextFiles: [docs/api.md]\n---\nWrite.\n";
    world.write("workspace/.sortie/agents/writer.md", file);
    let server = ScriptedServer::start(script(&json!({"subagent_type": "writer"}))).unwrap();
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    assert!(system(&server).contains("API RULES"), "{}", system(&server));
    let checked = world.sortie(["agents", "check"]).run();
    assert_eq!(checked.code, 0, "{checked:#?}");
}

#[test]
fn a_flag_is_relative_to_the_current_directory() {
    let world = world();
    let server = ScriptedServer::start(script(&json!({}))).unwrap();
    let flags =
        ["task", "--agent", "explore", "--description", "Look", "--prompt", "CHILD looks", "--context-file", "api.md"];
    let ended = world.sortie(flags).cwd(world.path("workspace/docs")).on(&server, "anthropic").run();
    assert!(system(&server).contains("# docs/api.md\\nAPI RULES"), "{ended:#?}");
}
