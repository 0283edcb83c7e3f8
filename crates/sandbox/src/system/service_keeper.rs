//! The keeper of a service without walls: it adopts what loses its parent, so that all that the service has started is
//! below it and ends with it, whatever group or session that has gone to.
//!
//! It was forked from a process with threads, and so it makes system calls and nothing else: it allocates nothing and
//! takes no lock.

use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, RawDir, SeekFrom, openat, seek};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, pidfd_open, wait,
};

use crate::system::descendants::is_child;
use crate::system::process::{end_by, exit};

/// How long the end of all that is left is waited for. What cannot be killed, because it is another user's or waits for
/// a disk, holds nobody up.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps a service, which is a child of this process and leads a group, until it ends, or nobody holds the other end of
/// the lifeline. A byte that comes from there asks the service to end. Then this process ends as the service did.
pub(super) fn keep(service: Pid, lifeline: BorrowedFd<'_>) -> ! {
    let mut kept = Kept { service, status: None };
    kept.watch(lifeline);
    if kept.status.is_none() {
        // All of it at once, as long as its number is no one else's.
        kill_process_group(service, Signal::KILL).ok();
    }
    kept.end_all();
    match kept.status.map(|status| (status.exit_status(), status.terminating_signal())) {
        Some((Some(code), _)) => exit(code),
        Some((None, Some(signal))) => end_by(signal),
        Some((None, None)) | None => exit(1),
    }
}

struct Kept {
    service: Pid,
    /// How it ended, if it has.
    status: Option<WaitStatus>,
}

impl Kept {
    /// Waits for its end, or for that of the lifeline.
    fn watch(&mut self, lifeline: BorrowedFd<'_>) {
        let Ok(service) = pidfd_open(self.service, PidfdFlags::empty()) else { return };
        loop {
            // Those that were adopted have ended by themselves, and nobody else asks for them.
            let is_alone = self.collect();
            if is_alone || self.status.is_some() {
                return;
            }
            let mut waiting = [PollFd::new(&lifeline, PollFlags::IN), PollFd::new(&service, PollFlags::IN)];
            match poll(&mut waiting, None) {
                Ok(_) if waiting[0].revents().is_empty() => {}
                Ok(_) => match rustix::io::read(lifeline, &mut [0_u8; 1]) {
                    Ok(1) => drop(kill_process(self.service, Signal::TERM)),
                    Err(Errno::INTR) => {}
                    _ => return,
                },
                // The end of a child interrupts it.
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Kills all that is left. Whose parent is killed becomes a child and is the next.
    fn end_all(&mut self) {
        let processes = openat(CWD, c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let deadline = Instant::now() + PATIENCE;
        while !self.collect() && Instant::now() < deadline {
            if let Ok(processes) = &processes {
                kill_children(processes);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes the statuses of those that have ended. True if there are no children any more.
    fn collect(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((ended, status))) if ended == self.service => self.status = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }
}

fn kill_children(processes: &OwnedFd) {
    seek(processes, SeekFrom::Start(0)).ok();
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut entries = RawDir::new(processes, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let number = entry.file_name().to_str().ok().and_then(|name| name.parse().ok());
        if let Some(process) = number.and_then(Pid::from_raw).filter(|process| is_child(*process)) {
            kill_process(process, Signal::KILL).ok();
        }
    }
}
