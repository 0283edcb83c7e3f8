//! Processes that a command leaves running end with it, with its task, and with Sortie itself.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie_testkit::{Gate, Script, ScriptedServer, reply, when};

use super::{BYPASS, background, bash};
use crate::aftermath::Aftermath;
use crate::calls::{call, main_agent, task};
use crate::world::{PROMPT, World, as_each_user};

/// Far more than any end takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sleep time in seconds that no other process of the machine uses.
fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("7{:07}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// True if a process sleeps for that long.
fn is_alive(marker: &str) -> bool {
    fs::read_dir("/proc").unwrap().any(|process| {
        let command = fs::read(process.unwrap().path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).split('\0').any(|word| word == marker)
    })
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        // Sleeps on purpose: nothing signals the end of another program's process.
        thread::sleep(Duration::from_millis(5));
    }
}

fn assert_gone(marker: &str) {
    wait_until(&format!("what sleeps {marker} s is gone"), || !is_alive(marker));
}

/// Ways to leave the shell behind. Each reports that it has left once the sleeper really sleeps.
fn escapes(marker: &str) -> [String; 6] {
    [
        format!("sleep {marker} &"),
        format!("setsid nohup sleep {marker} > /dev/null 2>&1 & disown"),
        format!("(setsid setsid sh -c 'sleep {marker} & sleep {marker}' &) &"),
        format!("perl -e 'fork and exit; fork and exit; exec \"setsid\", \"sleep\", \"{marker}\"'"),
        format!("sh -c 'trap \"\" TERM INT HUP; setsid sleep {marker}' &"),
        format!("coproc setsid sleep {marker}"),
    ]
    .map(|way| format!("{way}\nuntil grep -qsx sleep /proc/[0-9]*/comm; do :; done; echo it is left"))
}

/// Main agent with these turns; each reply but the first waits until it is released.
fn slowly<const N: usize>(turns: [sortie_testkit::ScriptedReply; N]) -> Script {
    let held = |turn: u32| format!("turn {turn}");
    (0..).zip(turns).fold(Script::new(), |script, (turn, reply)| {
        let reply = if turn == 0 { reply } else { reply.held_by(held(turn)) };
        script.on(when::prompt_contains(PROMPT).turn(turn), reply)
    })
}

/// Program that runs while a test looks at the world.
struct Watched<'a> {
    server: &'a ScriptedServer,
}

impl Watched<'_> {
    /// Waits until the main agent's model is asked for its next reply.
    fn is_asked_for(&self, turn: usize) {
        let asked =
            || self.server.requests().iter().filter(|request| request.body.to_string().contains(PROMPT)).count();
        wait_until(&format!("turn {turn}"), || asked() > turn);
    }

    fn let_through(&self, turn: u32) {
        self.gate(turn).open();
    }

    fn gate(&self, turn: u32) -> Gate {
        self.server.gate(&format!("turn {turn}"))
    }
}

/// Releases everything, even after a failed test: the program has to end.
impl Drop for Watched<'_> {
    fn drop(&mut self) {
        (1..5).for_each(|turn| self.let_through(turn));
    }
}

