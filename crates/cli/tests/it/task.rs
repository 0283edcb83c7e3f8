//! `sortie task`: one delegation, in the contract's own JSON.

use expect_test::{Expect, expect};
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{Invocation, World};

fn explorer() -> Script {
    Script::new()
        .on(when::any().turn(0), reply::calls([reply::call("Grep", json!({"pattern": "login"}))]))
        .otherwise(reply::text("src/auth.rs:1"))
}

#[test]
fn a_request_on_stdin_may_begin_with_a_byte_order_mark_and_have_windows_line_ends() {
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::text("done"))).unwrap());
    let request = "\u{feff}{\r\n  \"description\": \"d\",\r\n  \"prompt\": \"p\"\r\n}\r\n";
    let ended = world.sortie(["task", "--json", "-"]).stdin(request).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout_json()["text"].as_str()), (0, Some("done")), "{ended:#?}");
    let ended = world.sortie(["run", "-"]).stdin("\u{feff}hello\r\n").on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "done\n"), "{ended:#?}");
    let sent = server.requests().last().unwrap().body.to_string();
    assert!(sent.contains("hello") && !sent.contains('\u{feff}'), "{sent}");
}

#[test]
fn a_request_as_json_from_stdin_or_as_flags_means_the_same() {
    let world = World::new();
    let server = ScriptedServer::start(explorer()).unwrap();
    let request =
        json!({"description": "Find it", "prompt": "Where is login?", "subagent_type": "explore"}).to_string();
    let flags = ["--agent", "explore", "--description", "Find it", "--prompt", "Where is login?"];
    for invocation in [
        world.sortie(["task", "--json", &request]),
        world.sortie(["task", "--json", "-"]).stdin(request.clone()),
        world.sortie(["task"].iter().chain(&flags)),
    ] {
        let ended = invocation.on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        let outcome = ended.stdout_json();
        assert_eq!(outcome["agent"], "explore");
        assert_eq!(outcome["status"], "completed");
        assert_eq!(outcome["text"], "src/auth.rs:1");
        assert_eq!(outcome["tool_summary"], json!([{"tool": "Grep", "count": 1}]));
        assert!(ended.stderr.contains("started: Find it · main (test-model)"), "{}", ended.stderr);
        assert!(
            outcome.get("error").is_none() && outcome.get("reason").is_none(),
            "absent rather than null: {outcome}"
        );
    }
    let bodies: Vec<_> = server.requests().iter().map(|request| request.body.clone()).collect();
    assert_eq!(bodies[0], bodies[2]);
    assert_eq!(bodies[0], bodies[4]);
}

/// Checks for exit 1 and the contract's own error form on stdout.
fn check(invocation: Invocation, expected: &Expect) {
    expected.assert_eq(&invocation.run().transcript());
}

