//! Agents of the user's own beside the four types.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{answer, arguments, result, task, without_id};
use crate::world::{Run, World, main_agent_calls};

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
fn s3_43_it_works_in_its_own_words_with_its_own_tools() {
    let script = main_agent_calls([task("poet", "CHILD writes")]).otherwise(reply::text("Roses are red."));
    let run = Run::of(&with_a_poet(), "typed", "anthropic", script);
    assert_eq!(result(&run), json!({"success": true, "result": "Roses are red."}));
    let heard = &run.sub_agents()[0];
    assert_eq!((heard.system.as_str(), heard.tool_names()), ("You rhyme.", vec!["Read"]));
}

#[test]
fn until_there_is_a_shell_the_type_for_commands_is_refused_and_nothing_starts() {
    let server = ScriptedServer::start(Script::new()).unwrap();
    let ended = answer(&World::new(), &server, &arguments("Bash", "CHILD runs").to_string());
    let error = "`Bash` is not available in this version; available: Explore, general-purpose, Plan";
    let given = without_id(ended.stdout_json());
    assert_eq!((ended.code, given), (1, json!({"success": false, "error": error})));
    assert!(server.requests().is_empty());
}

#[test]
fn s3_04_s3_43_whoever_is_not_among_them_is_refused_with_the_list() {
    let server = ScriptedServer::start(Script::new()).unwrap();
    let ended = answer(&with_a_poet(), &server, &arguments("wizard", "CHILD writes").to_string());
    let given = without_id(ended.stdout_json());
    let error = given["error"].as_str().unwrap();
    let (asked, known) = error.split_once("; available: ").unwrap();
    assert_eq!(asked, "there is no `subagent_type` `wizard`");
    for name in ["Explore", "Plan", "general-purpose", "poet"] {
        assert!(known.split(", ").any(|known| known == name), "{name}: {error}");
    }
    assert!(server.requests().is_empty());
}
