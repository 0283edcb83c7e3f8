//! The mark of a command's keeper: lets another process find and end it after its own program is gone.
//!
//! A keeper ends by itself as soon as its program does. The mark is for a keeper that has not noticed yet, or cannot.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Time for an orphaned keeper to end everything before it is killed with its command.
const GRACE: Duration = Duration::from_secs(2);

/// A process: its pid and start time, so that another one with the same pid is not mistaken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeeperMark {
    pub pid: u32,
    /// In the system's own clock, combined with a number of the boot.
    pub started: u64,
}

impl KeeperMark {
    /// The mark of the process behind a descriptor; `None` if it has ended.
    pub(super) fn of(keeper: BorrowedFd<'_>) -> Option<Self> {
        let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", keeper.as_raw_fd())).ok()?;
        let pid = told.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
        Some(Self { pid, started: start_of(pid)? })
    }

    /// Waits for the process to end, then kills it. False if it could not be ended.
    pub fn end(self) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return true };
        let keeper = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(keeper) => keeper,
            Err(errno) => return errno == Errno::SRCH,
        };
        // Checked after opening: from here on the descriptor means the checked process.
        if start_of(self.pid) != Some(self.started) {
            return true;
        }
        if ends_within(keeper.as_fd(), GRACE) {
            return true;
        }
        // It can fail only if the process has ended, or belongs to another user.
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

/// Start time of a process: clock ticks since boot, combined with a number of the boot; `None` if there is none, or it
/// has ended.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
    // A zombie has ended; only its parent has not noticed yet.
    let has_ended = matches!(fields.next()?, "Z" | "X");
    // The state is field 3 of proc(5), the start time is field 22.
    let ticks: u64 = fields.nth(18)?.parse().ok()?;
    (!has_ended).then(|| ticks ^ boot())
}

/// A number for this boot: ticks restart with each one.
fn boot() -> u64 {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    u64::from_str_radix(&digits, 16).unwrap_or_default()
}
