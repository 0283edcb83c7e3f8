//! `sortie run` end to end against the scripted server, on both wires.

use expect_test::expect;
use serde_json::json;
use sortie_testkit::{Fault, Script, ScriptedServer, reply, when};

use crate::world::World;

pub(crate) const WIRES: [&str; 2] = ["anthropic", "openai-chat"];

/// Main agent that sends two explorers out, who read a file each, and then answers.
pub(crate) fn delegating() -> Script {
    let task = |title: &str, prompt: &str| {
        reply::call("Task", json!({"description": title, "prompt": prompt, "subagent_type": "explore"}))
    };
    Script::new()
        .on(
            when::prompt_contains("QUESTION").turn(0),
            reply::calls([task("Find auth errors", "CHILD one"), task("Find the start", "CHILD two")]),
        )
        .on(when::prompt_contains("QUESTION"), reply::text("Errors are made in `src/auth.rs:2`."))
        .on(
            when::prompt_contains("CHILD one").turn(0),
            reply::calls([reply::call("Grep", json!({"pattern": "AuthError"}))]),
        )
        .on(when::prompt_contains("CHILD one"), reply::text("src/auth.rs:2 returns AuthError"))
        .on(
            when::prompt_contains("CHILD two").turn(0),
            reply::calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]),
        )
        .on(when::prompt_contains("CHILD two"), reply::text("src/main.rs:3 is the start"))
}

#[test]
fn a_delegated_run_prints_the_answer_alone_on_stdout_and_plain_lines_on_stderr() {
    for wire in WIRES {
        let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
        let ended = world.sortie(["run", "QUESTION"]).on(&server, wire).run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert_eq!(ended.stdout, "Errors are made in `src/auth.rs:2`.\n");
        assert!(!ended.stderr.contains('\x1b'));
        // Siblings run at once; only the order within each is fixed.
        let mut lines: Vec<&str> = ended.stderr.lines().collect();
        assert_eq!(lines.len(), 5, "{lines:#?}");
        let last = lines.pop().unwrap();
        assert!(last.starts_with("agent-") && last.contains(" completed · main (test-model) · 4 calls"), "{last}");
        for title in ["Find auth errors", "Find the start"] {
            let started = lines.iter().position(|line| line.contains(title)).unwrap();
            let name = lines[started].split(" started: ").next().unwrap();
            let ended = lines.iter().position(|line| line.starts_with(&format!("{name} completed"))).unwrap();
            assert!(started < ended, "{lines:#?}");
        }
        let paths: Vec<String> = server.requests().iter().map(|request| request.path().to_owned()).collect();
        let expected = if wire == "anthropic" { "/v1/messages" } else { "/v1/chat/completions" };
        assert_eq!(paths, vec![expected; 6]);
    }
}

#[test]
fn the_main_agent_never_sees_what_its_sub_agents_saw() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    let requests = server.requests();
    let last = requests.last().unwrap().body.to_string();
    assert!(
        last.contains("QUESTION") && last.contains("returns AuthError"),
        "its own question and the reports: {last}"
    );
    assert!(!last.contains("pub fn login"), "no tool output of a child: {last}");
}

#[test]
fn a_prompt_comes_from_an_argument_a_dash_or_a_pipe_and_is_sent_unchanged() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("seen"))).unwrap();
    for invocation in [
        world.sortie(["run", "a \n prompt "]),
        world.sortie(["run", "-"]).stdin("a \n prompt "),
        world.sortie(["run"]).stdin("a \n prompt "),
    ] {
        assert_eq!(invocation.on(&server, "openai-chat").run().stdout, "seen\n");
    }
    for request in server.requests() {
        let messages = request.body["messages"].as_array().unwrap();
        assert_eq!(messages.last().unwrap()["content"], "a \n prompt ");
    }
}

#[test]
fn agent_and_model_are_chosen_by_flags() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let ended = world.sortie(["run", "--agent", "explore", "--model", "other", "x"]).on(&server, "openai-chat").run();
    assert_eq!(ended.code, 0);
    let request = &server.requests()[0].body;
    assert_eq!(request["model"], "other");
    let tools: Vec<&str> =
        request["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["Read", "LS", "Glob", "Grep"]);
}

