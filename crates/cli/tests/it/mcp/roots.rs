//! Roots of a host: the workspace of `sortie mcp` is where the host works, not where it starts its servers.

use std::fs;

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::brief;
use super::session::Session;
use crate::world::World;

/// Agent that reads these files, one call each, and then reports.
fn reading(paths: &[String]) -> ScriptedServer {
    let calls = paths.iter().map(|path| reply::call("Read", json!({"file_path": path})));
    let calls: Vec<_> = calls.collect();
    let script = Script::new().on(when::turn(0), reply::calls(calls)).otherwise(reply::text("Read."));
    ScriptedServer::start(script).unwrap()
}

/// Two projects, and a directory that is neither.
fn world() -> World {
    let world = World::new();
    world.write("first/notes.md", "canary of the first\n");
    world.write("a b/sub/notes.md", "canary of the second\n");
    world.write("elsewhere/notes.md", "canary of elsewhere\n");
    world
}

fn uri(world: &World, path: &str) -> String {
    format!("file://{}", world.path(path).display()).replace(' ', "%20")
}

fn delegate(session: &mut Session, more: &Value) -> Value {
    let answer = session.ask("tools/call", brief(more));
    answer["result"]["structuredContent"].clone()
}

/// The model's input in its last request.
fn told(server: &ScriptedServer) -> String {
    server.requests().last().unwrap().body.to_string()
}

#[test]
fn the_first_root_is_the_workspace_and_the_others_are_added() {
    let world = world();
    let server = reading(&[
        "notes.md".to_owned(),
        world.path("a b/sub/notes.md").display().to_string(),
        world.path("elsewhere/notes.md").display().to_string(),
    ]);
    let invocation = world.sortie(["mcp"]).on(&server, "anthropic").cwd(world.path("elsewhere"));
    let mut session = Session::with_roots(invocation, &[uri(&world, "first"), uri(&world, "a b")]);
    let outcome = delegate(&mut session, &json!({}));
    assert_eq!(outcome["status"], "completed", "{outcome}");
    let told = told(&server);
    assert!(told.contains("canary of the first") && told.contains("canary of the second"), "{told}");
    assert!(!told.contains("canary of elsewhere"), "{told}");
    session.close();
    let listed = world.sortie(["tasks", "list"]).cwd(world.path("first")).run();
    assert!(listed.stdout.contains(outcome["task_id"].as_str().unwrap()), "{listed:#?}");
}

#[test]
fn the_root_around_the_servers_directory_is_the_workspace() {
    let world = world();
    let server = reading(&["sub/notes.md".to_owned()]);
    let invocation = world.sortie(["mcp"]).on(&server, "anthropic").cwd(world.path("a b/sub"));
    let mut session = Session::with_roots(invocation, &[uri(&world, "first"), uri(&world, "a b")]);
    delegate(&mut session, &json!({}));
    assert!(told(&server).contains("canary of the second"), "{}", told(&server));
    session.close();
}

#[test]
fn a_directory_named_on_the_command_line_is_stronger_than_roots() {
    let world = world();
    let server = reading(&["notes.md".to_owned()]);
    let cwd = world.path("first").display().to_string();
    let invocation = world.sortie(["mcp", "--cwd", &cwd]).on(&server, "anthropic");
    let mut session = Session::with_roots(invocation, &[uri(&world, "elsewhere")]);
    delegate(&mut session, &json!({}));
    assert!(told(&server).contains("canary of the first"), "{}", told(&server));
    session.close();
}

#[test]
fn roots_that_are_no_directories_are_left_out_with_a_notice_for_the_first_task() {
    let world = world();
    let server = reading(&["notes.md".to_owned()]);
    let invocation = world.sortie(["mcp"]).on(&server, "anthropic").cwd(world.path("elsewhere"));
    let roots = [
        "https://example.com/repository".to_owned(),
        uri(&world, "nowhere"),
        uri(&world, "first/notes.md"),
        uri(&world, "home"),
        uri(&world, "first"),
    ];
    let mut session = Session::with_roots(invocation, &roots);
    let outcome = delegate(&mut session, &json!({}));
    assert!(told(&server).contains("canary of the first"), "{}", told(&server));
    let notices = outcome["notices"].to_string();
    for why in ["only `file` URIs", "No such file", "it is no directory", "your home directory, which is no project"] {
        assert!(notices.contains(why), "{why}: {notices}");
    }
    let again = delegate(&mut session, &json!({"prompt": "AGAIN"}));
    assert!(!again["notices"].to_string().contains("root"), "{again}");
    let (code, stderr) = session.close();
    assert!(code == 0 && stderr.contains("is left out: it is no directory"), "{stderr}");
}