#[test]
fn a_request_that_cannot_be_understood_is_answered_in_the_contracts_form() {
    let world = World::new();
    check(
        world.sortie(["task", "--json", "not json"]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"the arguments are not valid JSON: expected ident at line 1 column 2"}}
    "#]],
    );
    check(
        world.sortie(["task", "--json", "[1]"]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"the arguments must be a JSON object, not an array"}}
    "#]],
    );
    check(
        world.sortie(["task", "--json", r#"{"prompt":"a","prompt":"b","description":"c"}"#]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"the arguments are not valid JSON: the key `prompt` occurs twice at line 1 column 26"}}
    "#]],
    );
    check(
        world.sortie(["task", "--json", r#"{"description":"c"}"#]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"`prompt` is missing; it must be a non-empty string"}}
    "#]],
    );
    check(
        world.sortie(["task", "--json", r#"{"description":"c","prompt":7}"#]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"`prompt` must be a non-empty string, not a number"}}
    "#]],
    );
    check(
        world.sortie(["task", "--json", "-"]).stdin(""),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"the arguments are not valid JSON: EOF while parsing a value at line 1 column 0"}}
    "#]],
    );
    check(
        world.sortie(["task", "--json", "-"]).stdin([b'{', 0xff]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"the arguments are not valid JSON: they are not valid UTF-8 (byte 2)"}}
    "#]],
    );
    check(
        world.sortie(["task", "--description", "c", "--prompt", " "]),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"`prompt` is empty; it must be a non-empty string"}}
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn a_request_that_cannot_be_started_is_answered_in_the_contracts_form() {
    let world = World::new();
    check(
        world.sortie(["task", "--agent", "nobody", "--description", "c", "--prompt", "p"]),
        &expect![[r#"
            exit 1
            --- stdout
            {"status":"rejected","error":{"code":"unknown_agent","message":"unknown agent `nobody`; there are general-purpose, explore, plan, summary, bash"}}
        "#]],
    );
    check(
        world.sortie(["task", "--agent", "main", "--description", "c", "--prompt", "p"]),
        &expect![[r#"
            exit 1
            --- stdout
            {"status":"rejected","error":{"code":"unknown_agent","message":"unknown agent `main`; there are general-purpose, explore, plan, summary, bash"}}
        "#]],
    );
    check(
        world.sortie(["task", "--model", "gpt-99", "--description", "c", "--prompt", "p"]),
        &expect![[r#"
            exit 1
            --- stdout
            {"status":"rejected","error":{"code":"unknown_model","message":"unknown model `gpt-99`; no route leads to its provider; known routes: offline; to use a model by its id, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_API_KEY and LLM_BASE_URL"}}
        "#]],
    );
    let capped = ["--set", "task_tool.max_prompt_bytes=4", "task"];
    check(
        world.sortie(capped.iter().chain(&["--description", "c", "--prompt", "12345"])),
        &expect![[r#"
            exit 1
            --- stdout
            {"status":"rejected","error":{"code":"prompt_too_long","message":"the prompt has 5 bytes; the limit is 4 (`task_tool.max_prompt_bytes`)"}}
        "#]],
    );
    check(
        world.sortie(capped.iter().chain(&["--json", "-"])).stdin("x".repeat(1 << 20)),
        &expect![[r#"
            exit 1
            --- stdout
            {"status":"rejected","error":{"code":"prompt_too_long","message":"the prompt has more than 4 bytes (`task_tool.max_prompt_bytes`)"}}
        "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn every_field_of_a_contract_has_a_flag() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let same = |contract: &str, json: serde_json::Value, flags: &[&str]| {
        let before = server.requests().len();
        let head = ["task", "--contract", contract];
        let by_json = world.sortie(head.iter().chain(&["--json", &json.to_string()])).on(&server, "anthropic").run();
        let by_flags = world.sortie(head.iter().chain(flags)).on(&server, "anthropic").run();
        assert_eq!((by_json.code, by_flags.code), (0, 0), "{contract}: {by_json:#?} {by_flags:#?}");
        let bodies: Vec<_> = server.requests()[before..].iter().map(|request| request.body.clone()).collect();
        assert_eq!(bodies[0], bodies[1], "{contract}");
    };
    let brief = ["--description", "Find it", "--prompt", "Where?"];
    let with = |more: &[&'static str]| [&brief[..], more].concat();
    same("delegate", json!({"task": "Look", "model": "main"}), &["--task", "Look", "--model", "main"]);
    same("delegate", json!({"task": "a=b"}), &["--field", "task=a=b"]);
    let typed = json!({"description": "Find it", "prompt": "Where?", "subagent_type": "Plan", "max_turns": 2});
    same("typed", typed.clone(), &with(&["--agent", "Plan", "--field", "max_turns=2"]));
    same("typed", typed, &with(&["--subagent-type", "Plan", "--field", "max_turns=2"]));
    let recipe = json!({"description": "Find it", "prompt": "Where?", "agentType": "explore"});
    same("child-recipe", recipe, &with(&["--agent", "explore"]));
    let ours = json!({"description": "Find it", "prompt": "Where?", "limits": {"max_turns": 3}});
    same("sortie", ours, &with(&["--field", r#"limits={"max_turns": 3}"#]));
}

#[test]
fn missing_and_unknown_flags_are_named_in_the_contracts_words() {
    let world = World::new();
    let check = |args: &[&str], expected: Expect| {
        expected.assert_eq(&world.sortie(["task", "--contract"].iter().chain(args)).run().transcript());
    };
    check(
        &["delegate"],
        expect![[r#"
        exit 2
        --- stderr
        error: the contract `delegate` needs --task
        hint: or give the whole request with --json; `sortie schema --contract delegate` describes it
    "#]],
    );
    check(
        &["typed", "--prompt", "p"],
        expect![[r#"
        exit 2
        --- stderr
        error: the contract `typed` needs --description and --agent (its `subagent_type`)
        hint: or give the whole request with --json; `sortie schema --contract typed` describes it
    "#]],
    );
    check(
        &["delegate", "--task", "t", "--agent", "explore"],
        expect![[r#"
        exit 2
        --- stderr
        error: the contract `delegate` has no field for --agent
        hint: it takes --task, --model
    "#]],
    );
    check(
        &["child-recipe", "--description", "d", "--prompt", "p", "--model", "main"],
        expect![[r#"
        exit 2
        --- stderr
        error: the contract `child-recipe` has no field for --model
        hint: it takes --description, --prompt, --agent (its `agentType`)
    "#]],
    );
    check(
        &["delegate", "--task", "t", "--field", "task=u"],
        expect![[r#"
        exit 2
        --- stderr
        error: `task` is given twice
    "#]],
    );
    check(
        &["typed", "--agent", "Plan", "--description", "d", "--prompt", "p", "--field", "max_turns=many"],
        expect![[r#"
        exit 1
        --- stdout
        {"success":false,"agentId":"agent-1___________","error":"`max_turns` must be a positive number, not \"many\""}
    "#]],
    );
    assert!(world.kept_nothing());
}

#[test]
fn conflicting_flags_are_wrong_usage() {
    let world = World::new();
    for args in [
        vec!["task"],
        vec!["task", "--agent", "explore"],
        vec!["task", "--prompt", "p"],
        vec!["task", "--description", "d"],
        vec!["task", "--json", "{}", "--prompt", "p", "--description", "d"],
        vec!["task", "--json", "{}", "--agent", "explore"],
        vec!["task", "--json", "{}", "--task", "t"],
        vec!["task", "--json", "{}", "--field", "a=b"],
        vec!["task", "--description", "d", "--prompt", "p", "--field", "model"],
    ] {
        let ended = world.sortie(&args).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    }
    assert!(world.kept_nothing());
}

#[test]
fn a_long_report_is_cut_and_kept_whole_in_a_file() {
    let world = World::new();
    let report = "A sentence of the report. ".repeat(1000);
    let server = ScriptedServer::start(Script::always(reply::text(&report))).unwrap();
    let ended = world.sortie(["task", "--description", "c", "--prompt", "p"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "a report that was cut is still completed");
    let outcome = ended.stdout_json();
    assert_eq!(outcome["truncated"], true);
    assert!(outcome["text"].as_str().unwrap().len() < report.len());
    let whole = std::fs::read_to_string(outcome["full_text_path"].as_str().unwrap()).unwrap();
    assert_eq!(whole, report);
}

#[test]
fn the_default_timeout_applies_to_a_delegation() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let ended = world
        .sortie(["--set", "task_tool.default_timeout_seconds=1", "task", "--description", "c", "--prompt", "p"])
        .on(&server, "anthropic")
        .run();
    assert_eq!(ended.code, 1);
    assert_eq!(ended.stdout_json()["error"]["code"], "timeout");
}
