//! The mark of a command's keeper, by which another process finds and ends it, should the one that started it be gone.
//!
//! A keeper ends by itself as soon as its program does. This is for one that has not come to it yet, or cannot.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How long a keeper without its program has to end everything before it is killed, and its command with it.
const GRACE: Duration = Duration::from_secs(2);

/// A process: its pid and when it started, so that another one with the same pid is not mistaken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeeperMark {
    pub pid: u32,
    /// In the system's own count, marked with the boot.
    pub started: u64,
}

impl KeeperMark {
    /// Of the process behind a descriptor; `None` if it has ended.
    pub(super) fn of(keeper: BorrowedFd<'_>) -> Option<Self> {
        let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", keeper.as_raw_fd())).ok()?;
        let pid = told.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
        Some(Self { pid, started: start_of(pid)? })
    }

    /// Returns when the process is gone: it is waited for, and then killed. False if it could not be ended.
    pub fn end(self) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return true };
        let keeper = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(keeper) => keeper,
            Err(errno) => return errno == Errno::SRCH,
        };
        // Looked at after it was opened: from here on the descriptor means the process that was looked at.
        if start_of(self.pid) != Some(self.started) {
            return true;
        }
        if ends_within(keeper.as_fd(), GRACE) {
            return true;
        }
        // It can only fail because it has ended, or because it is somebody else's.
        pidfd_send_signal(&keeper, Signal::KILL).ok();
        ends_within(keeper.as_fd(), GRACE)
    }
}

fn ends_within(process: BorrowedFd<'_>, time: Duration) -> bool {
    let until = Instant::now() + time;
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], left.as_ref()) {
            Err(Errno::INTR) => {}
            other => return other.is_ok_and(|ready| ready > 0),
        }
    }
}

/// When a process started: clock ticks since boot, marked with the boot; `None` if there is none, or it has ended.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
    // A zombie has ended; only its parent has not noticed yet.
    let has_ended = matches!(fields.next()?, "Z" | "X");
    // The state is field 3 of proc(5), the start time is field 22.
    let ticks: u64 = fields.nth(18)?.parse().ok()?;
    (!has_ended).then(|| ticks ^ boot())
}

/// A number for this run of the kernel: ticks begin anew with each one.
fn boot() -> u64 {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    u64::from_str_radix(&digits, 16).unwrap_or_default()
}
