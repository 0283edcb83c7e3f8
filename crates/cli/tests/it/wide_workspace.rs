//! Workspaces that are far more than a project: named and consented to before the first read, without their secrets.

use expect_test::expect;
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::ask::Session;
use crate::world::World;

const SECRETS: [&str; 7] =
    [".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".docker/config.json", ".my.cnf"];

fn answering() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("done"))).unwrap()
}

#[test]
fn without_a_person_to_ask_nothing_in_such_a_workspace_is_read() {
    let (world, server) = (World::new(), answering());
    world.write("home/.sortie/agents/broken.md", "---\nname: broken\n");
    let commands: [&[&str]; 5] = [
        &["run", "x"],
        &["run", "--output-format", "json", "x"],
        &["task", "--description", "d", "--prompt", "p"],
        &["mcp", "--http", "127.0.0.1:0"],
        // The project below which this directory lies is the home, and nobody named that.
        &["run", "x", "--cwd", "sub"],
    ];
    std::fs::create_dir(world.path("home/sub")).unwrap();
    for args in commands {
        let ended = world.sortie(args).on(&server, "anthropic").cwd(world.path("home")).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {ended:#?}");
        let home = world.path("home").display().to_string();
        let refusal = format!(
            "error: the workspace is {home}, your home directory, and nobody could be asked; nothing was read\n\
             hint: run it in a project's directory, or name one with --cwd DIR\n\
             hint: if this one is meant: --cwd {home}\n"
        );
        assert_eq!(ended.stderr, refusal, "{args:?}");
    }
    for (directory, what) in
        [("/".into(), "all files of this machine"), (world.path(""), "the directory above your home")]
    {
        let ended = world.sortie(["run", "x"]).on(&server, "anthropic").cwd(directory).run();
        assert!(ended.code == 2 && ended.stderr.contains(what), "{ended:#?}");
    }
    assert_eq!(server.traffic().calls, 0);
    assert!(world.kept_nothing());
    // Commands that let no agent work need no answer.
    for args in [&["tasks", "list"][..], &["config", "show"], &["models"], &["agents", "list"], &["schema"]] {
        assert_eq!(world.sortie(args).cwd(world.path("home")).run().code, 0, "{args:?}");
    }
}

#[test]
fn a_workspace_that_is_named_is_meant() {
    let (world, server) = (World::new(), answering());
    let home = world.path("home").display().to_string();
    for args in
        [&["run", "x", "--cwd", "."][..], &["run", "x", "--cwd", &home], &["resume", "--cwd", ".", "agent", "y"]]
    {
        let ended = world.sortie(args).on(&server, "anthropic").cwd(world.path("home")).run();
        assert!(!ended.stderr.contains("the workspace is"), "{ended:#?}");
        assert!(ended.code == 0 || args[0] == "resume", "{ended:#?}");
    }
    let id = world.tasks(2)[0]["task_id"].as_str().unwrap().to_owned();
    let ended = world.sortie(["resume", &id, "more"]).on(&server, "anthropic").cwd(world.path("home")).run();
    assert!(ended.code == 2 && ended.stderr.contains("nobody could be asked"), "{ended:#?}");
}

#[test]
fn a_person_is_asked_before_the_first_read() {
    let (world, server) = (World::new(), answering());
    let run = || world.sortie(["run", "x"]).on(&server, "anthropic").cwd(world.path("home"));
    let mut session = Session::start(run());
    let question = session.sees("Work there? [y/N] ");
    let named = format!("The workspace is {}, your home directory. ", world.path("home").display());
    assert!(question.starts_with(&named), "{question}");
    assert!(world.kept_nothing());
    session.types("n\n");
    session.sees("and the answer was no; nothing was read");
    assert_eq!((session.ends(), server.traffic().calls), ((2, String::new()), 0));
    let mut session = Session::start(run());
    session.sees("Work there? [y/N] ");
    session.types("y\n");
    assert_eq!(session.ends(), (0, "done\n".to_owned()));
}

#[test]
fn password_files_at_home_are_read_and_changed_by_no_tool_and_no_command() {
    let world = World::new();
    for secret in SECRETS {
        world.write(&format!("home/{secret}"), "machine example login me password canary\n");
    }
    world.write("home/notes.md", "password hints\n");
    // A project's own file of such a name is ordinary.
    world.write("home/project/.npmrc", "registry=https://registry.example\n");
    let read = |path: &str| reply::call("Read", json!({"file_path": path}));
    let mut calls: Vec<_> = SECRETS.iter().map(|secret| read(secret)).collect();
    calls.extend([read("notes.md"), read("project/.npmrc")]);
    calls.push(reply::call("Grep", json!({"pattern": "password", "output_mode": "content"})));
    calls.push(reply::call("Grep", json!({"pattern": "password", "path": ".netrc", "output_mode": "content"})));
    calls.push(reply::call("Write", json!({"file_path": ".pgpass", "content": "mine"})));
    calls.push(reply::call("Bash", json!({"command": format!("cat {} notes.md", SECRETS.join(" "))})));
    let script = Script::new().on(when::any().turn(0), reply::calls(calls)).otherwise(reply::text("done"));
    let server = ScriptedServer::start(script).unwrap();
    let run = world.sortie(["run", "--cwd", ".", "--permission-mode", "bypass", "x"]);
    let ended = run.on(&server, "anthropic").cwd(world.path("home")).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let told = server.requests().last().unwrap().body["messages"][2].to_string();
    assert!(!told.contains("canary"), "{told}");
    for secret in SECRETS {
        let refusal = format!("denied: people or Sortie keep secrets in `{secret}`, which no agent may read or change");
        assert!(told.contains(&refusal), "{secret}: {told}");
    }
    assert_eq!(told.matches("password hints").count(), 3, "read, found and printed: {told}");
    assert!(told.contains("registry.example"), "{told}");
    assert_eq!(std::fs::read_to_string(world.path("home/.pgpass")).unwrap().matches("canary").count(), 1);
    let explained = world.sortie(["explain", "Read(.netrc)", "--cwd"]).arg(world.path("home")).run();
    expect![[r#"
        exit 1
        --- stdout
        Read(.netrc) by main: denied

          Sortie  denies: people or Sortie keep secrets in `.netrc`, which no agent may read or change    ← decides

        It is denied: people or Sortie keep secrets in `.netrc`, which no agent may read or change.
    "#]]
    .assert_eq(&explained.transcript());
}

/// Home directory of somebody else on this machine: nearly every machine has services with one.
fn home_of_another() -> Option<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let users: Vec<Vec<&str>> = users.lines().map(|line| line.split(':').collect()).collect();
    let own: Vec<&str> = users.iter().filter(|user| user[2] == uid).map(|user| user[5]).collect();
    let is_a_place = |home: &str| !["/", "/dev", "/proc", "/sys"].contains(&home) && !own.contains(&home);
    let real = |home: &&str| std::fs::canonicalize(home).is_ok_and(|real| real.to_str() == Some(home));
    users.iter().map(|user| user[5]).filter(|home| is_a_place(home)).find(real).map(str::to_owned)
}

#[test]
fn homes_of_other_people_keep_their_passwords_in_a_workspace_that_holds_them() {
    let home = home_of_another().expect("a machine has users for its services");
    let (world, secret) = (World::new(), format!("{home}/.netrc"));
    let calls = [
        reply::call("Read", json!({"file_path": secret})),
        reply::call("Write", json!({"file_path": secret, "content": "mine"})),
    ];
    let script = Script::new().on(when::any().turn(0), reply::calls(calls)).otherwise(reply::text("done"));
    let server = ScriptedServer::start(script).unwrap();
    for command in [&["run", "x"][..], &["task", "--description", "d", "--prompt", "p"]] {
        let args = command.iter().chain(&["--cwd", "/", "--permission-mode", "bypass"]);
        let ended = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        let told = server.requests().last().unwrap().body["messages"][2].to_string();
        let refusal = format!("keep secrets in `{}`, which no agent may read or change", &secret[1..]);
        assert_eq!(told.matches(&refusal).count(), 2, "{told}");
        let project = world.path("workspace").display().to_string();
        let rule = format!("Read({secret})");
        let explained = |cwd: &str| world.sortie(["explain", rule.as_str(), "--cwd", cwd]).run().stdout;
        let said = explained("/");
        assert!(said.contains(&refusal), "{said}");
        assert!(!explained(&project).contains(&refusal), "nobody reads there anyway");
    }
}
