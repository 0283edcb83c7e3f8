//! A run without walls, which the user requested by name, is impossible to miss.

use std::io::Read as _;
use std::process::Stdio;

use sortie_testkit::ScriptedServer;

use super::{BYPASS, bash};
use crate::calls::{delegated, main_agent};
use crate::terminal::terminal;
use crate::world::{PROMPT, World, as_each_user};

const NOTICE: &str = "commands ran without walls because of --unconfined";

/// Everything that a person sees of a sub-agent's command.
fn shown(world: &World, args: &[&str]) -> String {
    let server = ScriptedServer::start(delegated("general-purpose", [bash("true")])).unwrap();
    let (mut person, guest) = terminal();
    let mut command = world.command(&[], args, &server);
    command.env("TERM", "dumb").stdin(Stdio::null()).stdout(Stdio::null()).stderr(guest);
    let mut program = command.spawn().unwrap();
    // The command still holds the terminal's other end.
    drop(command);
    let mut shown = Vec::new();
    // A terminal whose other end is closed returns EIO.
    person.read_to_end(&mut shown).ok();
    assert!(program.wait().unwrap().success());
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn a_run_without_walls_says_so_in_every_status_line_and_in_its_outcome() {
    as_each_user(|world| {
        for show in ["blocks", "line", "boxes"] {
            let args = [&["run", "--unconfined", "--show", show], BYPASS, &[PROMPT]].concat();
            let shown = shown(world, &args);
            assert!(shown.contains("[unconfined]"), "{show}: {shown}");
        }
        let flags = [BYPASS, &["--unconfined"]].concat();
        let after = world.run(&flags, delegated("general-purpose", [bash("true")]));
        let told = after.assert_completed().told_to_main_agent();
        assert!(told.contains(NOTICE), "the parent is told: {told}");
        let after = world.run(&flags, main_agent([bash("true")]));
        let outcome = after.of_type("outcome").next().unwrap();
        assert!(outcome["notices"].to_string().contains(NOTICE), "{outcome:#}");
    });
}

#[test]
fn settings_cannot_remove_walls_and_standing_walls_cause_no_message() {
    as_each_user(|world| {
        world.write("home/.config/sortie/config.toml", "[shell]\nunconfined = true\n");
        world.write("workspace/.sortie/config.toml", "[permissions]\nunconfined = true\n");
        let args = [&["run"], BYPASS, &[PROMPT]].concat();
        assert!(!shown(world, &args).contains("[unconfined]"));
        let after = world.run(BYPASS, main_agent([bash("touch ../outside/new.txt")]));
        after.assert_completed().answer_of("main").assert_failed("Read-only file system");
        after.assert_unseen(NOTICE);
    });
}
