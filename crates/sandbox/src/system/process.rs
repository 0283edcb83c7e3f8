//! Calls about whole processes: forking, ending, and the resources used by ended children.

#![expect(unsafe_code, reason = "forking and ending without cleaning up have no safe interface elsewhere")]

use std::ffi::c_long;
use std::io;
use std::mem;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, setrlimit};

/// True from the moment this process is a fork server, in its children too.
static IS_FORK_SERVER: AtomicBool = AtomicBool::new(false);

/// Makes this process a fork server, once: closes everything from descriptor 3 on, and returns descriptor 0. Fails in a
/// process with other threads, which could use them.
pub(crate) fn become_fork_server() -> io::Result<OwnedFd> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 || IS_FORK_SERVER.swap(true, Ordering::Relaxed) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: the only thread is at the beginning of its work, once, and nothing in this process refers to the closed
    // descriptors.
    check(unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) })?;
    // SAFETY: the fork server was started with it, and nothing else in it refers to it: it reads nothing through the
    // standard library.
    Ok(unsafe { OwnedFd::from_raw_fd(0) })
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

/// The child's id, or `None` in the child. Only for fork servers and their children: elsewhere it is refused.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    if !IS_FORK_SERVER.load(Ordering::Relaxed) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: fork servers and keepers have one thread, so the child finds no lock held by another.
    let pid = unsafe { libc::fork() };
    check(c_long::from(pid))?;
    Ok(Pid::from_raw(pid))
}

/// Forks without the C library's handlers and locks, which in a process with threads another thread may hold. Returns
/// like `fork`.
///
/// # Safety
///
/// The child may only make system calls on plain numbers, until it executes a program or ends.
pub(super) unsafe fn fork_raw() -> i32 {
    // SAFETY: without a stack of its own, the child continues on a copy of this one. The other arguments are unused.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    i32::try_from(pid).unwrap_or(-1)
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
        // Not `raise`: after a raw fork, the C library has another thread's number.
        libc::kill(libc::getpid(), signal);
    }
    exit(1)
}

pub(super) fn check(answer: c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
