//! Lifelines: pipes that end a program, with everything it has started, when this program is gone.

#![expect(unsafe_code, reason = "code between fork and exec has no safe interface elsewhere")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal, setpgid};

use crate::system::process::{exit, fork_raw};
use crate::system::service_keeper;

/// A pipe: one end reports when the other is gone.
#[derive(Debug)]
pub(crate) struct Lifeline {
    /// Reports that nobody holds the other end any more.
    pub(crate) watched: OwnedFd,
    /// Held as long as the program is to live.
    pub(crate) held: OwnedFd,
}

impl Lifeline {
    pub(crate) fn new() -> io::Result<Self> {
        let (watched, held) = pipe_with(PipeFlags::CLOEXEC)?;
        // Above the standard descriptors, which are replaced for a command.
        Ok(Self { watched: fcntl_dupfd_cloexec(watched, 3)?, held })
    }
}

/// Kills the whole process group led by a command as soon as nobody holds the other end of this pipe. That works even
/// if this program is killed. A second process in the group waits for that. It is not a child that the command would
/// have to wait for, and it ends with the group.
pub(crate) fn end_group_with(command: &mut Command, lifeline: OwnedFd) {
    // SAFETY: the child only makes system calls on plain numbers.
    let watched = move || match unsafe { fork_raw() } {
        -1 => Err(io::Error::last_os_error()),
        0 => exit(i32::from(!leave_watcher(&lifeline))),
        child => await_success(child),
    };
    // SAFETY: between fork and exec it only makes system calls on plain numbers: it takes no lock and allocates
    // nothing.
    unsafe { command.pre_exec(watched) };
}

/// Puts a keeper between this program and a service. The started process is the keeper, and its child is the service,
/// the leader of a group. Everything the service starts ends with it, and as soon as nobody holds the other end of this
/// pipe.
pub(crate) fn keep_service(command: &mut Command, lifeline: OwnedFd) {
    let kept = move || {
        let keeper = getpid();
        set_child_subreaper(Some(keeper))?;
        // SAFETY: the child only makes system calls on plain numbers, and then executes the service.
        match unsafe { fork_raw() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => {}
            service => match Pid::from_raw(service) {
                Some(service) => keep_alone(service, lifeline.as_fd()),
                None => exit(1),
            },
        }
        // This is the service, about to execute its program.
        setpgid(None, None)?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() == Some(keeper) { Ok(()) } else { exit(1) }
    };
    // SAFETY: between fork and exec it only makes system calls on plain numbers: it takes no lock and allocates
    // nothing.
    unsafe { command.pre_exec(kept) };
}

/// Becomes the keeper, with nothing open but the lifeline. Ignores terminating signals: the service handles them.
fn keep_alone(service: Pid, lifeline: BorrowedFd<'_>) -> ! {
    extern "C" fn wake(_: i32) {}
    let wake: extern "C" fn(i32) = wake;
    // SAFETY: the handler does nothing; its call merely interrupts a wait.
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
    // SAFETY: neither call accesses memory.
    if !close_all_but(lifeline) || unsafe { libc::getpgrp() != libc::getppid() } {
        return false;
    }
    // SAFETY: the child only makes system calls on plain numbers, and ends.
    match unsafe { fork_raw() } {
        0 => watch(lifeline),
        child => child > 0,
    }
}

/// Closes every other descriptor, in a process forked to watch.
fn close_all_but(lifeline: i32) -> bool {
    // SAFETY: none of the closed descriptors is used any more.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, lifeline - 1, 0) == 0
            && libc::syscall(libc::SYS_close_range, lifeline + 1, u32::MAX, 0) == 0
    }
}

fn watch(lifeline: i32) -> ! {
    let mut byte = 0_u8;
    loop {
        // SAFETY: the byte outlives the call. A signal to the whole group interrupts it.
        let read = unsafe { libc::read(lifeline, (&raw mut byte).cast(), 1) };
        let is_interrupted = read < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
        if !is_interrupted {
            break;
        }
    }
    // SAFETY: this process belongs to the group, whose number is not reused while it lives.
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
