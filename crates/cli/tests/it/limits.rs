//! Limits of a run by flags, settings and agent files, and the messages when one is reached.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::cost::priced_world;
use crate::world::World;

/// Model that looks around until it is asked for its report.
fn restless() -> ScriptedServer {
    let script = Script::new()
        .on(when::last_contains("limit"), reply::text("What I have so far."))
        .otherwise(reply::calls([reply::call("Grep", json!({"pattern": "nothing like <turn>"}))]));
    ScriptedServer::start(script).unwrap()
}

/// Initial limits of the newest task without a parent, by its journal.
fn limits_of_newest(world: &World) -> Value {
    let newest = "SELECT body FROM events JOIN tasks USING (task) WHERE kind = 'task_started' AND parent IS NULL \
                  ORDER BY position DESC LIMIT 1";
    let body: String = world.sql().query_row(newest, [], |row| row.get(0)).unwrap();
    serde_json::from_str::<Value>(&body).unwrap()["job"]["config"]["limits"].clone()
}

#[test]
fn a_limit_on_tokens_or_money_ends_a_run_with_a_report_and_a_hint_to_resume() {
    let (world, server) = (priced_world(), restless());
    for (flag, amount, says) in [
        ("--max-tokens", "12k", ["warning: partial: the limit of tokens was reached", "--max-tokens N` continues it"]),
        (
            "--max-cost-usd",
            "0.2",
            ["warning: partial: the limit of cost was reached", "--max-cost-usd AMOUNT` continues it"],
        ),
    ] {
        let ended = world.sortie(["run", flag, amount, "x"]).on(&server, "anthropic").run();
        assert_eq!((ended.code, ended.stdout.as_str()), (1, "What I have so far.\n"), "{ended:#?}");
        let lines: Vec<&str> = ended.stderr.lines().collect();
        assert!(lines[0] == says[0] && lines[1].starts_with("hint: ") && lines[1].ends_with(says[1]), "{lines:#?}");
        let spent = &world.sortie(["cost", "--json"]).run().stdout_json()["total"];
        assert!(spent["total_tokens"].as_u64().unwrap() <= 12_000 || flag != "--max-tokens", "{spent}");
        assert!(spent["cost_usd"].as_f64().unwrap() <= 0.2 || flag != "--max-cost-usd", "{spent}");
    }
}

#[test]
fn a_limit_on_money_counts_what_the_provider_reports_and_ends_with_the_first_call_over_it() {
    // 17 such calls would cost $5.
    let steep = Usage { input_tokens: 294_000, output_tokens: 20, ..Usage::default() };
    let look = reply::calls([reply::call("Grep", json!({"pattern": "nothing like <turn>"}))]).text("So far.");
    let script = Script::new().times(17, when::any(), look.usage(steep)).otherwise(reply::text("Done."));
    for command in [&["run", "--output-format", "json", "x"][..], &["task", "--description", "d", "--prompt", "p"]] {
        let (world, server) = (World::new(), ScriptedServer::start(script.clone()).unwrap());
        world.write("home/.config/sortie/models.toml", "[[models]]\nid = \"test-model\"\ninput = 1\noutput = 1\n");
        let ended = world.sortie(command.iter().chain(&["--max-cost-usd", "1"])).on(&server, "anthropic").run();
        let outcome = ended.stdout_json();
        assert_eq!((ended.code, &outcome["status"], &outcome["reason"]), (1, &json!("partial"), &json!("cost")));
        // Three calls cost less than a dollar, the fourth one makes it $1.18.
        assert_eq!((server.traffic().calls, &outcome["usage"]["turns"]), (4, &json!(4)), "{outcome}");
        assert!((outcome["usage"]["cost_usd"].as_f64().unwrap() - 4.0 * 0.29402).abs() < 1e-9, "{outcome}");
        let notice = "the provider reported more usage than can be expected for 4 of 4 calls; it counts as reported, in \
                      limits and cost";
        assert!(outcome["notices"].as_array().unwrap().contains(&json!(notice)), "{outcome}");
    }
}

