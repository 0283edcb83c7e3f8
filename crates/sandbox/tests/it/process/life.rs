//! Commands end, with everything that they started.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use sortie_sandbox::process::{How, Program, Shell, Tier, spawn};

use super::cell::{CAPS, Cell, ancestry, is_alive, marker, parent, within_two_seconds};
use super::victim;
use crate::another_user::ALONE;

const ALL: [Tier; 3] = [Tier::Namespaces, Tier::Landlock, Tier::None];

/// Ways to escape the shell, with the marker as the time to sleep.
fn escapes(marker: &str) -> [String; 6] {
    [
        format!("sleep {marker} &"),
        format!("setsid nohup sleep {marker} > /dev/null 2>&1 & disown"),
        format!("(setsid setsid sh -c 'sleep {marker} & sleep {marker}' &) &"),
        format!("perl -e 'fork and exit; fork and exit; exec \"setsid\", \"sleep\", \"{marker}\"'"),
        format!("sh -c 'trap \"\" TERM INT HUP; setsid sleep {marker}' &"),
        // A name that is not valid UTF-8.
        format!("ln -s /bin/sleep $'\\xff'; (setsid ./$'\\xff' {marker} &)"),
    ]
}

#[test]
fn an_ending_is_reported_as_it_was() {
    for tier in ALL {
        let cell = Cell::new(tier);
        assert_eq!(cell.end("exit 0").0.how, How::Exited { code: 0 });
        assert_eq!(cell.end("exit 7").0.how, How::Exited { code: 7 });
        assert_eq!(cell.end("no-such-program").0.how, How::Exited { code: 127 });
        assert_eq!(cell.end("kill -TERM $$").0.how, How::Signalled { signal: 15 });
        assert_eq!(cell.end("kill -KILL $$").0.how, How::Signalled { signal: 9 });
        assert_eq!(cell.end("false | true; exit ${PIPESTATUS[0]}").0.how, How::Exited { code: 1 });
    }
}

#[test]
fn processes_left_running_end_with_the_command() {
    for tier in ALL {
        let cell = Cell::new(tier);
        let marker = marker();
        for command in escapes(&marker) {
            let began = Instant::now();
            let started = format!("{command}\nwhile ! grep -qs {marker} /proc/[0-9]*/cmdline; do :; done; echo up");
            assert_eq!(cell.run(&started), "up\n");
            assert!(!is_alive(&marker), "{tier:?} {command}");
            assert!(began.elapsed() < Duration::from_secs(20), "{tier:?} {command}");
        }
    }
}

#[test]
fn a_stop_ends_a_command_that_ignores_every_signal() {
    for tier in ALL {
        let cell = Cell::new(tier);
        let marker = marker();
        for escape in escapes(&marker) {
            let command = format!("trap '' TERM INT HUP; {escape}\necho up; while :; do sleep {marker}; done");
            let running = cell.spawn(&command).unwrap();
            let stopper = running.stopper();
            let mut stopped = None;
            let ended = running.finish(CAPS, &mut |_| {
                stopper.stop();
                stopper.stop();
                stopped = Some(Instant::now());
            });
            assert_eq!(ended.unwrap().how, How::Cancelled, "{tier:?} {command}");
            assert!(stopped.unwrap().elapsed() < Duration::from_secs(2), "{tier:?} {command}");
            assert!(!is_alive(&marker), "{tier:?} {command}");
        }
    }
}

#[test]
fn a_deadline_ends_a_command() {
    for tier in ALL {
        let cell = Cell::new(tier);
        let marker = marker();
        let command = format!("trap '' TERM; sleep {marker} & echo up; while :; do :; done");
        let began = Instant::now();
        let running = cell.spawn_until(&command, Duration::from_millis(300)).unwrap();
        let mut output = Vec::new();
        let ended = running.finish(CAPS, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
        assert_eq!(ended.how, How::TimedOut);
        assert_eq!(output, b"up\n", "what came before is kept");
        assert!(began.elapsed() < Duration::from_millis(2300));
        assert!(!is_alive(&marker));
    }
}

#[test]
fn a_dropped_command_is_ended() {
    for tier in ALL {
        let cell = Cell::new(tier);
        let marker = marker();
        let command = format!("setsid sleep {marker} & sleep {marker}");
        let running = cell.spawn(&command).unwrap();
        within_two_seconds("it starts", || is_alive(&marker));
        drop(running);
        assert!(!is_alive(&marker), "{tier:?}");
    }
}

#[test]
fn a_command_ends_when_the_program_that_started_it_is_killed() {
    for tier in ALL {
        let cell = Cell::new(tier);
        let marker = marker();
        for escape in escapes(&marker) {
            let command = format!("trap '' TERM INT HUP; {escape}\necho up; sleep {marker}");
            let mut program = Command::new("/proc/self/exe");
            program.arg0(victim::NAME).arg(&cell.root).arg(format!("{tier:?}")).arg(&command).stdout(Stdio::piped());
            let mut program = {
                let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
                program.spawn().unwrap()
            };
            let mut line = String::new();
            BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "up\n");
            program.kill().unwrap();
            program.wait().unwrap();
            within_two_seconds(&format!("{tier:?} {command}"), || !is_alive(&marker));
        }
    }
}