#[test]
fn new_roots_are_the_workspace_of_later_calls() {
    let world = world();
    let server = reading(&["notes.md".to_owned()]);
    let invocation = world.sortie(["mcp"]).on(&server, "anthropic").cwd(world.path("elsewhere"));
    let mut session = Session::with_roots(invocation, &[uri(&world, "first")]);
    delegate(&mut session, &json!({}));
    assert!(told(&server).contains("canary of the first"), "{}", told(&server));
    session.have_roots(&[uri(&world, "a b/sub")]);
    session.notify("notifications/roots/list_changed", &json!({}));
    // The server asks for them when it has read the notification; until then, calls have the old ones.
    let since = std::time::Instant::now();
    while !told(&server).contains("canary of the second") {
        assert!(since.elapsed() < std::time::Duration::from_secs(30), "{}", told(&server));
        delegate(&mut session, &json!({}));
    }
    session.close();
}

#[test]
fn agents_rules_and_background_work_are_those_of_the_root() {
    let world = world();
    world.write("first/.sortie/agents/looker.md", "---\nname: looker\ndescription: Looks around here\n---\nLook.\n");
    world.write("first/.sortie/config.toml", "[permissions]\ndeny = [\"Read(secret.md)\"]\n");
    world.write("first/secret.md", "canary of the secret\n");
    let server = reading(&["notes.md".to_owned(), "secret.md".to_owned()]);
    let invocation = world.sortie(["mcp"]).on(&server, "anthropic").cwd(world.path("elsewhere"));
    let mut session = Session::with_roots(invocation, &[uri(&world, "first")]);
    let listed = session.ask("tools/list", json!({})).to_string();
    assert!(listed.contains("Looks around here"), "{listed}");
    let launched = delegate(&mut session, &json!({"subagent_type": "looker", "run_in_background": true}));
    let waiting = json!({"name": "SubagentOutput", "arguments": {"task_id": launched["task_id"]}});
    let report = session.ask("tools/call", waiting).to_string();
    assert!(report.contains("Read.") && report.contains("completed"), "{report}");
    let told = told(&server);
    assert!(told.contains("canary of the first") && !told.contains("canary of the secret"), "{told}");
    session.close();
}

#[test]
fn a_server_without_a_project_asks_for_one_and_reads_nothing() {
    let world = world();
    world.write("home/.sortie/agents/looker.md", "---\nname: looker\ndescription: Looks at home\n---\nLook.\n");
    world.write("home/notes.md", "canary of the home\n");
    let home = world.path("home");
    for (cwd, what) in [(home.clone(), "your home directory"), ("/".into(), "all files of this machine")] {
        let server = reading(&["notes.md".to_owned()]);
        let invocation = || world.sortie(["mcp"]).on(&server, "anthropic").cwd(&cwd);
        let sessions = [
            Session::open(invocation(), &json!({})),
            Session::with_roots(invocation(), &[]),
            // Nor does a host's word make a project of it.
            Session::with_roots(invocation(), &[format!("file://{}", cwd.display())]),
        ];
        for mut session in sessions {
            let listed = session.ask("tools/list", json!({})).to_string();
            assert!(listed.contains("\"Task\"") && !listed.contains("Looks at home"), "{listed}");
            let answer = session.ask("tools/call", brief(&json!({})));
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            let text = answer["result"]["content"].to_string();
            assert!(text.contains(what) && text.contains("--cwd DIR") && text.contains("root"), "{text}");
            let listed = session.ask("tools/call", json!({"name": "SubagentList", "arguments": {}}));
            assert_eq!(listed["result"]["isError"], true, "{listed}");
            assert_eq!(session.close().0, 0);
        }
        assert_eq!(server.traffic().calls, 0);
    }
    let server = reading(&["notes.md".to_owned()]);
    let named = world.sortie(["mcp", "--cwd", "."]).on(&server, "anthropic").cwd(&home);
    let mut session = Session::open(named, &json!({}));
    assert_eq!(delegate(&mut session, &json!({}))["status"], "completed");
    session.close();
    assert!(fs::exists(world.path("home/notes.md")).unwrap());
}
