//! Agents of the user, in addition to the four types.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{answer, arguments, result, task, without_id};
use crate::world::{Run, World, heard, main_agent_calls};

fn with_a_poet() -> World {
    let world = World::new();
    let text = "---\nname: poet\ndescription: Writes poems about code\ntools: Read\nmaxTurns: 2\n---\nYou rhyme.\n";
    world.write("workspace/.sortie/agents/poet.md", text);
    world
}

#[test]
fn s3_43_an_agent_file_becomes_a_type_that_the_schema_and_the_description_name() {
    let world = with_a_poet();
    let schema = world.sortie(["schema", "--contract", "typed", "--format", "anthropic"]).run().stdout_json();
    let types = &schema["input_schema"]["properties"]["subagent_type"]["enum"];
    assert_eq!(types, &json!(["Explore", "Plan", "Bash", "general-purpose", "poet"]));
    assert!(schema["description"].as_str().unwrap().contains("\n- poet: Writes poems about code\n"));
}

#[test]
fn s3_43_a_custom_agent_has_its_own_prompt_and_tools() {
    let script = main_agent_calls([task("poet", "CHILD writes")]).otherwise(reply::text("Roses are red."));
    let run = Run::of(&with_a_poet(), "typed", "anthropic", script);
    assert_eq!(result(&run), json!({"success": true, "result": "Roses are red."}));
    let heard = &run.sub_agents()[0];
    assert_eq!((heard.system.as_str(), heard.tool_names()), ("You rhyme.", vec!["Read"]));
}

fn agent_of_the_user(world: &World, name: &str, description: &str, more: &str) {
    let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\nYou are my {name}.\n");
    world.write(&format!("home/.config/sortie/agents/{name}.md"), &text);
}

#[test]
fn s3_43_an_agent_overrides_an_alias_of_its_name() {
    let world = World::new();
    agent_of_the_user(&world, "general", "Does what no other does", "");
    let schema = world.sortie(["schema", "--contract", "typed"]).run().stdout_json();
    let types = json!(["Explore", "Plan", "Bash", "general-purpose", "general"]);
    assert_eq!(schema["properties"]["subagent_type"]["enum"], types);
    for (asked, is_mine) in [("general", true), ("General", true), ("general-purpose", false)] {
        let script = main_agent_calls([task(asked, "CHILD works")]).otherwise(reply::text("Done."));
        let run = Run::of(&world, "typed", "anthropic", script);
        assert_eq!(result(&run)["result"], "Done.", "{asked}");
        assert_eq!(run.sub_agents()[0].system == "You are my general.", is_mine, "{asked}");
    }
}

#[test]
fn s3_12_s3_43_a_type_that_the_user_defines_is_described_in_the_users_words() {
    for contract in ["typed", "child"] {
        let world = World::new();
        agent_of_the_user(&world, "explore", "Looks where I say", "");
        let name = if contract == "typed" { "Explore" } else { "explore" };
        let schema = world.sortie(["schema", "--contract", contract, "--format", "anthropic"]).run().stdout_json();
        let description = schema["description"].as_str().unwrap();
        assert!(description.contains(&format!("\n- {name}: Looks where I say\n")), "{contract}: {description}");
        assert_eq!(description.matches("Looks where I say").count(), 1, "{contract}: {description}");
    }
}

#[test]
fn s3_04_s3_43_a_name_whose_file_is_broken_is_refused_with_the_place_and_the_reason() {
    let (world, server) = (with_a_poet(), ScriptedServer::start(Script::new()).unwrap());
    world.write(
        "workspace/.sortie/agents/scout.md",
        "---\nname: scout\ndescription: Looks around\nmodle: haiku\n---\nYou scout.\n",
    );
    let ended = answer(&world, &server, &arguments("scout", "CHILD looks").to_string());
    let given = without_id(ended.stdout_json());
    let error = given["error"].as_str().unwrap();
    let place = "agent `scout` cannot be used: .sortie/agents/scout.md:4: error: unknown key `modle`";
    assert!(error.starts_with(place), "{error}");
    assert!(error.ends_with("; available: Bash, Explore, general-purpose, Plan, poet"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn s3_04_s3_43_an_unknown_agent_is_refused_with_the_list() {
    let server = ScriptedServer::start(Script::new()).unwrap();
    let ended = answer(&with_a_poet(), &server, &arguments("wizard", "CHILD writes").to_string());
    let given = without_id(ended.stdout_json());
    let error = given["error"].as_str().unwrap();
    let (asked, known) = error.split_once("; available: ").unwrap();
    assert_eq!(asked, "there is no `subagent_type` `wizard`");
    for name in ["Explore", "Plan", "Bash", "general-purpose", "poet"] {
        assert!(known.split(", ").any(|known| known == name), "{name}: {error}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn s3_43_an_untrusted_project_cannot_replace_the_bash_type() {
    let world = World::new();
    let text = "---\nname: bash\ndescription: Runs commands\n---\nPROJECT\n";
    world.write("workspace/.sortie/agents/bash.md", text);
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    answer(&world, &server, &arguments("Bash", "p").to_string());
    assert!(!heard(&server)[0].system.contains("PROJECT"), "the built-in one works");

    let args = ["task", "--contract", "typed", "--trust", "--json", &arguments("Bash", "p").to_string()];
    world.sortie(args).on(&server, "anthropic").run();
    assert!(heard(&server)[1].system.contains("PROJECT"), "somebody vouches for it");
}

#[test]
fn s3_43_every_agent_is_a_type_of_the_schema_however_many_there_are() {
    let world = World::new();
    for number in 0..520 {
        let text = format!("---\nname: w{number:03}\ndescription: {}\n---\nGo.\n", "does its part ".repeat(10));
        world.write(&format!("home/.config/sortie/agents/w{number:03}.md"), &text);
    }
    for (contract, types) in [("typed", 4), ("sortie", 4)] {
        let tool = world.sortie(["schema", "--contract", contract, "--format", "anthropic"]).run().stdout_json();
        let names = tool["input_schema"]["properties"]["subagent_type"]["enum"].as_array().unwrap();
        let description = tool["description"].as_str().unwrap();
        assert!(names.len() >= 497 && names.len() <= 500 + types, "{contract}: {}", names.len());
        assert!(names.contains(&json!("w400")) && !names.contains(&json!("w519")), "{contract}");
        assert!(description.contains("more, which `subagent_type` lists by name alone"), "{contract}: {description}");
        assert!(description.ends_with("more agents are not listed here; each can be used by its name."), "{contract}");
        assert!(tool.to_string().len() < 24_000, "{contract}: {} bytes", tool.to_string().len());
    }
}
