//! Instruction files: what a project tells every agent that works in it.

use std::fs;

use sortie_testkit::{Script, ScriptedServer, reply};

use crate::run::delegating;
use crate::world::World;

/// System prompt of each request, in order.
fn systems(server: &ScriptedServer) -> Vec<String> {
    server.requests().iter().map(|request| request.body["system"].to_string()).collect()
}

#[test]
fn the_main_agent_reads_them_nearest_first_and_each_text_once() {
    let world = World::new();
    world.write("workspace/AGENTS.md", "ROOT RULES\n");
    world.write("workspace/CLAUDE.md", "ROOT RULES\n");
    world.write("workspace/src/AGENTS.md", "SOURCE RULES\n");
    world.write("workspace/.sortie/context.md", "CONTEXT RULES\n");
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    world.sortie(["run", "x"]).cwd(world.path("workspace/src")).on(&server, "anthropic").run();
    let system = &systems(&server)[0];
    let at = |words: &str| system.find(words).unwrap_or_else(|| panic!("{words}: {system}"));
    assert!(at("SOURCE RULES") < at("ROOT RULES") && at("ROOT RULES") < at("CONTEXT RULES"), "{system}");
    assert_eq!(system.matches("ROOT RULES").count(), 1);
}

#[test]
fn sub_agents_read_instruction_files_only_by_a_setting() {
    let world = World::new();
    world.write("workspace/AGENTS.md", "ROOT RULES\n");
    for (setting, readers) in [("false", 2), ("true", 6)] {
        let server = ScriptedServer::start(delegating()).unwrap();
        let setting = format!("task_tool.inherit_context_files={setting}");
        world.sortie(["run", "--set", &setting, "QUESTION"]).on(&server, "anthropic").run();
        let readers_seen = systems(&server).iter().filter(|system| system.contains("ROOT RULES")).count();
        assert_eq!(readers_seen, readers, "{setting}");
    }
}

#[test]
fn instructions_that_are_too_long_or_lead_outside_are_skipped_and_named() {
    let world = World::new();
    world.write("workspace/AGENTS.md", &"long ".repeat(100));
    let outside = world.write("outside.md", "SECRET RULES\n");
    std::os::unix::fs::symlink(outside, world.path("workspace/CLAUDE.md")).unwrap();
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let small = "task_tool.context_file_bytes=100";
    let ended = world.sortie(["run", "--set", small, "x"]).on(&server, "anthropic").run();
    let system = &systems(&server)[0];
    assert!(!system.contains("long long") && !system.contains("SECRET"), "{system}");
    for name in ["AGENTS.md", "CLAUDE.md"] {
        assert!(ended.stderr.contains(&format!("note: the instructions in {name}")), "{}", ended.stderr);
    }
    fs::remove_file(world.path("workspace/CLAUDE.md")).unwrap();
    let doctor = world.sortie(["doctor", "--set", small]).run();
    assert!(doctor.stdout.contains("the main agent reads no file"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("the instructions in AGENTS.md were left out"), "{}", doctor.stdout);
}
