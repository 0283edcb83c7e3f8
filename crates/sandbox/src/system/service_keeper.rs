//! The keeper of a service without walls. It adopts orphans, so that everything the service has started is below it and
//! ends with it, in whatever group or session.
//!
//! It was forked from a process with threads, so it only makes system calls: it allocates nothing and takes no lock.

use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, RawDir, SeekFrom, openat, seek};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, pidfd_open, wait,
};

use crate::system::descendants::is_child;
use crate::system::process::{end_by, exit};

/// Time to wait for the remaining processes to end. One that cannot be killed, because it is another user's or waits
/// for a disk, must not block.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps a service until it ends, or nobody holds the other end of the lifeline. The service is a child of this process
/// and leads a group. A byte from there asks the service to end. Then this process ends as the service did.
pub(super) fn keep(service: Pid, lifeline: BorrowedFd<'_>) -> ! {
    let mut kept = Kept { service, status: None };
    kept.watch(lifeline);
    if kept.status.is_none() {
        // The whole group at once, while its number cannot have been reused.
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
    /// Its exit status, once it has ended.
    status: Option<WaitStatus>,
}

impl Kept {
    /// Waits until the service or the lifeline ends.
    fn watch(&mut self, lifeline: BorrowedFd<'_>) {
        let Ok(service) = pidfd_open(self.service, PidfdFlags::empty()) else { return };
        loop {
            // Adopted processes that ended by themselves; nobody else waits for them.
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
                // Interrupted by the end of a child.
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Kills everything left. The children of a killed process are adopted and come next.
    fn end_all(&mut self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let processes = retry_on_intr(|| openat(CWD, c"/proc", flags, Mode::empty()));
        let deadline = Instant::now() + PATIENCE;
        while !self.collect() && Instant::now() < deadline {
            if let Ok(processes) = &processes {
                kill_children(processes);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Collects the statuses of ended children. True if none are left.
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
