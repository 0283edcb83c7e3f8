//! Special files: reading one must not block, and takes nothing from it.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mknodat};
use serde_json::json;
use sortie_testkit::ScriptedPart;

use crate::aftermath::assert_all_failed;
use crate::calls::{call, edit, main_agent, multi_edit, read, write};
use crate::world::{World, as_each_user};

/// Devices that every command may write to, but for the second: who could write it could map shared memory.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// A run that waits for a writer would wait forever; this is far more than any other needs.
const PATIENCE: Duration = Duration::from_secs(30);

fn bash(line: &str) -> ScriptedPart {
    call("Bash", json!({"command": line}))
}

fn assert_answered_at_once(world: &World, path: &str) {
    let began = Instant::now();
    let calls = [read(path), write(path), edit(path), multi_edit(path)];
    let after = world.run(&["--permission-mode", "bypass", "--timeout", "30s"], main_agent(calls));
    assert!(began.elapsed() < PATIENCE, "{path}");
    let answers = after.assert_completed().answers();
    assert_all_failed(&answers, "only regular files can be");
}

#[test]
fn s13_pipes_and_sockets_are_refused_at_once_and_keep_what_is_in_them() {
    as_each_user(|world| {
        world.fifo("workspace/pipe");
        world.link("pipe", "workspace/link-to-pipe");
        let _socket = UnixListener::bind(world.path("workspace/socket")).unwrap();
        // Both ends are open here, so that the pipe keeps its content until somebody reads it.
        let flags = OFlags::RDWR | OFlags::NONBLOCK;
        let pipe = rustix::fs::open(world.path("workspace/pipe"), flags, Mode::empty()).unwrap();
        rustix::io::write(&pipe, b"a token of make's").unwrap();
        for path in ["pipe", "link-to-pipe", "socket"] {
            assert_answered_at_once(world, path);
        }
        let mut left = [0; 64];
        let count = File::from(pipe).read(&mut left).unwrap();
        assert_eq!(&left[..count], b"a token of make's");
    });
}

#[test]
fn s13_a_pipe_without_a_writer_is_not_waited_for() {
    as_each_user(|world| {
        world.fifo("workspace/pipe");
        assert_answered_at_once(world, "pipe");
    });
}

#[test]
fn s13_devices_are_refused() {
    as_each_user(|world| {
        let outside = world.run(&[], main_agent(["/dev/zero", "/dev/tty", "/proc/self/mem"].map(read)));
        assert_all_failed(&outside.answers(), "is outside the workspace");
        // Only root can make one; ordinary ones are tried above.
        if rustix::process::geteuid().is_root() {
            let zero = world.path("workspace/zero");
            let mode = Mode::RUSR | Mode::WUSR | Mode::ROTH | Mode::WOTH;
            mknodat(CWD, &zero, FileType::CharacterDevice, mode, makedev(1, 5)).unwrap();
            assert_answered_at_once(world, "zero");
        }
    });
}

/// Every change asks for what is there already: a test that fails must not break the machine.
#[test]
fn s13_no_command_changes_the_devices_of_this_machine() {
    as_each_user(|world| {
        let ways = [
            "chmod $(stat -c %a $d) $d",
            "chown $(stat -c %u:%g $d) $d",
            "touch -c -r $d $d",
            "perl -e 'chmod((stat STDIN)[2] & 07777, *STDIN) or exit 1' < $d",
        ];
        let line = |device: &str, way: &str| format!("d={device}; echo x > $d; ({way}) && echo CHANGED");
        let calls = DEVICES.iter().flat_map(|device| ways.iter().map(move |way| bash(&line(device, way))));
        let after = world.run(&["--allow", "Bash"], main_agent(calls));
        for answer in after.assert_completed().answers() {
            assert!(answer.failed && !answer.text.contains("CHANGED"), "{answer:#?}");
        }
        let write = DEVICES.map(|device| bash(&format!("exec 3> {device} && test -c {device}")));
        let answers = world.run(&["--allow", "Bash"], main_agent(write)).assert_completed().answers();
        for (device, answer) in DEVICES.iter().zip(answers) {
            assert_eq!(answer.failed, *device == "/dev/zero", "{device}: {answer:#?}");
        }
    });
}
