//! Display for a person: stderr is a real terminal, stdout is not.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::run::delegating;
use crate::world::{Invocation, World};

/// Terminal of 80 columns: the person's end, and the programs' end.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&host).unwrap();
    unlockpt(&host).unwrap();
    let name = ptsname(&host, Vec::new()).unwrap();
    let guest = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    tcsetwinsize(&guest, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    (host, guest)
}

/// Runs it with stderr on a terminal; returns the content of stdout and the terminal.
pub(crate) fn on_terminal(invocation: Invocation, term: &str) -> (String, String) {
    let (host, guest) = terminal();
    let mut command = invocation.env("TERM", term).into_command();
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::from(guest)).spawn().unwrap();
    // The command still holds the terminal's other end; without this the reader would never see its end.
    drop(command);
    let reader = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // A terminal whose other end is closed returns EIO, not end of file.
        File::from(host).read_to_end(&mut shown).ok();
        shown
    });
    let output = output.wait_with_output().unwrap();
    let shown = String::from_utf8(reader.join().unwrap()).unwrap();
    (String::from_utf8(output.stdout).unwrap(), shown.replace("\r\n", "\n"))
}

#[test]
fn a_terminal_gets_boxes_and_working_lines_and_stdout_gets_only_the_answer() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let (stdout, shown) = on_terminal(world.sortie(["run", "QUESTION"]).on(&server, "anthropic"), "xterm");
    assert_eq!(stdout, "Errors are made in `src/auth.rs:2`.\n");
    assert_eq!(shown.matches("┌─ explore · agent-").count(), 2, "{shown}");
    assert_eq!(shown.matches("┌─ completed · explore · agent-").count(), 2, "{shown}");
    assert!(shown.contains("│ Task: Find auth errors "), "{shown}");
    assert!(shown.contains("│ src/auth.rs:2 returns AuthError "), "{shown}");
    assert!(shown.contains("\x1b[36m"), "in colour: {shown:?}");
}

#[test]
fn working_lines_are_redrawn_in_place_and_erased_at_the_end() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("done").after_ms(350))).unwrap();
    let (_, shown) = on_terminal(world.sortie(["run", "x"]).on(&server, "anthropic"), "xterm");
    let drawn = shown.matches("  main w").count();
    assert!(drawn > 1, "several frames: {shown:?}");
    assert_eq!(shown.matches("\x1b[1A\r\x1b[J").count(), drawn, "each one is taken back: {shown:?}");
}

#[test]
fn no_color_is_honoured_and_redrawing_still_works() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let (_, shown) =
        on_terminal(world.sortie(["run", "QUESTION"]).on(&server, "anthropic").env("NO_COLOR", "1"), "xterm");
    assert!(shown.contains("┌─ completed"), "{shown}");
    assert!(!shown.contains("\x1b[3") && !shown.contains("\x1b[2m"), "{shown:?}");
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let invocation = world.sortie(["run", "QUESTION"]).on(&server, "anthropic");
    let (_, shown) = on_terminal(invocation, "dumb");
    assert!(!shown.contains('\x1b') && !shown.contains('┌'), "{shown:?}");
    assert!(shown.contains(" started: Find auth errors"), "{shown}");
}
