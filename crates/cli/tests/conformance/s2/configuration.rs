//! `[task_tool]`, its documentation, and the help.

use std::path::Path;

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use super::{CONTRACT, task};
use crate::session::Session;
use crate::world::{Run, World, main_agent_calls};

const SWITCHED_OFF: &str = "delegation is switched off (`task_tool.enabled` is false)";

const KEYS: [(&str, &str); 6] = [
    ("enabled", "true"),
    ("max_depth", "2"),
    ("default_timeout_seconds", "300"),
    ("max_tokens", "50000"),
    ("enable_verbose_logging", "false"),
    ("allow_model_override", "true"),
];

fn with_model() -> Script {
    let call = reply::call("task", json!({"task": "CHILD work", "model": "small-model"}));
    main_agent_calls([call]).otherwise(reply::text("Done below."))
}

#[test]
fn s2_64_s2_65_s2_66_s2_67_s2_68_s2_69_the_six_keys_have_the_designs_defaults() {
    let shown = World::new().sortie(["config", "show", "--contract", CONTRACT]).run().stdout;
    for (key, value) in KEYS {
        let line = shown.lines().find_map(|line| line.strip_prefix(&format!("task_tool.{key} ")));
        let line = line.unwrap_or_else(|| panic!("{key}: {shown}")).trim_start();
        assert!(line.starts_with(&format!("{value} ")), "{key} = {value}: {line}");
    }
}

#[test]
fn s2_64_a_tool_that_is_not_enabled_is_not_there_and_a_forced_call_is_refused() {
    let script = main_agent_calls([task("CHILD work")]).otherwise(reply::text("Done below."));
    for (enabled, children) in [("true", 1), ("false", 0)] {
        let setting = format!("task_tool.enabled={enabled}");
        let run = Run::with(&World::new(), CONTRACT, "anthropic", script.clone(), &["--set", &setting]);
        assert_eq!(run.main_agent()[0].offers("task"), enabled == "true");
        assert_eq!((run.sub_agents().len(), run.ended.code), (children, 0));
        assert_eq!(run.result().is_error, enabled == "false");
        assert_eq!(run.result().text == SWITCHED_OFF, enabled == "false", "{:?}", run.result());
    }
}

#[test]
fn s2_64_a_tool_that_is_not_enabled_is_in_no_list_of_an_mcp_host_and_has_no_schema() {
    let request = json!({"description": "d", "prompt": "p", "subagent_type": "explore"});
    for (contract, tool) in [
        ("envelope", "Task"),
        ("result", "Task"),
        ("delegate", "task"),
        ("typed", "Task"),
        ("child", "task"),
        ("child-recipe", "task"),
        ("sortie", "Task"),
    ] {
        let (world, off) = (world_of(contract), ["--set", "task_tool.enabled=false"]);
        let server = ScriptedServer::start(Script::always(reply::text("Done below."))).unwrap();
        let args = [&["mcp", "--contract", contract], &off[..]].concat();
        let mut session = Session::open(world.sortie(args).on(&server, "anthropic"), &json!({}));
        assert_eq!(session.ask("tools/list", json!({}))["result"]["tools"], json!([]), "{contract}");
        let arguments = if contract == "delegate" { json!({"task": "p"}) } else { request.clone() };
        let answer = session.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], true, "{contract}: {answer}");
        assert!(answer["result"].to_string().contains(SWITCHED_OFF), "{contract}: {answer}");
        let answer = session.ask("tools/call", json!({"name": "TaskList", "arguments": {}}));
        let said = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{contract}: {answer}"));
        assert_eq!(said, format!("there is no tool `TaskList`: {SWITCHED_OFF}"));
        assert_eq!(session.ask("prompts/list", json!({}))["result"]["prompts"], json!([]), "{contract}");
        let answer = session.ask("prompts/get", json!({"name": "review"}));
        assert_eq!(answer["error"]["message"], format!("there is no prompt `review`: {SWITCHED_OFF}"), "{contract}");
        assert_eq!((session.close().0, server.requests().len()), (0, 0), "{contract}");

        for format in ["json", "anthropic", "openai"] {
            let args = [&["schema", "--contract", contract, "--format", format], &off[..]].concat();
            let ended = world.sortie(args).run();
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{contract}");
            assert!(ended.stderr.contains(&format!("there is no Task tool: {SWITCHED_OFF}")), "{}", ended.stderr);
        }
    }
    let world = World::new();
    world.config("[task_tool]\nenabled = false\n");
    let said = world.sortie(["schema"]).run().stderr;
    assert!(said.contains("config.toml") && said.contains("`--set task_tool.enabled=…` overrides it"), "{said}");
}

