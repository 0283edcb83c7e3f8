//! Model of each type, and its override in a call.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{answer, arguments, result, task, with};
use crate::world::{Run, World, heard, main_agent_calls};

/// Model of a sub-agent's first request.
fn model(world: &World, call: sortie_testkit::ScriptedPart) -> String {
    let run = Run::of(world, "typed", "anthropic", main_agent_calls([call]).otherwise(reply::text("Done.")));
    assert_eq!(result(&run)["result"], "Done.");
    run.sub_agents()[0].model.clone()
}

#[test]
fn s3_19_each_type_has_a_model_of_its_own() {
    let world = World::new();
    for (agent, id) in [
        ("Explore", "claude-haiku-4"),
        ("Bash", "claude-haiku-4"),
        ("Plan", "claude-sonnet-4"),
        ("general-purpose", "claude-sonnet-4"),
    ] {
        assert_eq!(model(&world, task(agent, "CHILD works")), id, "{agent}");
    }
}

#[test]
fn s3_05_s3_20_a_call_chooses_by_alias_and_the_configuration_says_what_it_means() {
    let world = World::new();
    for (alias, id) in [("haiku", "claude-haiku-4"), ("sonnet", "claude-sonnet-4"), ("opus", "claude-opus-4")] {
        assert_eq!(model(&world, reply::call("Task", with("model", json!(alias)))), id);
    }
    world.config("[aliases]\nopus = \"the-largest-of-all\"\nhaiku = \"small-1\"\n");
    assert_eq!(model(&world, reply::call("Task", with("model", json!("opus")))), "the-largest-of-all");
    assert_eq!(model(&world, task("Explore", "CHILD works")), "small-1", "a type's default is an alias too");
}

#[test]
fn s3_20_an_alias_without_a_route_is_served_by_main_with_a_notice() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("Done."))).unwrap());
    let args = ["task", "--contract", "typed", "--json", &arguments("Explore", "CHILD works").to_string()];
    let ended = world.sortie(args).on(&server, "openai-chat").run();
    assert_eq!(ended.code, 0);
    assert_eq!(heard(&server)[0].model, "test-model");
    assert!(ended.stderr.contains("`haiku` is served by"), "{}", ended.stderr);
}

#[test]
fn s3_20_the_model_field_is_refused_if_calls_may_not_choose() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::new()).unwrap());
    world.config("[task_tool]\nallow_model_override = false\n");
    let ended = answer(&world, &server, &with("model", json!("opus")).to_string());
    let error = ended.stdout_json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("task_tool.allow_model_override"), "{error}");
    assert!(server.requests().is_empty());
}