#[test]
fn a_killed_keeper_takes_its_command_along() {
    let cell = Cell::new(Tier::Namespaces);
    let marker = marker();
    let command = format!("trap '' TERM; setsid sleep {marker} & sleep {marker}; true");
    let running = cell.spawn(&command).unwrap();
    within_two_seconds("it starts", || ancestry(&marker).len() > 4);
    // The command's parent is process 1 of its namespace, whose parent is the keeper.
    let ancestry = ancestry(&marker);
    let fork_server = ancestry.iter().position(|number| parent(*number) == Some(std::process::id())).unwrap();
    send(ancestry[fork_server - 1], Signal::KILL);
    assert_eq!(running.finish(CAPS, &mut |_| {}).unwrap().how, How::Lost);
    within_two_seconds("it ends", || !is_alive(&marker));
}

/// A process that may open nothing cannot wait on its open descriptors either.
#[test]
fn a_keeper_that_can_open_nothing_still_ends_everything() {
    for tier in ALL {
        for is_woken in [false, true] {
            let cell = Cell::new(tier);
            let marker = marker();
            let command = format!("trap '' TERM; (setsid sh -c 'sleep {marker} & wait' &); sleep {marker}; true");
            let running = cell.spawn(&command).unwrap();
            within_two_seconds("it starts", || ancestry(&marker).len() > 4);
            let ancestry = ancestry(&marker);
            let fork_server = ancestry.iter().position(|number| parent(*number) == Some(std::process::id())).unwrap();
            let keeper = ancestry[fork_server - 1];
            let none = Rlimit { current: Some(0), maximum: Some(0) };
            prlimit(Pid::from_raw(keeper.try_into().unwrap()), Resource::Nofile, none).unwrap();
            if is_woken {
                send(keeper, Signal::STOP);
                within_two_seconds("it halts", || has_state(keeper, 'T'));
                send(keeper, Signal::CONT);
            } else {
                running.stopper().stop();
            }
            running.finish(CAPS, &mut |_| {}).unwrap();
            assert!(!is_alive(&marker), "{tier:?} {is_woken}");
        }
    }
}

#[test]
fn a_killed_fork_server_is_replaced() {
    let cell = Cell::new(Tier::Namespaces);
    let marker = marker();
    let program = Program::this().unwrap();
    let command = format!("sleep {marker}; true");
    let shell = Shell { command: &command, directory: &cell.root, environment: &cell.environment, deadline: None };
    let running = spawn(&program, cell.tier, &cell.walls, &shell).unwrap();
    within_two_seconds("it starts", || ancestry(&marker).len() > 4);
    let fork_server = ancestry(&marker).into_iter().find(|number| parent(*number) == Some(std::process::id())).unwrap();
    send(fork_server, Signal::KILL);
    // Its memory goes first, then its descriptors; when it is a zombie, both are gone.
    within_two_seconds("it ends", || has_state(fork_server, 'Z'));
    assert!(is_alive(&marker), "a command does not depend on the fork server");
    let next = Shell { command: "true", ..shell };
    let ended = spawn(&program, cell.tier, &cell.walls, &next).unwrap().finish(CAPS, &mut |_| {}).unwrap();
    assert_eq!(ended.how, How::Exited { code: 0 });
    drop(running);
    assert!(!is_alive(&marker));
}

fn send(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process.try_into().unwrap()).unwrap(), signal).unwrap();
}

fn has_state(process: u32, state: char) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| stat.contains(&format!(") {state} ")))
}

#[test]
fn used_resources_are_counted() {
    for tier in ALL {
        let cell = Cell::new(tier);
        let (ended, _) = cell.end("perl -e '$x = \"a\" x 50_000_000; for (1 .. 3_000_000) {}' & wait");
        assert!(ended.cpu > Duration::from_millis(10), "{tier:?} {ended:?}");
        assert!((50_000_000..1_000_000_000).contains(&ended.max_memory), "{tier:?} {ended:?}");
    }
}