#[test]
fn s2_64_every_contract_says_that_delegation_is_switched_off() {
    let request = json!({"description": "d", "prompt": "p", "subagent_type": "explore"});
    for (contract, tool, arguments, words) in [
        ("envelope", "Task", &request, SWITCHED_OFF.to_owned()),
        ("result", "Task", &request, format!("Task delegation failed: {SWITCHED_OFF}")),
        ("delegate", "task", &json!({"task": "CHILD work"}), SWITCHED_OFF.to_owned()),
        ("typed", "Task", &request, SWITCHED_OFF.to_owned()),
        ("child", "task", &request, SWITCHED_OFF.to_owned()),
        ("sortie", "Task", &request, SWITCHED_OFF.to_owned()),
    ] {
        let off = ["--set", "task_tool.enabled=false"];
        let server = ScriptedServer::start(Script::always(reply::text("Done below."))).unwrap();
        let request = arguments.to_string();
        let args = [&["task", "--contract", contract, "--json", &request], &off[..]].concat();
        let ended = world_of(contract).sortie(args).on(&server, "anthropic").run();
        let printed = ended.stdout_json();
        let error = printed.pointer("/error/message").unwrap_or(&printed["error"]);
        assert!(error.as_str().unwrap().starts_with(&words), "{contract}: {printed}");
        assert_eq!((ended.code, server.requests().len()), (1, 0), "{contract}");

        let script = main_agent_calls([reply::call(tool, arguments.clone())]).otherwise(reply::text("Done below."));
        let run = Run::with(&world_of(contract), contract, "anthropic", script, &off);
        assert!(run.result().is_error && run.result().text.contains(&words), "{contract}: {:?}", run.result());
        assert_eq!(run.sub_agents().len(), 0, "{contract}");
    }
}

/// World for a contract; `result` has only agents from files.
fn world_of(contract: &str) -> World {
    let world = World::new();
    if contract == "result" {
        let text = "---\nname: explore\ndescription: Explores\n---\nLook.\n";
        world.write("home/.config/sortie/agents/explore.md", text);
    }
    world
}

#[test]
fn s2_69_a_call_may_name_its_model_unless_that_is_forbidden() {
    let run = Run::of(&World::new(), CONTRACT, "anthropic", with_model());
    assert_eq!(run.sub_agents()[0].model, "small-model");

    let forbidden = ["--set", "task_tool.allow_model_override=false"];
    let run = Run::with(&World::new(), CONTRACT, "anthropic", with_model(), &forbidden);
    let result = run.result();
    assert!(result.text.contains("`task_tool.allow_model_override` is false"), "{result:?}");
    assert_eq!((run.sub_agents().len(), result.is_error), (0, true));

    let script = main_agent_calls([task("CHILD work")]).otherwise(reply::text("Done below."));
    let run = Run::with(&World::new(), CONTRACT, "anthropic", script, &forbidden);
    assert_eq!(run.result().json()["success"], true, "without a model it is as ever");
}

#[test]
fn s2_70_the_sample_file_has_the_section_and_every_line_of_it_is_understood() {
    let world = World::new();
    assert_eq!(world.sortie(["config", "edit"]).env("EDITOR", "true").run().code, 0);
    let sample = std::fs::read_to_string(world.path("home/.config/sortie/config.toml")).unwrap();
    let (_, rest) = sample.split_once("# [task_tool]\n").unwrap();
    let lines: Vec<&str> = rest.lines().take_while(|line| line.contains(" = ")).map(|line| &line[2..]).collect();
    for (key, value) in KEYS {
        let start = format!("{key} = {value} ");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{start}: {lines:#?}");
    }
    world.config(&format!("[task_tool]\n{}\n", lines.join("\n")));
    let understood = world.sortie(["config", "show"]).run();
    assert_eq!((understood.code, understood.stderr.as_str()), (0, ""));
    world.config("[task_tool]\nmax_dept = 1\n");
    let warned = world.sortie(["config", "show"]).run().stderr;
    assert!(warned.contains("did you mean `task_tool.max_depth`?"), "{warned}");
}

/// File of the repository.
fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    std::fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn s2_62_help_and_readme_have_examples() {
    let help = World::new().sortie(["task", "--help"]).run().stdout;
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    assert!(examples.matches("sortie task ").count() >= 3, "{examples}");
    let readme = file("README.md");
    assert!(readme.contains("sortie task --") && readme.contains("--contract"), "usage of the tool in the README");
}

#[test]
fn s2_80_the_choice_of_a_model_is_documented() {
    let page = file("docs/configuration.md");
    let (_, choice) = page.split_once("**Who serves a task**").unwrap();
    let choice = choice.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(choice.contains("the model named in the call") && choice.contains("else the parent's"), "{choice}");
    let run = Run::of(&World::new(), CONTRACT, "anthropic", with_model());
    let description = run.main_agent()[0].tool("task").description.clone();
    assert!(description.contains("for simple tasks"), "{description}");
}
