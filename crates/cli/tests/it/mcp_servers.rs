//! MCP servers of the user or of a trusted project, while tasks run.

use std::fs;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sortie_testkit::mcp_server::{self, ROLE};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::cost::priced_world;
use crate::world::World;

/// This binary is also the server that all tests here configure. As a test, it shows that a run can use the server.
#[test]
fn a_run_uses_a_server_of_the_settings_and_leaves_none_behind() {
    if let Some(role) = mcp_server::role() {
        return mcp_server::serve(&role);
    }
    let world = World::new();
    world.config(&configured(&world, "sound"));
    let server = calling("mcp__t__echo", &json!({ "text": "hello from afar" }));
    let ended = world.sortie(["run", "--allow", "mcp__t", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{ended:#?}");
    assert!(output(&server).contains("hello from afar"), "{}", output(&server));
    let [process] = started(&world)[..] else { panic!("one server was started: {:?}", started(&world)) };
    assert!(!is_running(process), "it ends before the run does");
}

fn definition(world: &World, role: &str) -> Value {
    let test = "mcp_servers::a_run_uses_a_server_of_the_settings_and_leaves_none_behind";
    fs::create_dir_all(world.path("home/marks")).unwrap();
    json!({
        "command": std::env::current_exe().unwrap(),
        "args": mcp_server::arguments(test),
        "env": { ROLE: role, "MARKS": world.path("home/marks"), "API_TOKEN": "${TOKEN_OF_TESTS:-none-was-set}" },
        "start_timeout_seconds": 60,
    })
}

/// That server in a settings file.
fn configured(world: &World, role: &str) -> String {
    let definition = definition(world, role);
    let variables = definition["env"].as_object().unwrap().iter().map(|(name, value)| format!("{name} = {value}"));
    let variables: Vec<String> = variables.collect();
    format!(
        "[mcp_servers.t]\ncommand = {}\nargs = {}\nstart_timeout_seconds = 60\n\n[mcp_servers.t.env]\n{}\n",
        definition["command"],
        definition["args"],
        variables.join("\n")
    )
}

/// Model that makes one call.
fn calling(tool: &str, arguments: &Value) -> ScriptedServer {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call(tool, arguments.clone())]))
        .otherwise(reply::text("Done."));
    ScriptedServer::start(script).unwrap()
}

/// Model's input in its last request.
fn output(server: &ScriptedServer) -> String {
    server.requests().last().unwrap().body.to_string()
}

/// Processes of servers.
fn started(world: &World) -> Vec<i32> {
    let marks = fs::read_dir(world.path("home/marks")).unwrap().map(|mark| mark.unwrap().file_name());
    marks.filter_map(|mark| mark.to_str().unwrap().strip_prefix("started-")?.parse().ok()).collect()
}

