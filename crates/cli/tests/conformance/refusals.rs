//! Refusals of Task calls by a rule, in the contract's own form, to a model and to a program.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::entries::{TaskCall, at_every_entry};
use crate::world::{Run, World, main_agent_calls};

const DENIED: &str = "denied by the flag --deny: its rule `Task(explore)`";

/// World whose `explore` every contract can name.
fn world() -> World {
    let world = World::new();
    let text = "---\nname: explore\ndescription: Explores\n---\nLook.\n";
    world.write("home/.config/sortie/agents/explore.md", text);
    world
}

fn arguments() -> Value {
    json!({"description": "Look", "prompt": "CHILD looks", "subagent_type": "explore"})
}

/// Result that the main agent's model received for its call under these flags.
fn refused(contract: &str, tool: &str, arguments: &Value, flags: &[&str]) -> (String, bool) {
    let script = main_agent_calls([reply::call(tool, arguments.clone())]).otherwise(reply::text("Done below."));
    let run = Run::with(&world(), contract, "anthropic", script, flags);
    assert_eq!(run.sub_agents().len(), 0, "{contract}");
    (run.result().text, run.result().is_error)
}

/// That result, which must be a single object.
fn refused_object(contract: &str, tool: &str, flags: &[&str], words: &str) -> Value {
    let (text, is_error) = refused(contract, tool, &arguments(), flags);
    assert!(is_error && text.contains(words), "{contract}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{contract}: {error} in {text}"))
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn s1_11_s3_09_s4_15_p_01_a_refused_call_is_answered_in_the_contracts_own_form() {
    let ask = "nobody can be asked here";
    for (flags, words) in
        [(["--deny", "Task(explore)"], DENIED), (["--deny", "Task"], "denied by"), (["--ask", "Task"], ask)]
    {
        let result = refused_object("result", "Task", &flags, words);
        let error = result["error"].as_str().unwrap();
        assert!(error.starts_with("Task delegation failed: "), "{error}");
        let expected =
            json!({"success": false, "content": "", "error": error, "shortResult": "Task delegation failed"});
        assert_eq!(result, expected, "S1-11");

        let typed = refused_object("typed", "Task", &flags, words);
        assert_eq!((keys(&typed), &typed["success"]), (vec!["success", "agentId", "error"], &json!(false)), "S3-09");

        for contract in ["child", "child-recipe"] {
            let arguments =
                json!({"description": "d", "prompt": "p", "subagent_type": "explore", "agentType": "explore"});
            let (text, is_error) = refused(contract, "task", &arguments, &flags);
            let child: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((keys(&child), is_error), (vec!["error"], true), "S4-15");
        }

        let envelope = crate::protocol::conforming(refused_object("envelope", "Task", &flags, words));
        assert_eq!(envelope["error"]["code"], "PERMISSION_DENIED", "P-08");
        assert_eq!(envelope["context"]["params_input"], arguments(), "S0-37");
    }
}

#[test]
fn s2_30_a_refused_call_of_delegate_is_an_error_in_plain_words() {
    let (text, is_error) = refused("delegate", "task", &json!({"task": "CHILD works"}), &["--deny", "Task"]);
    assert!(is_error && text.starts_with("the sub-agent could not be created: "), "{text}");
    let (text, is_error) = refused("sortie", "Task", &arguments(), &["--deny", "Task"]);
    assert!(is_error && text.starts_with("No sub-agent was started (permission): "), "{text}");
}

#[test]
fn c_19_a_users_deny_rule_binds_their_own_task_and_an_ask_rule_does_not() {
    let server = ScriptedServer::start(Script::always(reply::text("Done below."))).unwrap();
    let ask = |contract: &str, flags: &[&str]| {
        let arguments = if contract == "delegate" { json!({"task": "t"}) } else { arguments() }.to_string();
        let args = [&["task", "--contract", contract, "--json", &arguments], flags].concat();
        let world = world();
        let ended = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!(ended.code == 1, world.kept_nothing(), "nothing is made for what is refused");
        (ended.stdout_json(), ended.code)
    };
    for contract in ["envelope", "result", "delegate", "typed", "child", "sortie"] {
        for rule in ["Task", "Task(*)", "spawn_agent"] {
            let (printed, code) = ask(contract, &["--deny", rule]);
            let error = printed.pointer("/error/message").unwrap_or(&printed["error"]);
            let words = format!("denied by the flag --deny: its rule `{rule}`");
            assert!(error.as_str().unwrap().contains(&words), "{contract}: {printed}");
            assert_eq!((code, server.requests().len()), (1, 0), "{contract}");
        }
    }
    let (printed, _) = ask("child", &["--deny", "Task(explore)"]);
    assert!(printed["error"].as_str().unwrap().contains(DENIED), "{printed}");
    assert_eq!(server.requests().len(), 0);
    let (printed, code) = ask("child", &["--ask", "Task", "--deny", "Task(plan)"]);
    assert_eq!((&printed["summary"], code, server.requests().len()), (&json!("Done below."), 0, 1), "{printed}");
}

