//! Lifelines: pipes by which a program ends, with all that it has started, when this program is gone.

#![expect(unsafe_code, reason = "code between fork and exec has no safe interface elsewhere")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal, setpgid};

use crate::system::process::{exit, fork};
use crate::system::service_keeper;

/// One end of a pipe, and the other whose end it tells of.
#[derive(Debug)]
pub(crate) struct Lifeline {
    /// Tells that nobody holds the other end any more.
    pub(crate) watched: OwnedFd,
    /// Held as long as the program shall live.
    pub(crate) held: OwnedFd,
}

impl Lifeline {
    pub(crate) fn new() -> io::Result<Self> {
        let (watched, held) = pipe_with(PipeFlags::CLOEXEC)?;
        // Above the standard ones, which a command gets anew.
        Ok(Self { watched: fcntl_dupfd_cloexec(watched, 3)?, held })
    }
}

/// Has the whole process group that a command leads killed as soon as nobody holds the other end of this pipe, so that
/// it ends with its program also where that is killed. A second process waits for that in the group. It is nobody's
/// child whom the command would have to wait for, and it ends with the group.
pub(crate) fn end_group_with(command: &mut Command, lifeline: OwnedFd) {
    let watched = move || match fork_raw() {
        -1 => Err(io::Error::last_os_error()),
        0 => exit(i32::from(!leave_watcher(&lifeline))),
        child => await_success(child),
    };
    // SAFETY: between fork and exec it only makes system calls, on plain numbers: it takes no lock and allocates
    // nothing.
    unsafe { command.pre_exec(watched) };
}

/// Has a keeper of its own stand between this program and a service: what is started is the keeper, whose child the
/// service is, the leader of a group. Whatever the service starts ends with it, and as soon as nobody holds the other
/// end of this pipe.
pub(crate) fn keep_service(command: &mut Command, lifeline: OwnedFd) {
    let kept = move || {
        let keeper = getpid();
        set_child_subreaper(Some(keeper))?;
        if let Some(service) = fork()? {
            keep_alone(service, lifeline.as_fd());
        }
        // This is the service, which is about to become its program.
        setpgid(None, None)?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() == Some(keeper) { Ok(()) } else { exit(1) }
    };
    // SAFETY: between fork and exec it only makes system calls, on plain numbers: it takes no lock and allocates
    // nothing.
    unsafe { command.pre_exec(kept) };
}

/// Is a keeper from here on, with nothing open but the lifeline. Signals that end programs are for the service to hear.
fn keep_alone(service: Pid, lifeline: BorrowedFd<'_>) -> ! {
    extern "C" fn wake(_: i32) {}
    let wake: extern "C" fn(i32) = wake;
    // SAFETY: the handler does nothing; that it is called interrupts whoever waits.
    unsafe {
        libc::signal(libc::SIGCHLD, wake as libc::sighandler_t);
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    if !close_all_but(lifeline.as_raw_fd()) {
        exit(1);
    }
    service_keeper::keep(service, lifeline)
}

/// Forks the watcher. True if it waits, with nothing open but the lifeline.
fn leave_watcher(lifeline: &OwnedFd) -> bool {
    let lifeline = lifeline.as_raw_fd();
    // SAFETY: neither call looks at memory.
    if !close_all_but(lifeline) || unsafe { libc::getpgrp() != libc::getppid() } {
        return false;
    }
    match fork_raw() {
        0 => watch(lifeline),
        child => child > 0,
    }
}

/// For a process that was forked to watch, and uses nothing else that is open.
fn close_all_but(lifeline: i32) -> bool {
    // SAFETY: nothing that is closed is used any more.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, lifeline - 1, 0) == 0
            && libc::syscall(libc::SYS_close_range, lifeline + 1, u32::MAX, 0) == 0
    }
}

fn watch(lifeline: i32) -> ! {
    let mut byte = 0_u8;
    loop {
        // SAFETY: the byte outlives the call. A signal that was meant for all of the group interrupts it.
        let read = unsafe { libc::read(lifeline, (&raw mut byte).cast(), 1) };
        if read == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            break;
        }
    }
    // SAFETY: this process belongs to the group, whose number is no other's as long as it lives.
    unsafe { libc::kill(0, libc::SIGKILL) };
    exit(0)
}

fn await_success(child: i32) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: the status outlives the call.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
    if status == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EAGAIN)) }
}

fn fork_raw() -> i32 {
    // SAFETY: called where only system calls follow, in a process that has been forked and so has one thread.
    unsafe { libc::fork() }
}
