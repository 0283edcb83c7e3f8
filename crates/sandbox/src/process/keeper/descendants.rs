//! The end of everything that a command started, where no namespace does it: this process has adopted what lost its
//! parent, so that all that is left is below it.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, wait};

/// Kills until nothing is left. Children are stopped before any is killed, so that none can run away by forking.
pub(super) fn end_all() -> io::Result<()> {
    loop {
        let below = descendants()?;
        for signal in [Signal::STOP, Signal::KILL] {
            for descendant in &below {
                descendant.send(signal)?;
            }
        }
        if collect()? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Takes the statuses of those that have ended. True if there are no children any more.
fn collect() -> io::Result<bool> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Ok(false),
            Err(Errno::CHILD) => return Ok(true),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A process and its parent, as they were when they were looked at.
#[derive(Clone, Copy)]
struct Descendant {
    process: Pid,
    parent: Pid,
}

impl Descendant {
    /// Sends it a signal, if it is still there. Its number may be another's by now: a process is only taken for this one
    /// if it has the same parent.
    fn send(self, signal: Signal) -> io::Result<()> {
        let process = match pidfd_open(self.process, PidfdFlags::empty()) {
            Err(Errno::SRCH) => return Ok(()),
            other => other?,
        };
        if parent_of(self.process) != Some(self.parent) {
            return Ok(());
        }
        match pidfd_send_signal(process, signal) {
            Err(Errno::SRCH) => Ok(()),
            other => Ok(other?),
        }
    }
}

/// All processes below this one, as of now, parents first.
fn descendants() -> io::Result<Vec<Descendant>> {
    let all = processes()?;
    let below = |parent: Pid| all.iter().filter(move |descendant| descendant.parent == parent).copied();
    let mut found: Vec<Descendant> = below(getpid()).collect();
    let mut next = 0;
    while let Some(descendant) = found.get(next) {
        let children: Vec<Descendant> = below(descendant.process).collect();
        found.extend(children);
        next += 1;
    }
    Ok(found)
}

/// All processes of the machine that have a parent.
fn processes() -> io::Result<Vec<Descendant>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(process) = number.and_then(Pid::from_raw) else { continue };
        processes.extend(parent_of(process).map(|parent| Descendant { process, parent }));
    }
    Ok(processes)
}

/// `None` if the process has ended meanwhile.
fn parent_of(process: Pid) -> Option<Pid> {
    let status = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The name may contain anything, also brackets; the last one ends it.
    let (_, fields) = status.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}
