//! The first things that people type: a question without `run`, slips, other programs' words, and a task on a terminal.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use expect_test::expect;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::terminal::terminal;
use crate::world::World;

#[test]
fn a_word_that_is_no_command_gets_advice() {
    let world = World::new();
    let rows: [&[&str]; 12] = [
        &["Where is X?"],
        &["Where", "is", "it's", "X?"],
        &["--cwd", ".", "Fix the bug"],
        &["rnu"],
        &["taks", "list"],
        &["chat"],
        &["continue"],
        &["login"],
        &["init"],
        &["serve"],
        &["update"],
        &["zzz"],
    ];
    let mut said = String::new();
    for args in rows {
        let ended = world.sortie(args).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}");
        said += &ended.stderr;
    }
    expect![[r#"
        error: there is no command `Where is X?`
        hint: did you mean: sortie run 'Where is X?'
        error: there is no command `Where`
        hint: did you mean: sortie run 'Where is it'\''s X?'
        error: there is no command `Fix the bug`
        hint: did you mean: sortie run 'Fix the bug'
        error: there is no command `rnu`
        hint: did you mean: sortie run
        error: there is no command `taks`
        hint: did you mean: sortie task
        error: there is no command `chat`
        hint: `sortie run "…"` answers a request
        error: there is no command `continue`
        hint: `sortie resume` continues the last interrupted task
        error: there is no command `login`
        hint: there is no login: export ANTHROPIC_API_KEY=…, then run `sortie models --check`
        error: there is no command `init`
        hint: nothing has to be set up; `sortie config edit` opens the settings
        error: there is no command `serve`
        hint: `sortie mcp` serves other agents
        error: there is no command `update`
        hint: there is no updater: build the new version with `cargo build --release`
        error: there is no command `zzz`
        hint: `sortie --help` lists the commands; a request is: sortie run "…"
    "#]]
    .assert_eq(&said);
    // A command's own words are its own matter.
    let ended = world.sortie(["tasks", "lst"]).run();
    assert!(ended.code == 2 && ended.stderr.contains("unrecognized subcommand 'lst'"), "{}", ended.stderr);
}

#[test]
fn a_task_that_works_elsewhere_says_how_to_resume_it() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("done"))).unwrap();
    let place = world.path("my project");
    std::fs::create_dir_all(place.join(".git")).unwrap();
    assert_eq!(world.sortie(["run", "x"]).on(&server, "anthropic").cwd(&place).run().code, 0);
    let id = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    let ended = world.sortie(["resume", &id, "more"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 2, "{ended:#?}");
    let hint = format!("hint: cd '{}' && sortie resume {id} more\n", place.display());
    assert!(ended.stderr.ends_with(&hint), "{}", ended.stderr);
}

/// Runs `sortie task` with stdout on a terminal; returns its exit code and the content of the terminal.
fn on_a_terminal(world: &World, server: &ScriptedServer, args: &[&str]) -> (Option<i32>, String) {
    let (host, guest) = terminal();
    let run = world.sortie(["task", "--description", "d"].iter().chain(args)).on(server, "anthropic");
    let mut command = run.env("TERM", "xterm").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(guest).stderr(Stdio::null()).spawn().unwrap();
    // The command still holds the terminal's other end.
    drop(command);
    let mut shown = Vec::new();
    // A terminal whose other end is closed returns EIO.
    File::from(host).read_to_end(&mut shown).ok();
    (child.wait().unwrap().code(), String::from_utf8(shown).unwrap().replace("\r\n", "\n"))
}

#[test]
fn a_task_prints_text_to_a_person_and_json_to_a_program() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("It is in src/a.rs."))).unwrap();
    assert_eq!(on_a_terminal(&world, &server, &["--prompt", "p"]), (Some(0), "It is in src/a.rs.\n".to_owned()));
    let (code, shown) = on_a_terminal(&world, &server, &["--prompt", "p", "--output-format", "json"]);
    assert!(code == Some(0) && shown.contains("\"text\": \"It is in src/a.rs.\""), "{shown}");
    let refused = on_a_terminal(&world, &server, &["--prompt", "p", "--agent", "nobody"]);
    assert_eq!(refused, (Some(1), String::new()), "the reason is on stderr");
    let task = ["task", "--description", "d", "--prompt", "p"];
    let ended = world.sortie(task).on(&server, "anthropic").run();
    assert_eq!(ended.stdout_json()["text"], "It is in src/a.rs.");
    let ended = world.sortie(task.iter().chain(&["--output-format", "text"])).on(&server, "anthropic").run();
    assert_eq!(ended.stdout, "It is in src/a.rs.\n");
    let nobody = task.iter().chain(&["--output-format", "text", "--agent", "nobody"]);
    let ended = world.sortie(nobody).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("error: ") && ended.stderr.contains("nobody"), "{}", ended.stderr);
}
