//! A command that exhausts a resource hits its limit, while another command and this program continue.
//!
//! Each attack reports when it is at the limit, stays there while the others are checked, and is then stopped.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{PoisonError, mpsc};
use std::thread;

use sortie_sandbox::SpillDir;
use sortie_sandbox::process::{Ended, How, OutputCaps, SpawnError, Stopper, Tier};

use super::cell::{CAPS, Cell, WALLED, is_alive, marker};
use crate::another_user::ALONE;

/// Directory of the small disk, in a process that has one.
const DISK: &str = "SANDBOX_TEST_DISK";

/// Runs an attack until `at_the_wall` sees in its output that it has hit the limit. Then an earlier command must
/// continue, a new one must run, and so must a program of this process. The attack must not have ended by then.
fn attack(cell: &Cell, command: &str, mut at_the_wall: impl FnMut(&[u8]) -> bool + Send) -> Ended {
    let sibling = Cell::new(cell.tier);
    let waiting = sibling.spawn("until [ -e go ]; do sleep 0.01; done; echo went on").unwrap();
    let running = cell.spawn(command).unwrap();
    let stopped = Stopped(running.stopper());
    let (sender, receiver) = mpsc::channel();
    let ended = thread::scope(|scope| {
        let attack = scope.spawn(move || {
            let mut show = |bytes: &[u8]| {
                if at_the_wall(bytes) {
                    sender.send(()).ok();
                }
            };
            running.finish(CAPS, &mut show).unwrap()
        });
        let stopped = stopped;
        receiver.recv().unwrap_or_else(|_| panic!("the attack never came to a wall: {command}"));
        fs::write(sibling.path("go"), "").unwrap();
        let mut output = Vec::new();
        waiting.finish(CAPS, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
        assert_eq!(output, b"went on\n");
        assert_eq!(sibling.run("echo fine > new && cat new"), "fine\n");
        assert!(Command::new("true").status().unwrap().success());
        drop(stopped);
        attack.join().unwrap()
    });
    assert_eq!(ended.how, How::Cancelled, "it would have continued: {command}");
    ended
}

/// Stops an attack on drop, even after a panic.
struct Stopped(Stopper);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// True once the output so far contains this text.
fn says(text: &'static str) -> impl FnMut(&[u8]) -> bool {
    let mut so_far = Vec::new();
    move |bytes| {
        so_far.extend_from_slice(bytes);
        String::from_utf8_lossy(&so_far).contains(text)
    }
}

#[test]
fn s31_a_fork_bomb_hits_its_limit_and_others_continue() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.walls.limits.processes = 301;
    let marker = marker();
    // Every process forks until it no longer can. Without a wall, pids get high, and that ends it.
    let bomb = "perl -e 'while ($$ < 5000) { next if defined fork; warn $!; last } sleep 600'";
    attack(&cell, &format!("{bomb} & sleep {marker}"), says("Resource temporarily unavailable"));
    assert!(!is_alive(&marker));
}

#[test]
fn s31_memory_is_refused_at_once_or_gradually_and_others_continue() {
    const AT_ONCE: &str = "perl -e '$x = \"a\" x (10 * 1024 ** 3); print \"all of it\\n\"'";
    const BIT_BY_BIT: &str = "perl -e 'push @x, \"a\" x (16 * 1024 ** 2) for 1 .. 640; print \"all of it\\n\"'";
    for tier in WALLED {
        for take in [AT_ONCE, BIT_BY_BIT] {
            let mut cell = Cell::new(tier);
            cell.walls.limits.memory = 256 << 20;
            let ended = attack(&cell, &format!("{take} || echo refused; sleep 600"), says("refused"));
            assert!(ended.max_memory < 400 << 20, "{tier:?} {ended:?}");
        }
    }
}

#[test]
fn s31_endless_output_is_read_and_others_continue() {
    const MUCH: u64 = 64 << 20;
    for tier in WALLED {
        let mut total = 0;
        let much = move |bytes: &[u8]| {
            total += bytes.len() as u64;
            total >= MUCH
        };
        let ended = attack(&Cell::new(tier), "yes", much);
        assert!(ended.output.total >= MUCH, "{ended:?}");
    }
}

/// The disk of the workspace is so small that filling it harms nobody. This needs a mount namespace of its own.
#[test]
fn s31_a_full_disk_affects_only_commands_that_need_it() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else {
        return run_on_a_small_disk("process::exhaustion::s31_a_full_disk_affects_only_commands_that_need_it");
    };
    for tier in WALLED {
        let cell = Cell::within(&disk, tier);
        attack(&cell, "head -c 1G /dev/zero > big; sleep 600", says("No space left on device"));
        assert_bytes_are_refused(&cell, &disk);
        cell.run("rm big && echo there is room again > new");
        let files = "perl -e 'for (1 .. 100_000) { open(F, \">\", \"file$_\") or die $! }'; sleep 600";
        attack(&cell, files, says("No space left on device"));
        assert_files_are_refused(cell);
    }
}

/// Commands run, though they cannot write, and an output that cannot be saved is reported.
fn assert_bytes_are_refused(cell: &Cell, disk: &Path) {
    let said = cell.fail("cat /etc/passwd > /dev/null && echo something > more");
    assert!(said.contains("No space left on device"), "{said}");
    let directory = tempfile::tempdir_in(disk).unwrap();
    let spill = SpillDir::open(&directory.path().join("spill")).unwrap();
    let running = cell.spawn("yes | head -c 300000").unwrap();
    let ended = running.finish(OutputCaps { unspilled: 1000, spill: Some(&spill) }, &mut |_| {}).unwrap();
    assert_eq!((ended.how, ended.output.total), (How::Exited { code: 0 }, 300_000));
    let failure = ended.output.spill_failure.unwrap_or_default();
    assert!(failure.contains("No space left on device"), "{failure}");
}

/// Commands run, unless a wall needs room for a file: better no command than one without its walls.
fn assert_files_are_refused(mut cell: Cell) {
    let error = fs::write(cell.path("another"), "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    cell.run("ls > /dev/null");
    cell.protect("absent");
    if cell.tier == Tier::Namespaces {
        let error = cell.spawn("true").unwrap_err();
        assert!(
            matches!(&error, SpawnError::Walls { source, .. } if source.kind() == ErrorKind::StorageFull),
            "{error}"
        );
    }
    cell.walls.protected.clear();
    cell.run("find . -name 'file*' -delete && echo there is room again > another");
}

/// Runs a test again with a small disk, in a mount namespace of its own; without the privilege, as root of a user
/// namespace. The disk goes away with the last process that sees it.
fn run_on_a_small_disk(test: &str) {
    const MOUNT: &str =
        "mount -t tmpfs -o size=1m,nr_inodes=500 small \"$1\" && exec \"$2\" --exact \"$3\" --nocapture";
    let disk = tempfile::tempdir_in("/var/tmp").unwrap();
    let as_root: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--map-root-user"] };
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]).args(as_root).args(["sh", "-c", MOUNT, "sh"]);
    command.arg(disk.path()).arg(std::env::current_exe().unwrap()).arg(test).env(DISK, disk.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        command.spawn().unwrap()
    };
    let output = started.wait_with_output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
