//! The owner of a task: the process that writes it, identified so that a reused pid is not mistaken for it.

use std::sync::OnceLock;

/// A process: its pid, its start time in the system's own clock, and the namespace of the pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    pub(crate) started: u64,
    /// The pid namespace, 0 if unknown: in another namespace the same pid is another process.
    pub(crate) space: u64,
}

/// Known state of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Running,
    Gone,
    /// It cannot be looked up from here; it may well be running.
    OutOfSight,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> Self {
        static CURRENT: OnceLock<Owner> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let pid = std::process::id();
            Self { pid, started: start_of(pid).unwrap_or_default(), space: own_space() }
        })
    }

    pub(crate) fn life(self) -> Life {
        self.seen_from(Self::current())
    }

    /// True if it counts as running; a process that cannot be looked up does.
    pub(crate) fn is_alive(self) -> bool {
        self.life() != Life::Gone
    }

    fn seen_from(self, here: Self) -> Life {
        if self == here {
            return Life::Running;
        }
        // No process survives a reboot.
        if is_of_another_boot(self.started) {
            return Life::Gone;
        }
        let is_elsewhere = self.space != here.space && self.space != 0;
        if is_elsewhere || !CAN_LOOK || here.started == 0 && NEEDS_PROC {
            return Life::OutOfSight;
        }
        if start_of(self.pid) == Some(self.started) { Life::Running } else { Life::Gone }
    }
}

/// True if other processes can be looked up at all.
const CAN_LOOK: bool = cfg!(unix);

/// True if lookups need `/proc`; without it this process has no start time either.
const NEEDS_PROC: bool = cfg!(target_os = "linux");

/// The number of this process's pid namespace.
#[cfg(target_os = "linux")]
fn own_space() -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |space| space.ino())
}

#[cfg(not(target_os = "linux"))]
fn own_space() -> u64 {
    0
}

/// Ticks count from boot and are combined with a number of the boot; those of another boot are wildly different.
#[cfg(target_os = "linux")]
fn is_of_another_boot(started: u64) -> bool {
    const TICKS_OF_CENTURIES: u64 = 1 << 40;
    boot() != 0 && started ^ boot() >= TICKS_OF_CENTURIES
}

#[cfg(not(target_os = "linux"))]
fn is_of_another_boot(_started: u64) -> bool {
    false
}

/// Start time of a process: clock ticks since boot, combined with a number of the boot; `None` if there is no such
/// process.
#[cfg(target_os = "linux")]
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    // A zombie has ended; only its parent has not noticed yet.
    let ended = matches!(state, "Z" | "X");
    // `state` is field 3 of proc(5), the start time is field 22.
    let ticks: u64 = fields.nth(18)?.parse().ok()?;
    (!ended).then(|| ticks ^ boot())
}

/// A number for this boot: ticks restart with each one.
#[cfg(target_os = "linux")]
fn boot() -> u64 {
    static BOOT: OnceLock<u64> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(12).collect();
        u64::from_str_radix(&digits, 16).unwrap_or_default()
    })
}

/// Start times are not read here: it is enough that a process with this pid exists.
#[cfg(all(unix, not(target_os = "linux")))]
fn start_of(pid: u32) -> Option<u64> {
    use rustix::process::{Pid, test_kill_process};
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    match test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(0),
        Err(_) => None,
    }
}

/// Other processes cannot be looked up here.
#[cfg(not(unix))]
fn start_of(_pid: u32) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        assert!(Owner::current().is_alive());
    }

    #[cfg(target_os = "linux")]
    fn other() -> (std::process::Child, Owner) {
        let child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner { pid: child.id(), started: start_of(child.id()).unwrap(), ..Owner::current() };
        (child, owner)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_is_alive_until_it_is_killed_even_before_it_is_reaped() {
        let (mut child, owner) = other();
        assert_eq!(owner.life(), Life::Running);
        child.kill().unwrap();
        while owner.is_alive() {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new(&format!("/proc/{}", owner.pid)).exists(), "it is still a zombie");
        child.wait().unwrap();
        assert_eq!(owner.life(), Life::Gone);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reused_pid_is_not_mistaken_for_its_former_owner() {
        let (mut child, owner) = other();
        assert!(!Owner { started: owner.started - 1, ..owner }.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_invisible_process_counts_as_running_unless_the_machine_rebooted() {
        let here = Owner::current();
        let elsewhere = Owner { pid: here.pid + 1, space: here.space + 1, ..here };
        assert_eq!(elsewhere.life(), Life::OutOfSight);
        assert!(elsewhere.is_alive());
        let before_the_boot = Owner { started: elsewhere.started ^ (1 << 47), ..elsewhere };
        assert_eq!(before_the_boot.life(), Life::Gone);
        // As in older files, and on systems without `/proc`.
        let of_an_older_file = Owner { space: 0, started: here.started - 1, ..here };
        assert_eq!(of_an_older_file.life(), Life::Gone);
        assert_eq!(of_an_older_file.seen_from(Owner { started: 0, ..here }), Life::OutOfSight);
    }

    /// The sandbox marks the keepers of commands the same way, and relies on it to end one by its mark.
    #[cfg(target_os = "linux")]
    #[test]
    fn processes_are_marked_as_the_sandbox_marks_them() {
        let (mut child, owner) = other();
        let mark = sortie_sandbox::process::KeeperMark { pid: owner.pid, started: owner.started };
        assert!(mark.end());
        assert!(child.try_wait().unwrap().is_some(), "the mark was taken for that of another process");
    }
}
