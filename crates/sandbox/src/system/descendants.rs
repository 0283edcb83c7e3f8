//! Ends everything that a command started, where no namespace does it: this process adopts orphans, so that everything
//! left is below it.
//!
//! It works, if slower, even for a process that may open nothing any more.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, RawDir, SeekFrom, openat, seek};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal,
    set_child_subreaper, wait, waitid,
};

/// All processes below this one, from now on.
pub(crate) struct Descendants {
    /// `/proc`, opened in advance.
    processes: OwnedFd,
}

impl Descendants {
    pub(crate) fn adopt() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { processes: retry_on_intr(|| openat(CWD, "/proc", flags, Mode::empty()))? })
    }

    /// Kills until nothing is left. All are stopped before any is killed, so that none can escape by forking. If they
    /// cannot be inspected, only children are killed; their own children are adopted and come next.
    pub(crate) fn end_all(&self) -> io::Result<()> {
        loop {
            let numbers = self.numbers()?;
            let below = self.below(&numbers);
            for signal in [Signal::STOP, Signal::KILL] {
                for descendant in &below {
                    self.send(*descendant, signal);
                }
            }
            numbers.into_iter().filter(|number| is_child(*number)).try_for_each(kill)?;
            if collect()? {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The pids of all processes of the machine.
    fn numbers(&self) -> io::Result<Vec<Pid>> {
        seek(&self.processes, SeekFrom::Start(0))?;
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut entries = RawDir::new(&self.processes, &mut buffer);
        let mut numbers = Vec::new();
        while let Some(entry) = entries.next() {
            let number = entry?.file_name().to_str().ok().and_then(|name| name.parse().ok());
            numbers.extend(number.and_then(Pid::from_raw));
        }
        Ok(numbers)
    }

    /// Those of `numbers` that are currently below this process and can be inspected, parents first.
    fn below(&self, numbers: &[Pid]) -> Vec<Descendant> {
        let parent = |process: &Pid| self.parent_of(*process).map(|parent| Descendant { process: *process, parent });
        let all: Vec<Descendant> = numbers.iter().filter_map(parent).collect();
        let below = |parent: Pid| all.iter().filter(move |descendant| descendant.parent == parent).copied();
        let mut found: Vec<Descendant> = below(getpid()).collect();
        let mut next = 0;
        while let Some(descendant) = found.get(next) {
            let children: Vec<Descendant> = below(descendant.process).collect();
            found.extend(children);
            next += 1;
        }
        found
    }

    /// Sends a signal to one, if it is still there. Its pid may have been reused, so it is reached only if its parent
    /// is still the same. A descendant missed this way becomes a child.
    fn send(&self, descendant: Descendant, signal: Signal) {
        let Ok(process) = pidfd_open(descendant.process, PidfdFlags::empty()) else { return };
        if self.parent_of(descendant.process) == Some(descendant.parent) {
            pidfd_send_signal(process, signal).ok();
        }
    }

    /// `None` if the process has ended meanwhile, or cannot be inspected.
    fn parent_of(&self, process: Pid) -> Option<Pid> {
        let name = format!("{}/stat", process.as_raw_nonzero());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = retry_on_intr(|| openat(&self.processes, &name, flags, Mode::empty())).ok()?;
        let mut status = Vec::new();
        File::from(file).read_to_end(&mut status).ok()?;
        // The name may contain anything, even brackets; the last one ends it.
        let name_end = status.iter().rposition(|byte| *byte == b')')?;
        let fields = str::from_utf8(status.get(name_end + 1..)?).ok()?;
        Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
    }
}

/// A process and its parent at the time of inspection.
#[derive(Clone, Copy)]
struct Descendant {
    process: Pid,
    parent: Pid,
}

/// True for a child, which stays one under this pid until it is waited for.
pub(super) fn is_child(process: Pid) -> bool {
    waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG).is_ok()
}

fn kill(child: Pid) -> io::Result<()> {
    Ok(kill_process(child, Signal::KILL)?)
}

/// Collects the statuses of ended children. True if none are left.
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