#[test]
fn a_limit_on_money_is_refused_if_the_price_is_unknown() {
    let (world, server) = (World::new(), restless());
    let ended = world.sortie(["run", "--max-cost-usd", "0.2", "x"]).on(&server, "anthropic").run();
    expect![[r#"
        exit 2
        --- stderr
        error: the cost is limited, and the price of `test-model` is not known; set its prices in models.toml, or limit its tokens instead
    "#]].assert_eq(&ended.transcript());
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn invalid_amounts_are_wrong_usage() {
    let world = World::new();
    for (flag, value, says) in [
        ("--max-tokens", "0", "it must be at least 1"),
        ("--max-tokens", "many", "write it like 80000, 80k or 1.5M"),
        ("--max-cost-usd", "-1", "write it as a number of US dollars, like 0.50"),
        ("--max-cost-usd", "0", "it must be more than 0"),
        ("--idle-timeout", "0s", "it must be more than 0"),
        ("--max-children", "-1", "-1 is not in 0..=4294967295"),
        ("--max-turns", "0", "0 is not in 1.."),
    ] {
        for command in [&["run"][..], &["task"], &["resume"], &["tasks", "resume"], &["tasks", "retry", "x"]] {
            let argument = format!("{flag}={value}");
            let ended = world.sortie(command.iter().copied().chain([&*argument])).run();
            assert_eq!(ended.code, 2, "{command:?} {argument}");
            assert!(ended.stderr.contains(says), "{command:?} {argument}: {}", ended.stderr);
        }
    }
}

#[test]
fn flags_override_the_settings_of_a_run_and_an_agents_file_tightens_both() {
    let world = World::new();
    world.config("[run]\nmax_tokens = 500000\nmax_cost_usd = 2.5\ntimeout_seconds = 600\n");
    let file = "---\nname: thrifty\ndescription: Has little\nmaxTurns: 5\nmaxTokens: 90000\nmaxCostUsd: 0.25\ntimeout: 90\n\
                idleTimeout: 20\nmaxChildren: 0\n---\nBe brief.\n";
    world.write("home/.config/sortie/agents/thrifty.md", file);
    let limits = |args: &[&str]| {
        let ended = world.sortie([&["run", "--model", "offline"], args, &["Where is login?"]].concat()).run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        limits_of_newest(&world)
    };
    let settings = json!({"max_turns": 100, "max_tokens": 500_000, "max_cost_usd": 2.5, "timeout": 600.0});
    assert_eq!(limits(&[]), settings);
    let flags = [
        "--max-tokens=1M",
        "--max-cost-usd=3",
        "--timeout=1h",
        "--idle-timeout=2m",
        "--max-children=7",
        "--max-turns=9",
    ];
    let given = json!({
        "max_turns": 9, "max_tokens": 1_000_000, "max_cost_usd": 3.0, "timeout": 3600.0, "idle_timeout": 120.0, "max_children": 7,
    });
    assert_eq!(limits(&flags), given, "a person's own word, also where it is more");
    let own = json!({
        "max_turns": 5, "max_tokens": 90_000, "max_cost_usd": 0.25, "timeout": 90.0, "idle_timeout": 20.0, "max_children": 0,
    });
    assert_eq!(limits(&[&["--agent", "thrifty"], &flags[..]].concat()), own);
    let shown = world.sortie(["agents", "show", "thrifty"]).run().stdout;
    let shown: Vec<&str> = shown.lines().filter(|line| line.contains("max ") || line.contains("timeout")).collect();
    expect![[r#"
        max turns     5
        max tokens    90000
        max cost      $0.2500
        timeout       90s
        idle timeout  20s
        max children  0"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn settings_request_and_flags_bound_a_delegated_task_and_an_excess_is_noted() {
    let world = World::new();
    let asked = json!({
        "description": "Look", "prompt": "Where is login?", "subagent_type": "explore", "model": "offline",
        "limits": {"max_tokens": 90_000, "timeout_seconds": 900},
    })
    .to_string();
    let task = |flags: &[&str]| {
        let set = ["--set", "task_tool.max_cost_usd=1.5", "--set", "task_tool.max_tokens=80000"];
        let ended = world.sortie([&["task", "--json", &asked], &set[..], flags].concat()).run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        (limits_of_newest(&world), ended.stdout_json()["notices"].clone())
    };
    let bound = |tokens: u64| json!({"max_turns": 30, "max_tokens": tokens, "max_cost_usd": 1.5, "timeout": 300.0});
    let told =
        json!(["requested 90000 tokens; capped at 80000 tokens", "requested 900 seconds; capped at 300 seconds",]);
    assert_eq!(task(&[]), (bound(80_000), told));
    let (limits, told) = task(&["--max-tokens=70k", "--timeout=100"]);
    assert_eq!(limits, json!({"max_turns": 30, "max_tokens": 70_000, "max_cost_usd": 1.5, "timeout": 100.0}));
    assert_eq!(told, Value::Null, "what a person asks for on top of it is no more than there is");
}

#[test]
fn an_untrusted_project_can_lower_a_runs_cost_limit_but_not_raise_it() {
    let world = World::new();
    world.config("[run]\nmax_cost_usd = 2\n[task_tool]\nmax_cost_usd = 0.5\n");
    world.write(
        "workspace/.sortie/config.toml",
        "[run]\nmax_cost_usd = 1\n[task_tool]\nmax_cost_usd = 5\nmodel = \"auto\"\n",
    );
    let shown = world.sortie(["config", "show"]).run();
    let lines: Vec<&str> = shown.stdout.lines().filter(|line| line.contains("max_cost_usd")).collect();
    assert!(lines.iter().any(|line| line.starts_with("run.max_cost_usd ") && line.contains(" 1 ")), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.starts_with("task_tool.max_cost_usd ") && line.contains(" 0.5 ")),
        "{lines:#?}"
    );
    assert!(
        shown.stderr.contains("`task_tool.max_cost_usd`") && shown.stderr.contains("`task_tool.model`"),
        "{}",
        shown.stderr
    );
    world.config("[run]\nmax_cost_usd = -1\n");
    let wrong = world.sortie(["config", "show"]).run();
    assert!(
        wrong.stderr.contains("`run.max_cost_usd` must be a number of US dollars above 0, not -1"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_resumed_or_retried_task_gets_the_given_limits() {
    let (world, server) = (World::new(), restless());
    world.sortie(["run", "--max-turns", "2", "x"]).on(&server, "anthropic").run();
    let task = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    let enough = ["--max-turns", "50", "--max-tokens", "12k"];
    let retried = world.sortie([&["tasks", "retry", &task], &enough[..]].concat()).on(&server, "anthropic").run();
    assert!(retried.stderr.contains("the limit of tokens was reached"), "{}", retried.stderr);
    assert_eq!(limits_of_newest(&world), json!({"max_turns": 50, "max_tokens": 12_000}));
    let again = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    let before = server.requests().len();
    let resumed = world.sortie([&["resume", &again], &enough[..]].concat()).on(&server, "anthropic").run();
    assert!(resumed.stderr.contains("the limit of tokens was reached"), "{}", resumed.stderr);
    assert!(server.requests().len() > before + 1, "so many from now on, whatever it has used before");
}

#[test]
fn a_silent_model_is_given_up_after_the_runs_idle_timeout() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::never())).unwrap();
    let flags = ["--idle-timeout", "100ms", "--set", "llm.max_retries=0"];
    let ended = world.sortie([&["run", "x"], &flags[..]].concat()).on(&server, "anthropic").run();
    expect![[r#"
        exit 1
        --- stderr
        error: http://127.0.0.1:<port>/v1/messages: the model sent no content for 0.1 s; if it is only slow, raise the idle timeout (timeout)
        hint: `sortie resume agent-1___________ --timeout TIME` continues it
        agent-1___________ failed · main (test-model) · 0 calls · 0 tokens · <t>s
    "#]].assert_eq(&ended.transcript());
}

#[test]
fn a_limit_that_is_capped_is_told_in_the_outcome() {
    let world = World::new();
    let slow = "---\nname: slow\ndescription: Waits\nidleTimeout: 10\n---\nWait.\n";
    world.write("home/.config/sortie/agents/slow.md", slow);
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let task = ["task", "--agent", "explore", "--description", "d", "--prompt", "p"];
    let notices = |args: &[&str]| {
        let ended = world.sortie(args).on(&server, "anthropic").run();
        ended.stdout_json()["notices"].clone()
    };
    let run = |flags: &[&str]| notices(&[&["run", "x", "--output-format", "json"], flags].concat());
    let task = |flags: &[&str]| notices(&[&task[..], flags].concat());
    for (told, expected) in [
        (run(&["--max-turns", "150"]), "150 turns were asked for; `main` has 100"),
        (run(&["--max-children", "500"]), "requested 500 sub-agents; capped at 200"),
        (
            run(&["--agent", "slow", "--idle-timeout", "60"]),
            "requested 60 seconds of silence; capped at 10 seconds of silence",
        ),
        (task(&["--max-turns", "150"]), "150 turns were asked for; `explore` has 30"),
        (task(&["--max-children", "500"]), "requested 500 sub-agents; capped at 200 sub-agents"),
        (task(&["--timeout", "900"]), "requested 900 seconds; capped at 300 seconds"),
        (
            task(&["--max-tokens", "80k", "--set", "task_tool.max_tokens=50000"]),
            "requested 80000 tokens; capped at 50000 tokens",
        ),
    ] {
        let told = told.to_string();
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let ended = world.sortie(["run", "x", "--output-format", "json"]).on(&server, "anthropic").run().stdout_json();
    let (id, more) = (ended["task_id"].as_str().unwrap(), ["--max-turns", "150", "--max-children", "500"]);
    let resumed = world.sortie([&["resume", id, "More.", "--output-format", "json"], &more[..]].concat());
    let told = resumed.on(&server, "anthropic").run().stdout_json()["notices"].to_string();
    for expected in ["150 turns were asked for", "requested 500 sub-agents; capped at 200 sub-agents"] {
        assert!(told.contains(expected), "{told}");
    }
}