#[test]
fn a_reached_limit_leaves_a_partial_answer_and_exit_1() {
    let world = World::new();
    let script = Script::new()
        .on(when::last_contains("limit"), reply::text("What I have so far."))
        .otherwise(reply::calls([reply::call("LS", json!({}))]));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "--max-turns", "2", "x"]).on(&server, "anthropic").run();
    assert_eq!(server.requests().len(), 3, "two turns and the report");
    expect![[r#"
        exit 1
        --- stdout
        What I have so far.
        --- stderr
        warning: partial: the limit of turns was reached
        hint: `sortie resume agent-1___________ --max-turns N` continues it
        agent-1___________ partial · main (test-model) · 2 calls · <n>k tokens · <t>s
    "#]]
    .assert_eq(&ended.transcript());
}

#[test]
fn a_run_that_gets_no_answer_in_time_fails_with_its_reason() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let ended = world.sortie(["run", "--timeout", "0.2", "x"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("(timeout)"), "{}", ended.stderr);
}

#[test]
fn retries_are_shown() {
    for wire in WIRES {
        let world = World::new();
        let script = Script::new().once(when::any(), reply::status(500)).otherwise(reply::text("at last"));
        let server = ScriptedServer::start(script).unwrap();
        let ended = world.sortie(["run", "--set", "llm.retry_base_ms=1", "x"]).on(&server, wire).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "at last\n"));
        let (told, ending) = ended.stderr.split_once('\n').unwrap();
        assert!(told.starts_with("main: retrying in 0.0s: server error"), "{told}");
        assert!(!ending.contains("retrying"), "{ending}");
    }
}

#[test]
fn refused_calls_are_shown() {
    let world = World::new();
    let script = Script::new()
        .once(when::any(), reply::calls([reply::call("Format", json!({"path": "/"}))]))
        .otherwise(reply::text("well"));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "x"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("main: ✗ Format / refused: "), "{}", ended.stderr);
}

#[test]
fn verbose_shows_every_call() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let ended = world.sortie(["run", "--verbose", "QUESTION"]).on(&server, "anthropic").run();
    for call in ["Grep \"AuthError\" → ", "Read src/main.rs → ", "main: Task \"Find auth errors\" → "] {
        assert!(ended.stderr.contains(call), "{call}: {}", ended.stderr);
    }
}

#[test]
fn an_answer_cannot_drive_the_terminal() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("a\u{1b}[2Jb\u{9b}c\r\nd"))).unwrap();
    let ended = world.sortie(["run", "x"]).on(&server, "anthropic").run();
    assert_eq!(ended.stdout, "a␛[2Jb\u{fffd}c\nd\n");
}

#[test]
fn a_failing_child_does_not_fail_its_parent_and_is_not_silent() {
    let world = World::new();
    let script = Script::new()
        .on(
            when::prompt_contains("QUESTION").turn(0),
            reply::calls([reply::call("Task", json!({"description": "Break", "prompt": "CHILD"}))]),
        )
        .on(when::prompt_contains("QUESTION"), reply::text("It broke."))
        .on(when::prompt_contains("CHILD"), reply::fault(Fault::status(400)));
    let server = ScriptedServer::start(script).unwrap();
    let ended = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "It broke.\n"));
    assert!(ended.stderr.contains(" failed: model_bad_request: "), "{}", ended.stderr);
}

#[test]
fn settings_reach_the_engine() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let tools = |set: &str| {
        world.sortie(["run", "--set", set, "x"]).on(&server, "openai-chat").run();
        let requests = server.requests();
        requests.last().unwrap().body["tools"].to_string()
    };
    assert!(tools("task_tool.max_depth=1").contains("\"Task\""));
    assert!(!tools("task_tool.max_depth=0").contains("\"Task\""));
    assert!(!tools("task_tool.enabled=false").contains("\"Task\""));
}

#[test]
fn without_a_model_the_built_in_rules_search_the_workspace() {
    let world = World::new();
    let ended = world.sortie(["run", "Where are authentication errors made?"]).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout.contains("src/auth.rs:"), "{}", ended.stdout);
    assert!(ended.stderr.contains("offline (offline-rules)"), "{}", ended.stderr);
}

#[test]
fn a_run_of_the_built_in_rules_without_an_answer_is_partial() {
    let world = World::new();
    for prompt in ["Fix the authentication error", "Where is zyxwvut frobnicated?"] {
        let text = world.sortie(["run", "--model", "offline", prompt]).run();
        assert_eq!(text.code, 1, "{text:#?}");
        assert!(text.stderr.contains("partial: the model has no answer"), "{}", text.stderr);
        let json = world.sortie(["run", "--model", "offline", "--output-format", "json", prompt]).run();
        let outcome = json.stdout_json();
        assert_eq!((json.code, &outcome["status"], &outcome["reason"]), (1, &json!("partial"), &json!("no_answer")));
        // A second reading of the journal gives the same.
        let shown = world.sortie(["tasks", "show", outcome["task_id"].as_str().unwrap(), "--json"]).run().stdout_json();
        assert_eq!(shown["reason"], json!("no_answer"), "{shown:#}");
    }
    for greeting in ["hello", "what can you do?"] {
        assert_eq!(world.sortie(["run", "--model", "offline", greeting]).run().code, 0, "{greeting}");
    }
}

#[test]
fn a_notice_is_shown_once() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("ok"))).unwrap());
    let task = ["task", "--description", "d", "--prompt", "x", "--model", "light"];
    for args in [&["run", "x", "--model", "light"][..], &task] {
        let ended = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert_eq!(ended.stderr.matches("`light` is served by").count(), 1, "{}", ended.stderr);
    }
}
