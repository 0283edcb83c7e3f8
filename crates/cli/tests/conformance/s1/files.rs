//! Agents from files, which are data and nothing else.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{agent, agent_with, answer, arguments, not_delegated, result, task, with_agents};
use crate::world::{Run, World, main_agent_calls};

fn done() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("Done."))).unwrap()
}

/// System prompt that an agent's model got.
fn system(world: &World, agent: &str) -> String {
    let script = main_agent_calls([task(agent, "CHILD works")]).otherwise(reply::text("Done."));
    let run = Run::of(world, "result", "anthropic", script);
    assert_eq!(result(&run)["shortResult"], format!("Task completed by {agent}"));
    run.sub_agents()[0].system.clone()
}

#[test]
fn s1_45_the_body_of_the_file_is_the_system_prompt_whatever_its_line_ends_and_an_edit_counts_at_once() {
    let world = World::new();
    let path = "workspace/.sortie/agents/poet.md";
    world.write(path, "---\nname: poet\ndescription: Writes poems\n---\n\nYou rhyme.\n\n# Rules\n- äöü\n");
    assert_eq!(system(&world, "poet"), "You rhyme.\n\n# Rules\n- äöü");
    world.write(path, "\u{feff}---\r\nname: poet\r\ndescription: Writes poems\r\n---\r\nYou do not rhyme.\r\n");
    assert_eq!(system(&world, "poet"), "You do not rhyme.");
}

#[test]
fn s1_45_the_projects_agent_overrides_the_users() {
    let world = with_agents();
    let text = "---\nname: code-reviewer\ndescription: Ours\n---\nYou are the project's own.\n";
    world.write("workspace/.sortie/agents/code-reviewer.md", text);
    assert_eq!(system(&world, "code-reviewer"), "You are the project's own.");
    assert_eq!(system(&world, "test-generator"), "You are the test-generator.");
}

#[test]
fn s1_45_tools_and_model_of_the_file_apply() {
    let world = World::new();
    world.config("[aliases]\nhaiku = \"swift-model-3\"\n");
    agent_with(&world, "reader", "description: Reads\ntools: Read, Grep\nmodel: haiku");
    let script = main_agent_calls([task("reader", "CHILD works")]).otherwise(reply::text("Done."));
    let run = Run::of(&world, "result", "anthropic", script);
    let heard = &run.sub_agents()[0];
    assert_eq!((heard.model.as_str(), heard.tool_names()), ("swift-model-3", vec!["Grep", "Read"]));
}

#[test]
fn s1_45_a_broken_file_is_skipped_with_a_warning() {
    let world = with_agents();
    for (name, text) in [
        ("Bad_Name", "---\nname: Bad Name!\ndescription: d\n---\nBody.\n"),
        ("nameless", "---\ndescription: d\n---\nBody.\n"),
        ("undescribed", "---\nname: undescribed\n---\nBody.\n"),
        ("unclosed", "---\nname: unclosed\ndescription: d\nBody.\n"),
    ] {
        world.write(&format!("home/.config/sortie/agents/{name}.md"), text);
    }
    let ended = answer(&world, &done(), &arguments("code-reviewer", "p").to_string());
    assert_eq!(ended.stdout_json()["shortResult"], "Task completed by code-reviewer");
    for file in ["Bad_Name.md", "nameless.md", "undescribed.md", "unclosed.md"] {
        assert!(ended.stderr.contains(file), "{file}: {}", ended.stderr);
    }
}

#[test]
fn s1_43_front_matter_that_is_more_than_data_is_rejected_and_runs_nothing() {
    let world = with_agents();
    let bomb = (1..12).fold("a0: &a0 x\n".to_owned(), |bomb, level| {
        let above = format!("*a{}", level - 1);
        bomb + &format!("a{level}: &a{level} [{}]\n", vec![above; 9].join(", "))
    });
    let canary = world.path("workspace/canary");
    let run = format!("description: !!python/object/apply:os.system [\"touch {}\"]", canary.display());
    let huge = format!("description: {}", "x".repeat(1 << 20));
    for (name, lines) in [
        ("tagged", run.as_str()),
        ("ruby", "description: !ruby/object:Gem::Installer {i: x}"),
        ("bomb", &format!("description: d\n{bomb}")),
        ("merged", "base: &base {description: d}\n<<: *base"),
        ("twice", "description: d\ndescription: e"),
        ("huge", &huge),
    ] {
        agent_with(&world, name, lines);
        let server = done();
        let ended = answer(&world, &server, &arguments(name, "p").to_string());
        let given = ended.stdout_json();
        assert_eq!((ended.code, &given), (1, &not_delegated(given["error"].as_str().unwrap())), "{name}");
        assert!(server.requests().is_empty(), "{name}");
        let served = answer(&world, &server, &arguments("code-reviewer", "p").to_string());
        assert_eq!(served.stdout_json()["shortResult"], "Task completed by code-reviewer", "{name}");
    }
    assert!(!canary.exists());
    let checked = world.sortie(["agents", "check"]).run();
    assert_eq!(checked.code, 1);
    for name in ["tagged", "ruby", "bomb", "merged", "twice", "huge"] {
        let file = format!("{name}.md:");
        let complaint = checked.stdout.lines().chain(checked.stderr.lines()).find(|line| line.contains(&file));
        assert!(complaint.is_some_and(|line| line.contains("error")), "{name}: {checked:#?}");
    }
}

#[test]
fn s1_16_s1_45_each_of_hundreds_of_agents_can_be_named_and_all_are_listed() {
    let world = World::new();
    for number in 0..500 {
        agent(&world, &format!("worker-{number:03}"), &format!("Works on part {number}"));
    }
    assert_eq!(system(&world, "worker-499"), "You are the worker-499.");
    let nobody = json!({"description": "xyzzy", "prompt": "p", "subagent_type": "nobody"}).to_string();
    let error = answer(&world, &done(), &nobody).stdout_json()["error"].as_str().unwrap().to_owned();
    let listed = error.strip_prefix("Subagent 'nobody' not found. Available: ").unwrap();
    let names: Vec<&str> = listed.split(", ").collect();
    assert_eq!(names.len(), 500);
    assert!(names.is_sorted());
}
