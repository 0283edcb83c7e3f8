//! Texts of models, files and agents are shown to people without steering their terminals.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::calls::{call, read};
use crate::terminal::terminal;
use crate::world::{PROMPT, World, as_each_user};

/// Clears the screen, sets the clipboard, hides a link, overwrites a line; in seven and in eight bits.
const ESCAPES: &str = "\u{1b}[2J\u{1b}]52;c;cm0=\u{7}\u{1b}]8;;http://evil\u{1b}\\x\u{1b}P1$t\u{1b}\\\u{9b}2J\u{9d}0;t\u{9c}\rover\u{8}\u{202e}";
/// Part that must be shown, so that an empty display does not pass as a harmless one.
const SEEN: &str = "[2J";

/// All styles of progress.
const SHOWS: [&str; 3] = ["blocks", "line", "boxes"];

/// Main agent and sub-agent that write it wherever they can.
fn loud() -> ScriptedServer {
    let arguments = json!({"description": format!("Look {ESCAPES}"), "prompt": format!("CHILD {ESCAPES}"), "subagent_type": "explore"});
    let calls =
        [read(&format!("no{ESCAPES}where")), call(&format!("Tool{ESCAPES}"), json!({})), call("Task", arguments)];
    let script = Script::new()
        .on(when::prompt_contains(PROMPT).turn(0), reply::text(ESCAPES).calls(calls))
        .on(when::prompt_contains(PROMPT), reply::text(format!("all in all {ESCAPES}")))
        .on(when::turn(0), reply::text(ESCAPES).calls([read(ESCAPES)]))
        .otherwise(reply::text(format!("report {ESCAPES}")));
    ScriptedServer::start(script).unwrap()
}

/// Output of a program with a person at its terminal. The terminal knows no escapes, so all escapes come from
/// elsewhere.
fn shown(mut command: Command) -> String {
    let (mut person, guest) = terminal();
    command.env("TERM", "dumb").env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(guest.try_clone().unwrap()).stderr(guest);
    let mut program = command.spawn().unwrap();
    // The command still holds the terminal's other end.
    drop(command);
    let mut shown = Vec::new();
    // A terminal whose other end is closed returns EIO.
    person.read_to_end(&mut shown).ok();
    program.wait().unwrap();
    // The terminal itself adds a carriage return to each line.
    String::from_utf8_lossy(&shown).replace("\r\n", "\n")
}

fn assert_harmless(shown: &str) {
    let is_steering = |letter: char| (letter.is_control() && !matches!(letter, '\n' | '\t')) || letter == '\u{202e}';
    let found: Vec<char> = shown.chars().filter(|letter| is_steering(*letter)).collect();
    assert!(found.is_empty(), "{found:?} in {shown:?}");
}

fn assert_shown_harmlessly(world: &World, args: &[&str], server: &ScriptedServer) {
    let shown = shown(world.command(&[], args, server));
    assert!(shown.contains(SEEN), "{args:?}: {shown}");
    assert_harmless(&shown);
}

#[test]
fn s78_no_displayed_text_steers_a_terminal() {
    as_each_user(|world| {
        let server = loud();
        let prompt = format!("{PROMPT} {ESCAPES}");
        for show in SHOWS {
            assert_shown_harmlessly(world, &["run", "--show", show, &prompt], &server);
        }
        assert_shown_harmlessly(world, &["tasks", "list", "--all"], &server);
        let tasks = shown(world.command(&[], &["tasks", "list"], &server));
        let id = tasks.split_whitespace().find(|word| word.starts_with("agent-")).unwrap();
        assert_shown_harmlessly(world, &["tasks", "show", id], &server);
    });
}

#[test]
fn s78_names_of_agent_files_and_mistakes_do_not_steer_it_either() {
    as_each_user(|world| {
        let server = loud();
        // In quotes, so that YAML decodes its escapes.
        let text = "---\nname: odd\ndescription: \"evil \\e[2J\\u009b2J\"\n---\nEvil.\n";
        world.write("workspace/.sortie/agents/odd.md", text);
        world.write(&format!("workspace/.sortie/agents/{}.md", ESCAPES.replace('/', "")), text);
        world.write("workspace/.sortie/config.toml", format!("[evil]\n\"{}\" = 1\n", "\\u001b[2J\\u009b2J"));
        for args in [&["agents", "list"][..], &["agents", "check"], &["doctor"], &["config", "show"]] {
            assert_harmless(&shown(world.command(&[], args, &server)));
        }
        for args in [&["agents", "show", ESCAPES][..], &["tasks", "show", ESCAPES], &["run", "--agent", ESCAPES, "x"]] {
            assert_shown_harmlessly(world, args, &server);
        }
    });
}