#[test]
fn s2_17_a_broken_file_that_replaces_the_general_agent_is_named() {
    let world = World::new();
    let text = "---\nname: general-purpose\ndescription: x\nwibble: 3\n---\nB\n";
    world.write("home/.config/sortie/agents/general-purpose.md", text);
    let script = main_agent_calls([reply::call("task", json!({"task": "CHILD works"}))]);
    let error = Run::of(&world, "delegate", "anthropic", script).result().text;
    let words = ["the sub-agent could not be created: ", "general-purpose.md:4: ", "wibble"];
    assert!(words.iter().all(|words| error.contains(words)), "{error}");
}

#[test]
fn c_18_an_unknown_key_of_a_request_is_reported_on_stderr_even_in_quiet_contracts() {
    let server = ScriptedServer::start(Script::always(reply::text("Done below."))).unwrap();
    let mut arguments = arguments();
    arguments["wibble"] = json!(1);
    let arguments = arguments.to_string();
    for contract in ["envelope", "child", "child-recipe", "sortie"] {
        for flags in [&[][..], &["--show", "quiet"]] {
            let args = [&["task", "--contract", contract, "--json", &arguments], flags].concat();
            let ended = world().sortie(args).on(&server, "anthropic").run();
            let said = ended.stderr.matches("unknown key `wibble` was ignored").count();
            assert_eq!((said, ended.code), (1, 0), "{contract} {flags:?}: {}", ended.stderr);
            if contract.starts_with("child") {
                assert!(!ended.stdout.contains("wibble"), "{}", ended.stdout);
            }
        }
    }
}

#[test]
fn c_02_an_agent_is_shown_as_a_call_gets_it() {
    let world = world();
    let general = "---\nname: general\ndescription: Mine\n---\nMINE\n";
    world.write("home/.config/sortie/agents/general.md", general);
    let row = |name: &str, contract: &str, label: &str| {
        let shown = world.sortie(["agents", "show", name, "--contract", contract]).run().stdout;
        let line =
            shown.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_else(|| panic!("{label}: {shown}"));
        line.trim().to_owned()
    };
    assert_eq!(row("general", "envelope", "name"), "general-purpose");
    assert_eq!(row("general", "typed", "name"), "general", "there a file comes first");
    assert_eq!(row("explore", "child", "tools"), "everything that its parent has, but TodoWrite, Task");
    let sorted = |tools: String| {
        let mut tools: Vec<String> = tools.split(", ").map(str::to_owned).collect();
        tools.sort_unstable();
        tools
    };
    let script = main_agent_calls([reply::call("Task", arguments())]).otherwise(reply::text("Done below."));
    let run = Run::of(&world, "envelope", "anthropic", script);
    assert_eq!(sorted(row("explore", "envelope", "tools")), run.sub_agents()[0].tool_names());
}

#[test]
fn an_agent_whose_file_asks_for_an_isolation_that_is_missing_is_refused_at_every_entry() {
    for (folder, value) in [
        ("workspace/.claude/agents", "worktree"),
        ("home/.claude/agents", "remote"),
        ("workspace/.sortie/agents", "[copy, process]"),
    ] {
        let world = World::new();
        let text = format!("---\nname: mover\ndescription: Moves files\nisolation: {value}\n---\nMove.\n");
        world.write(&format!("{folder}/mover.md"), &text);
        for contract in ["sortie", "result", "typed"] {
            let arguments = json!({"description": "Move", "prompt": "CHILD moves", "subagent_type": "mover"});
            let call = TaskCall { contract, arguments, flags: &[], child: reply::text("Done."), models: None };
            for answer in at_every_entry(&world, &call) {
                let is_said = answer.text.contains("mover.md:4: ") && answer.text.contains("`isolation");
                assert!(answer.is_error && is_said, "{contract}: {answer:#?}");
                assert_eq!(answer.children.len(), 0, "{contract} {}", answer.entry);
            }
        }
        let ended = world.sortie(["run", "--agent", "mover", "Move them"]).run();
        assert!(ended.code == 2 && ended.stderr.contains("mover.md:4: "), "{ended:#?}");
    }
}
