//! A person's approval covers the call that was shown, not its replacement.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use sortie_testkit::ScriptedServer;

use crate::calls::{WRITTEN, main_agent_in_turns, read, write};
use crate::terminal::terminal;
use crate::world::{PROMPT, World, as_each_user};

/// Result of a model's write to `notes.txt`, which a person approves after `meanwhile`.
fn told(world: &World, meanwhile: impl FnOnce()) -> String {
    let turns = [vec![read("src/main.rs")], vec![write("notes.txt")]];
    let server = ScriptedServer::start(main_agent_in_turns(turns)).unwrap();
    let (mut person, guest) = terminal();
    let mut command = world.command(&[], &["run", PROMPT], &server);
    command.env("TERM", "xterm").stdin(guest.try_clone().unwrap()).stdout(Stdio::null()).stderr(guest);
    let mut program = command.spawn().unwrap();
    // The command still holds the terminal's other end.
    drop(command);
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("[n]o (and why)") {
        let mut bytes = [0; 4096];
        let count = person.read(&mut bytes).unwrap_or_else(|error| panic!("it ended without a question: {error}"));
        shown.extend_from_slice(&bytes[..count]);
    }
    meanwhile();
    person.write_all(b"y\n").unwrap();
    // A terminal whose other end is closed returns EIO.
    person.read_to_end(&mut shown).ok();
    assert!(program.wait().unwrap().success(), "{}", String::from_utf8_lossy(&shown));
    server.requests().last().unwrap().body.to_string()
}

#[test]
fn s58_the_replacement_of_an_approved_file_is_not_approved() {
    as_each_user(|world| {
        let told = told(world, || world.link("src/main.rs", "workspace/notes.txt"));
        assert!(told.contains("may not be used: needs approval"), "{told}");
        assert_eq!(world.text("workspace/src/main.rs"), "fn main() {}\n");
    });
    as_each_user(|world| {
        told(world, || {});
        assert_eq!(world.text("workspace/notes.txt"), WRITTEN, "where nothing has changed, yes means yes");
    });
}
