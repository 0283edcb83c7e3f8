//! Calls about whole processes: forking, ending, and the resources used by ended children.

#![expect(unsafe_code, reason = "forking and ending without cleaning up have no safe interface elsewhere")]

use std::ffi::c_long;
use std::io;
use std::mem;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, setrlimit};

/// Descriptor 0 of this process. To be called once, by a process that owns it.
pub(crate) fn standard_input() -> OwnedFd {
    // SAFETY: the fork server was started with it, and nothing else in it refers to it: it reads nothing through the
    // standard library.
    unsafe { OwnedFd::from_raw_fd(0) }
}

/// Handling of ended children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedChildren {
    /// The system forgets it at once.
    Forgotten,
    /// It stays until this process waits for it.
    Kept,
}

/// Sets the handling of children that end from now on.
pub(crate) fn set_ended_children(ended: EndedChildren) -> io::Result<()> {
    let disposition = match ended {
        EndedChildren::Forgotten => libc::SIG_IGN,
        EndedChildren::Kept => libc::SIG_DFL,
    };
    // SAFETY: neither of the two runs any code of ours.
    let before = unsafe { libc::signal(libc::SIGCHLD, disposition) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes everything from descriptor 3 on.
pub(crate) fn close_inherited() -> io::Result<()> {
    // SAFETY: called before the fork server opens anything, so nothing in this process refers to the closed
    // descriptors.
    check(unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) })
}

/// The child's id, or `None` in the child.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: only fork servers and keepers fork, and they have one thread, so the child finds no lock held by another.
    // A keeper forked from a process with more threads makes only system calls, and so does its child.
    let pid = unsafe { libc::fork() };
    check(c_long::from(pid))?;
    Ok(Pid::from_raw(pid))
}

/// Ends a forked process without the program's exit handlers, which are the parent's to run.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: nothing of this process runs any more.
    unsafe { libc::_exit(code) }
}

/// Kills all other processes of this process namespace. Only for its process 1: elsewhere it is refused.
pub(crate) fn kill_all_others() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: a signal to others has no effect on this process.
    check(c_long::from(unsafe { libc::kill(-1, libc::SIGKILL) }))
}

/// Resources used by all ended children and their descendants: processor time, and the bytes of the largest.
pub(crate) fn used_by_children() -> io::Result<(Duration, u64)> {
    // SAFETY: all-zero is a valid value of this plain structure, and the kernel fills it in during the call.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        check(c_long::from(libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage)))?;
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
    };
    Ok((time(usage.ru_utime) + time(usage.ru_stime), usage.ru_maxrss.unsigned_abs() << 10))
}

/// Ends this process by the signal that ended another one, without a core dump.
pub(crate) fn end_by(signal: i32) -> ! {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).ok();
    // SAFETY: the default action is no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    exit(1)
}

pub(super) fn check(answer: c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
