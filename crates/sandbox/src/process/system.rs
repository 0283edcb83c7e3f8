//! System calls that nobody else offers safely, each behind a safe door. All unsafe code of this crate is here.

#![expect(unsafe_code, reason = "the kernel's interface for namespaces and mounts has no safe door elsewhere")]

use std::ffi::{CStr, c_long};
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal, setpgid,
    setrlimit,
};
use rustix::thread::UnshareFlags;

use super::keeper;

/// The descriptor 0 of this process, to be called once, by a process that owns it.
pub(super) fn standard_input() -> OwnedFd {
    // SAFETY: the stem was started with it, and nothing else in it refers to it: it reads nothing through the standard
    // library.
    unsafe { OwnedFd::from_raw_fd(0) }
}

/// Whether children that have ended are forgotten, or wait to be asked for.
pub(super) fn ignore_children(ignore: bool) -> io::Result<()> {
    let disposition = if ignore { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: neither of the two runs any code of ours.
    let before = unsafe { libc::signal(libc::SIGCHLD, disposition) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes everything from descriptor 3 on.
pub(super) fn close_inherited() -> io::Result<()> {
    // SAFETY: called before the stem opens anything, so that nothing in this process refers to what is closed.
    check(unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) })
}

/// The child's id, or `None` in the child.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: only stems and keepers fork, and they have one thread, so the child finds no lock held by another. One that was
    // forked from a process with more makes only system calls, in the child as before.
    let pid = unsafe { libc::fork() };
    check(c_long::from(pid))?;
    Ok(Pid::from_raw(pid))
}

/// Ends a process that was forked, without what its program would do at its end: that is the parent's to do.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: nothing of this process runs any more.
    unsafe { libc::_exit(code) }
}

/// Kills all processes of this process namespace but this one. Only for process 1 of one: elsewhere it is refused.
pub(super) fn kill_all_others() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: a signal to others has no effect on this process.
    check(c_long::from(unsafe { libc::kill(-1, libc::SIGKILL) }))
}

pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: descriptors are not unshared, and there is one thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// What to change about a mount.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attributes {
    pub(super) read_only: bool,
    pub(super) no_devices: bool,
}

/// Makes a tree of mounts private to this namespace and ignores set-user-id bits in it, and what else is asked for.
pub(super) fn restrict_mounts(tree: BorrowedFd<'_>, path: &CStr, attributes: Attributes) -> io::Result<()> {
    let mut attributes_set = libc::MOUNT_ATTR_NOSUID;
    if attributes.read_only {
        attributes_set |= libc::MOUNT_ATTR_RDONLY;
    }
    if attributes.no_devices {
        attributes_set |= libc::MOUNT_ATTR_NODEV;
    }
    let attributes =
        libc::mount_attr { attr_set: attributes_set, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let flags = libc::AT_RECURSIVE | libc::AT_EMPTY_PATH;
    // SAFETY: the path ends in NUL, and the structure outlives the call and has the size that is named.
    check(unsafe {
        let size = mem::size_of_val(&attributes);
        libc::syscall(libc::SYS_mount_setattr, tree.as_raw_fd(), path.as_ptr(), flags, &raw const attributes, size)
    })
}

/// What all ended children used, and theirs: processor time, and the bytes of the largest.
pub(super) fn used_by_children() -> io::Result<(Duration, u64)> {
    // SAFETY: all-zero is a value of this plain structure, and the kernel fills it in during the call.
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

/// Brings up the loopback interface of this network namespace.
pub(super) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: all-zero is a value of this plain structure; it outlives the call, which reads its name and flags.
    check(unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
        c_long::from(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request))
    })
}

/// The version of Landlock that this kernel has; none: 0.
pub(super) fn landlock_version() -> u32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the kernel takes no structure, and only answers a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, CREATE_RULESET_VERSION)
    };
    u32::try_from(version).unwrap_or(0)
}

/// Has the whole process group that a command leads killed as soon as nobody holds the other end of this pipe, so that it
/// ends with its program also where that is killed. A second process waits for that in the group. It is nobody's child whom
/// the command would have to wait for, and it ends with the group.
pub(crate) fn end_group_with(command: &mut Command, lifeline: OwnedFd) {
    let watched = move || match fork_raw() {
        -1 => Err(io::Error::last_os_error()),
        0 => exit(i32::from(!leave_watcher(&lifeline))),
        child => await_success(child),
    };
    // SAFETY: between fork and exec it only makes system calls, on plain numbers: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(watched) };
}

/// Has a keeper of its own stand between this program and a service: what is started is the keeper, whose child the service
/// is, the leader of a group. Whatever the service starts ends with it, and as soon as nobody holds the other end of this
/// pipe.
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
    // SAFETY: between fork and exec it only makes system calls, on plain numbers: it takes no lock and allocates nothing.
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
    keeper::service::keep(service, lifeline)
}

/// Ends this process by a signal, as another one was, and leaves no image of it.
pub(super) fn end_by(signal: i32) -> ! {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).ok();
    // SAFETY: the default is no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    exit(1)
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

fn check(answer: c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
