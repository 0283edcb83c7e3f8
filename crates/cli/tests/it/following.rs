//! `sortie tasks output --follow`: a task of another process, as it works.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::background::{held, id, kill, parked};
use crate::world::World;

#[test]
fn following_shows_a_tasks_steps_and_returns_its_exit_code() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    let following = world.sortie(["tasks", "output", &child, "--follow"]).start();
    let mut giving_up = world.sortie(["tasks", "output", &child, "--follow"]).hearing_signals().into_command();
    let mut given_up = giving_up.stdout(Stdio::piped()).spawn().unwrap();
    // It follows.
    given_up.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    kill_process(Pid::from_child(&given_up), Signal::INT).unwrap();
    assert_eq!(given_up.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    server.gate("child").open();
    server.gate("end").open();
    assert_eq!(live.wait().code, 0, "nobody else has ended");
    let followed = following.wait();
    let text = followed.stdout.as_str();
    assert_eq!(followed.code, 0, "{followed:#?}");
    assert!(text.starts_with(&format!("{child} explore on main (test-model), ")), "{text}");
    assert!(text.contains("\nFind it\n\n> LS\n  .: 2 entries\n\n"), "{text}");
    assert!(text.contains(&format!("\n{child} explore completed, 1 call, ")), "{text}");
    assert!(text.ends_with("\n\nThe child's report.\n"), "told once: {text}");
    let again = world.sortie(["tasks", "output", &child, "--follow"]).run();
    assert_eq!((again.code, &again.stdout), (0, &followed.stdout), "the same afterwards");
}

#[test]
fn following_ends_with_its_reader_even_if_the_task_is_idle() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    let mut command = world.sortie(["tasks", "output", &child, "--follow"]).into_command();
    let mut following = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Like `head -1`.
    let mut reader = BufReader::new(following.stdout.take().unwrap());
    reader.read_line(&mut String::new()).unwrap();
    drop(reader);
    let since = Instant::now();
    while following.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(30), "it follows for nobody");
        std::thread::yield_now();
    }
    let ended = following.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap().as_str()), (Some(0), ""));
    server.gate("child").open();
    server.gate("end").open();
    assert_eq!(live.wait().code, 0, "nobody else has ended");
}

#[test]
fn following_ends_if_the_task_has_lost_its_process() {
    let (world, server) = (World::new(), held(true));
    let (live, child) = parked(&world, &server);
    let following = world.sortie(["tasks", "output", &child, "--follow"]).start();
    kill(live);
    let ended = following.wait();
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("was interrupted, and no process runs it"), "{ended:#?}");
    assert!(ended.stderr.contains(&format!("hint: sortie resume {}", id(&world.tasks(2)[0]))), "{ended:#?}");
}