fn run_while(world: &World, script: Script, look: impl FnOnce(&Watched<'_>)) -> Aftermath {
    let server = ScriptedServer::start(script).unwrap();
    let args = [&["run", "--output-format", "stream-json"], BYPASS, &[PROMPT]].concat();
    let mut command = world.command(&[], &args, &server);
    let output = thread::scope(|scope| {
        let watched = Watched { server: &server };
        let run = scope.spawn(move || command.output().unwrap());
        look(&watched);
        drop(watched);
        run.join().unwrap()
    });
    Aftermath::new(output, &server)
}

#[test]
fn s27_processes_that_a_command_leaves_running_end_with_its_call() {
    as_each_user(|world| {
        let marker = marker();
        let script = slowly([reply::calls(escapes(&marker).map(|line| bash(&line))), reply::text("done")]);
        let after = run_while(world, script, |program| {
            program.is_asked_for(1);
            assert_gone(&marker);
        });
        for answer in after.assert_completed().answers() {
            answer.assert_done();
            assert!(answer.text.contains("it is left"), "{answer:#?}");
        }
    });
}

#[test]
fn s27_a_command_that_ignores_every_signal_ends_at_its_timeout() {
    as_each_user(|world| {
        let marker = marker();
        let line = format!("trap '' TERM INT HUP QUIT; echo begun; setsid sleep {marker} & sleep {marker}");
        let calls = [call("Bash", json!({"command": line, "timeout": 1000}))];
        let after = run_while(world, slowly([reply::calls(calls), reply::text("done")]), |program| {
            program.is_asked_for(1);
            assert_gone(&marker);
        });
        after.assert_completed().answer_of("main").assert_failed("timed out after 1 s");
        assert!(after.answer_of("main").text.contains("begun"), "{after:#?}");
    });
}

#[test]
fn s27_a_command_in_the_background_ends_with_its_task() {
    as_each_user(|world| {
        let marker = marker();
        let line = format!("trap '' TERM HUP; setsid sleep {marker} & sleep {marker}");
        let script = slowly([reply::calls([background(&line)]), reply::text("done")]);
        let after = run_while(world, script, |program| {
            program.is_asked_for(1);
            wait_until("it runs in the background", || is_alive(&marker));
        });
        after.assert_completed().answer_of("main").assert_done();
        assert_gone(&marker);
    });
}

#[test]
fn s27_a_sub_agents_background_command_ends_before_its_parent_continues() {
    as_each_user(|world| {
        let marker = marker();
        let line = format!("trap '' TERM; sleep {marker}");
        // The child continues once the sleeper sleeps.
        let script = slowly([reply::calls([task("general-purpose", "CHILD")]), reply::text("done")])
            .on(when::prompt_contains("CHILD").turn(0), reply::calls([background(&line)]))
            .on(when::prompt_contains("CHILD"), reply::text("It runs.").held_by("turn 3"));
        let after = run_while(world, script, |program| {
            wait_until("it runs in the background", || is_alive(&marker));
            program.let_through(3);
            program.is_asked_for(1);
            assert_gone(&marker);
        });
        after.assert_completed().answer_of("general-purpose").assert_done();
    });
}

#[test]
fn s27_a_killed_shell_takes_its_processes_along() {
    as_each_user(|world| {
        let marker = marker();
        let line = format!("trap '' TERM; setsid sleep {marker} & sleep {marker}");
        let kill = call("KillShell", json!({"shell_id": "bash_1"}));
        let script = slowly([reply::calls([background(&line)]), reply::calls([kill]), reply::text("done")]);
        let after = run_while(world, script, |program| {
            wait_until("it runs in the background", || is_alive(&marker));
            program.let_through(1);
            program.is_asked_for(2);
            assert_gone(&marker);
        });
        let answers = after.assert_completed().answers();
        assert!(answers[1].text.contains("bash_1 was ended"), "{answers:#?}");
    });
}

#[test]
fn s27_all_commands_end_when_the_program_itself_is_killed() {
    as_each_user(|world| {
        let markers = [marker(), marker()];
        let escape = |marker: &String| format!("trap '' TERM HUP; (setsid setsid sleep {marker} &); sleep {marker}");
        let script = main_agent([background(&escape(&markers[0])), bash(&escape(&markers[1]))]);
        let server = ScriptedServer::start(script).unwrap();
        let args = [&["run"], BYPASS, &[PROMPT]].concat();
        let mut command = world.command(&[], &args, &server);
        let mut program = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the commands run", || markers.iter().all(|marker| is_alive(marker)));
        program.kill().unwrap();
        program.wait().unwrap();
        for marker in &markers {
            assert_gone(marker);
        }
        // Placeholders for absent names go with the commands.
        wait_until("no placeholder is left", || !world.path("workspace/.sortie").exists());
    });
}

#[test]
fn s27_commands_neither_see_nor_reach_foreign_processes() {
    as_each_user(|world| {
        let pid = std::process::id();
        let line = format!("ls -d /proc/{pid} || kill -0 {pid} || echo nobody; ls -d /proc/[0-9]* | wc -l");
        let after = world.run(BYPASS, main_agent([bash(&line)]));
        let text = after.assert_completed().answer_of("main").text;
        assert!(text.contains("nobody"), "{text}");
        let count: usize = text.lines().find_map(|line| line.trim().parse().ok()).unwrap();
        assert!(count < 10, "process 1, the shell and what it runs: {text}");
    });
}