/// True if the process runs. A killed one may stay listed until it is reaped.
fn is_running(process: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

fn wait_until(what: impl Fn() -> bool) {
    let since = Instant::now();
    while !what() {
        assert!(since.elapsed() < Duration::from_mins(1), "it does not come");
        // Sleeps on purpose: other processes do not signal their start or end.
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn without_a_rule_a_call_is_refused_and_the_refusal_names_it() {
    let world = World::new();
    world.config(&configured(&world, "sound"));
    let server = calling("mcp__t__echo", &json!({ "text": "hello" }));
    world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    assert!(output(&server).contains("--allow 'mcp__t__echo'"), "{}", output(&server));
}

#[test]
fn a_projects_servers_are_started_only_if_it_is_trusted() {
    let world = World::new();
    let servers = json!({ "mcpServers": { "t": definition(&world, "sound") } });
    world.write("workspace/.mcp.json", &servers.to_string());
    let run = |more: &[&str]| {
        let server = calling("mcp__t__echo", &json!({ "text": "hello from afar" }));
        let args = ["run", "--allow", "mcp__t"].iter().chain(more).chain(&["QUESTION"]);
        let ended = world.sortie(args).on(&server, "anthropic").run();
        (ended.stderr, output(&server))
    };
    let (stderr, told) = run(&[]);
    let ignored = "warning: .mcp.json, which sets up t, is ignored: this project is not trusted; look at .mcp.json, then run `sortie trust`\n";
    assert!(stderr.starts_with(ignored), "{stderr}");
    assert!(told.contains("There is no tool `mcp__t__echo`"), "{told}");
    assert_eq!(started(&world), [0; 0], "nothing was started");
    assert!(run(&["--trust"]).1.contains("hello from afar"));
    world.sortie(["trust", "--yes"]).run();
    assert!(run(&[]).1.contains("hello from afar"));
    // Trust covers the file as it was.
    world.write("workspace/.mcp.json", &servers.to_string().replace("sound", "broken"));
    let (stderr, told) = run(&[]);
    assert!(
        stderr.contains(".mcp.json, which sets up t, is ignored: ") && told.contains("There is no tool"),
        "{stderr}{told}"
    );
}

#[test]
fn a_server_ends_with_a_run_that_is_killed() {
    let world = World::new();
    world.config(&configured(&world, "sound"));
    let server = calling("mcp__t__hang", &json!({}));
    let live = world.sortie(["run", "--allow", "mcp__t", "QUESTION"]).on(&server, "anthropic").start();
    wait_until(|| world.path("home/marks/hangs").exists());
    let [process] = started(&world)[..] else { panic!("one server was started") };
    let pid = Pid::from_raw(i32::try_from(live.child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert_eq!(live.wait().code, 137);
    wait_until(|| !is_running(process));
}

#[test]
fn a_servers_keys_reach_it_and_nobody_else() {
    let world = World::new();
    world.config(&configured(&world, "sound"));
    let server = calling("mcp__t__environment", &json!({}));
    let run = world.sortie(["run", "--allow", "mcp__t", "QUESTION"]).env("TOKEN_OF_TESTS", "tok-that-nobody-may-see");
    let run = run.env("ANTHROPIC_API_KEY", "key-of-another-one").on(&server, "anthropic");
    let ended = run.run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let told = output(&server);
    assert!(told.contains("API_TOKEN=[redacted"), "{told}");
    assert!(!told.contains("tok-that-nobody-may-see") && !told.contains("key-of-another-one"), "{told}");
    let shown = world.sortie(["config", "show"]).env("TOKEN_OF_TESTS", "tok-that-nobody-may-see").run().stdout;
    let line = shown.lines().find(|line| line.starts_with("mcp_servers.t")).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains("API_TOKEN = \"********\""), "{line}");
}

#[test]
fn a_server_that_does_not_start_is_a_notice_and_the_run_continues() {
    let world = World::new();
    world.config(&configured(&world, "broken"));
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let ended = world.sortie(["run", "--output-format", "json", "QUESTION"]).on(&server, "anthropic").run();
    let outcome = ended.stdout_json();
    assert_eq!((ended.code, &outcome["status"]), (0, &json!("completed")));
    let notice = "its tools are missing: mcp_unreachable: the MCP server `t` did not answer as one: it closed the \
                  connection (exit code 4); it said: no licence found";
    assert_eq!(outcome["notices"], json!([notice]));
    let log = fs::read_to_string(world.path("state/mcp-logs/t.log")).unwrap();
    assert!(log.starts_with("no licence found\n"), "{log}");
}

#[test]
fn a_mistake_in_a_definition_is_reported_with_its_place() {
    let world = World::new();
    world.config("[mcp_servers.x]\ncommand = \"y\"\narg = []\n[mcp_servers.\"a b\"]\nurl = \"http://x\"\n");
    let ended = world.sortie(["agents", "list"]).run();
    expect![[r#"
        error: <dir>/home/.config/sortie/config.toml:4: `mcp_servers.a b`: a server's name has up to 40 letters, digits, `-` and single `_`, and neither begins nor ends with `_`
    "#]]
    .assert_eq(&crate::transcript::normalised(&ended.stderr, &world.path("")));
    world.config("[mcp_servers.x]\ncommand = \"y\"\narg = []\n");
    let ended = world.sortie(["agents", "list"]).run();
    expect![[r#"
        warning: <dir>/home/.config/sortie/config.toml:1 is ignored: `mcp_servers.x`: there is no `arg`; did you mean `args`?
    "#]]
    .assert_eq(&crate::transcript::normalised(&ended.stderr, &world.path("")));
    world.config("");
    world.write("workspace/.mcp.json", "mcpServers: {}");
    let ended = world.sortie(["agents", "list", "--trust"]).run();
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.starts_with("error: .mcp.json: it is not valid JSON: "), "{}", ended.stderr);
}

#[test]
fn only_the_unusable_server_of_a_project_is_left_out() {
    let world = World::new();
    let servers = json!({ "mcpServers": {
        "t": definition(&world, "sound"),
        "old": { "url": "http://x", "type": "sse" },
        "a b": { "command": "y" },
        "z": { "command": "y", "alwaysAllow": [], "disabled": true },
    } });
    world.write("workspace/.mcp.json", &servers.to_string());
    let trusted = world.sortie(["trust", "--yes"]).run();
    assert_eq!(trusted.code, 0, "{trusted:#?}");
    let lines: Vec<&str> = trusted.stdout.lines().filter(|line| line.contains("MCP server `")).collect();
    let [spaced, old, _, off] = lines[..] else { panic!("four lines: {lines:#?}") };
    assert!(spaced.contains("`a b` is left out: a server's name has up to 40"), "{spaced}");
    assert!(old.ends_with("`old` calls http://x by `sse`, which is not supported"), "{old}");
    assert!(off.contains("`z` is switched off; it runs `y`"), "{off}");
    let server = calling("mcp__t__echo", &json!({ "text": "hello from afar" }));
    let ended = world.sortie(["run", "--allow", "mcp__t", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(output(&server).contains("hello from afar"), "{}", output(&server));
    assert!(ended.stderr.contains("the MCP server `old` cannot be started: its `type` is `sse`"), "{}", ended.stderr);
    let warnings: Vec<&str> = ended.stderr.lines().filter(|line| line.contains(".mcp.json: ")).collect();
    expect![[r#"
        warning: .mcp.json: the server `a b` is left out: a server's name has up to 40 letters, digits, `-` and single `_`, and neither begins nor ends with `_`
        warning: .mcp.json: the server `z` has a key that is ignored: there is no `alwaysAllow`; it has command, args, env, cwd, type, enabled, disabled, start_timeout_seconds,…"#]]
    .assert_eq(&warnings.join("\n"));
}

#[test]
fn a_server_of_the_old_transport_in_the_settings_stops_no_command() {
    let world = World::new();
    world.config("[mcp_servers.old]\ntype = \"sse\"\nurl = \"http://127.0.0.1:1/sse\"\n");
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let ended = world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{ended:#?}");
    let told = "the MCP server `old` cannot be started: its `type` is `sse`, a transport of 2024 that is not supported";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn only_servers_at_addresses_have_a_sign_in() {
    let world = World::new();
    world.config(&(configured(&world, "sound") + "[mcp_servers.far]\nurl = \"http://mcp.example.com/mcp\"\n"));
    for (words, expected) in [
        (["mcp", "login", "t"], "the MCP server `t`: it is a program on this machine"),
        (["mcp", "login", "nobody"], "no MCP server `nobody` is configured; far, t are"),
        (["mcp", "login", "far"], "it must begin with https://, or be of this machine"),
    ] {
        let ended = world.sortie(words).run();
        assert!(ended.code != 0 && ended.stderr.contains(expected), "{ended:#?}");
    }
    let ended = world.sortie(["mcp", "logout", "far"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "There are no tokens of far.\n"));
    assert_eq!(started(&world), [0; 0]);
}

#[test]
fn a_server_that_is_switched_off_is_shown_as_such_and_never_started() {
    let world = World::new();
    let off = configured(&world, "sound").replace("[mcp_servers.t]\n", "[mcp_servers.t]\nenabled = false\n");
    world.config(&off);
    let shown = world.sortie(["config", "show"]).run();
    let line = shown.stdout.lines().find(|line| line.starts_with("mcp_servers.t")).unwrap();
    assert!(line.contains(", enabled = false }") && shown.stderr.is_empty(), "{shown:#?}");
    let server = calling("mcp__t__echo", &json!({ "text": "hello" }));
    world.sortie(["run", "--allow", "mcp__t", "QUESTION"]).on(&server, "anthropic").run();
    assert!(output(&server).contains("There is no tool `mcp__t__echo`"), "{}", output(&server));
    assert_eq!(started(&world), [0; 0], "nothing was started");
    assert_eq!(world.sortie(["explain", "mcp__t__echo", "--allow", "mcp__t"]).run().code, 1);
}

#[test]
fn keys_of_a_server_that_an_agent_brings_reach_it_and_nobody_else() {
    let world = World::new();
    let mut own = definition(&world, "sound");
    own["args"].as_array_mut().unwrap().extend([json!("--skip"), json!("API_KEY=key-among-arguments")]);
    let file = json!({ "own": own });
    world.write(
        "workspace/.sortie/agents/keeper.md",
        &format!("---\nname: keeper\ndescription: keeps\nmcpServers: {file}\n---\nKeep.\n"),
    );
    let text = json!({ "text": "is it key-among-arguments?" });
    let calls = [reply::call("mcp__own__environment", json!({})), reply::call("mcp__own__echo", text)];
    let script = Script::new().on(when::turn(0), reply::calls(calls)).otherwise(reply::text("Done."));
    let server = ScriptedServer::start(script).unwrap();
    let run = world.sortie(["run", "--trust", "--agent", "keeper", "--allow", "mcp__own", "QUESTION"]);
    let ended = run.env("TOKEN_OF_TESTS", "tok-that-nobody-may-see").on(&server, "anthropic").run();
    let told = output(&server);
    assert!(told.contains("API_TOKEN=[redacted: known secret]"), "{ended:#?}{told}");
    assert!(told.contains("is it [redacted: known secret]?"), "{told}");
    assert!(!told.contains("tok-that-nobody-may-see"), "{told}");
}

/// Sortie as a server, as `claude mcp add --scope project sortie -- sortie mcp` writes it.
fn itself(command: &str, args: &Value) -> String {
    json!({ "mcpServers": { "sortie": { "command": command, "args": args } } }).to_string()
}

const SORTIE: &str = env!("CARGO_BIN_EXE_sortie");

#[test]
fn a_project_that_lists_sortie_does_not_make_sortie_start_itself_and_is_told_once() {
    let world = World::new();
    std::os::unix::fs::symlink(SORTIE, world.path("home/another-name")).unwrap();
    for command in [SORTIE.to_owned(), world.path("home/another-name").display().to_string()] {
        world.write("workspace/.mcp.json", &itself(&command, &json!(["mcp"])));
        let delegate = |name: &str| reply::call("Task", json!({"description": name, "prompt": name}));
        let script = Script::new()
            .on(when::prompt_contains("QUESTION").turn(0), reply::calls([delegate("ONE"), delegate("TWO")]))
            .otherwise(reply::text("Done."));
        let server = ScriptedServer::start(script).unwrap();
        let args = ["run", "--trust", "--allow", "mcp__sortie", "--output-format", "json", "QUESTION"];
        let ended = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        let told = "the MCP server `sortie` is Sortie itself and is left out";
        assert_eq!(ended.stdout.matches(told).count(), 1, "{}", ended.stdout);
        assert!(server.requests().iter().all(|request| !request.body.to_string().contains("mcp__sortie")));
    }
}

#[test]
fn an_agent_that_brings_sortie_as_its_server_is_told_that_it_has_none() {
    let world = World::new();
    let agent = format!(
        "---\nname: looker\ndescription: Looks\nmcpServers:\n  - mine:\n      command: {SORTIE}\n      args: [mcp]\n---\nLook.\n"
    );
    world.write("workspace/.sortie/agents/looker.md", &agent);
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let request = json!({"description": "Look", "prompt": "Look.", "subagent_type": "looker"}).to_string();
    let args = ["task", "--trust", "--allow", "mcp__mine", "--json", &request];
    let ended = world.sortie(args).on(&server, "anthropic").run();
    assert!(ended.stdout.contains("brings the MCP server `mine`"), "{ended:#?}");
    assert!(ended.stdout.contains("`mine` is Sortie itself"), "{ended:#?}");
}

#[test]
fn a_sortie_that_another_program_starts_for_sortie_refuses_to_serve() {
    let world = World::new();
    world.write("workspace/.mcp.json", &itself("/bin/sh", &json!(["-c", format!("exec {SORTIE} mcp")])));
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    let args = ["run", "--trust", "--allow", "mcp__sortie", "--output-format", "json", "QUESTION"];
    let ended = world.sortie(args).on(&server, "anthropic").run();
    assert!(ended.stdout.contains("another Sortie has started this server for its agents"), "{ended:#?}");
    let direct = world.sortie(["mcp"]).env("SORTIE_LEVEL", "1").run();
    assert_eq!((direct.code, direct.stdout.as_str()), (1, ""), "{direct:#?}");
    assert!(direct.stderr.contains("`mcp.nested = true` in your own configuration"), "{direct:#?}");
    // A trusted project cannot want it in the user's place.
    world.write("workspace/.sortie/config.toml", "[mcp]\nnested = true\n");
    let ended = world.sortie(args).on(&server, "anthropic").run();
    assert!(ended.stderr.contains("a project cannot set it, trusted or not"), "{ended:#?}");
    assert!(ended.stdout.contains("another Sortie has started this server"), "{ended:#?}");
}

/// World in which Sortie's agents use Sortie itself as an MCP server because their user wants that.
fn nesting(server: &ScriptedServer) -> World {
    let world = priced_world();
    world.config("[mcp]\nnested = true\n");
    let definition = json!({
        "command": SORTIE,
        "args": ["mcp", "--trust", "--allow", "mcp__sortie"],
        "env": {
            "HOME": world.path("home"),
            "SORTIE_HOME": world.path("state"),
            "LLM_BASE_URL": server.base_url(),
            "LLM_WIRE": "anthropic",
            "LLM_API_KEY": "key",
            "LLM_MODEL_ID": "test-model",
        },
        "call_timeout_seconds": 60,
        "start_timeout_seconds": 60,
    });
    world.write("workspace/.mcp.json", &json!({ "mcpServers": { "sortie": definition } }).to_string());
    world
}

/// Model that always delegates to Sortie as its server.
fn descending() -> ScriptedServer {
    let call = reply::call("mcp__sortie__Task", json!({"description": "Deeper", "prompt": "DEEPER"}));
    let script = Script::new().on(when::turn(0), reply::calls([call])).otherwise(reply::text("Done."));
    ScriptedServer::start(script).unwrap()
}

#[test]
fn a_wanted_sortie_counts_depth_through_all_processes() {
    for (depth, calls) in [("1", 4), ("2", 6)] {
        let server = descending();
        let world = nesting(&server);
        let max_depth = format!("task_tool.max_depth={depth}");
        let args = ["run", "--trust", "--allow", "mcp__sortie", "--set", &max_depth, "QUESTION"];
        let ended = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{ended:#?}");
        // Two of each task: the main agent and one on each level below it.
        assert_eq!(server.traffic().calls, calls, "depth {depth}: {:?}", world.tasks(0));
        assert_eq!(world.tasks(0).len(), calls as usize / 2);
    }
}

#[test]
fn a_wanted_sortie_keeps_the_budget_of_the_whole_chain() {
    for (flag, amount) in [("--max-cost-usd", "1"), ("--max-tokens", "100k")] {
        let deeper = || reply::call("mcp__sortie__Task", json!({"description": "Deeper", "prompt": "DEEPER <turn>"}));
        // Restless on every level.
        let script = Script::new()
            .on(when::last_contains("limit"), reply::text("What I have so far."))
            .on(when::turn(0), reply::calls([deeper(), deeper()]))
            .otherwise(reply::calls([deeper()]));
        let server = ScriptedServer::start(script).unwrap();
        let world = nesting(&server);
        let args = ["run", "--trust", "--allow", "mcp__sortie", flag, amount, "--output-format", "json", "QUESTION"];
        let outcome = world.sortie(args).on(&server, "anthropic").run().stdout_json();
        let tasks = world.tasks(0);
        assert!(tasks.len() > 2, "several processes worked: {tasks:?}");
        let (tokens, cost) = spent_by_all(&world);
        assert!(tokens <= 100_000 || flag != "--max-tokens", "{tokens} tokens: {outcome}");
        assert!(cost <= 1.0 || flag != "--max-cost-usd", "{cost} USD: {outcome}");
        assert_eq!(outcome["usage"]["total_tokens"], tokens, "the run's figures have the whole chain: {outcome}");
    }
}

/// Tokens and cost of all replies in the journal, which all processes share, at the prices of [`priced_world`].
fn spent_by_all(world: &World) -> (u64, f64) {
    let sql = world.sql();
    let mut replies = sql.prepare("SELECT body FROM events WHERE kind = 'model_replied'").unwrap();
    let bodies = replies.query_map([], |row| row.get::<_, String>(0)).unwrap();
    bodies.fold((0, 0.0), |(tokens, cost), body| {
        let body: Value = serde_json::from_str(&body.unwrap()).unwrap();
        let of = |kind: &str| body["reply"]["usage"][kind].as_u64().unwrap_or_default();
        let [input, output, read, written] =
            ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"].map(of);
        let price = 10.0 * input as f64 + 50.0 * output as f64 + read as f64 + 12.5 * written as f64;
        (tokens + input + output + read + written, cost + price / 1e6)
    })
}
