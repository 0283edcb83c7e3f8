//! System calls that a filter tells about: installing such a filter, and answering its calls.

#![expect(unsafe_code, reason = "the kernel's interface for told calls has no safe one elsewhere")]

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use seccompiler::sock_filter;

use crate::system::process::check;

/// A call whose caller waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToldCall {
    id: u64,
    /// The calling thread, by its number here.
    pub(crate) thread: u32,
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
}

/// Installs a filter on this thread for good. Returns the descriptor of its told calls.
pub(crate) fn install_filter(program: &[sock_filter]) -> io::Result<OwnedFd> {
    // The first flag keeps harmless signals from interrupting a caller that waits; older kernels lack it.
    const WAIT_KILLABLE: u64 = 1 << 5;
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let descriptor = match install(program, flags | WAIT_KILLABLE) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => install(program, flags)?,
        other => other?,
    };
    // SAFETY: the kernel has just made it for this call alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Installs a filter on this thread for good, which tells nobody about anything.
pub(crate) fn install_silent_filter(program: &[sock_filter]) -> io::Result<()> {
    install(program, 0).map(drop)
}

fn install(program: &[sock_filter], flags: u64) -> io::Result<i32> {
    let mut filter: Vec<libc::sock_filter> = program
        .iter()
        .map(|sock_filter { code, jt, jf, k }| libc::sock_filter { code: *code, jt: *jt, jf: *jf, k: *k })
        .collect();
    let len = u16::try_from(filter.len()).map_err(|_| Errno::TOOBIG)?;
    let program = libc::sock_fprog { len, filter: filter.as_mut_ptr() };
    // SAFETY: the structure and the instructions outlive the call, which copies them.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    check(answer)?;
    i32::try_from(answer).map_err(|_| Errno::INVAL.into())
}

/// The next told call; `None` if its caller has gone meanwhile.
pub(crate) fn receive_told(listener: BorrowedFd<'_>) -> io::Result<Option<ToldCall>> {
    // SAFETY: all-zero is a valid value of this plain structure, and what the kernel asks for; it outlives the call.
    let (answer, told) = unsafe {
        let mut told: libc::seccomp_notif = mem::zeroed();
        let answer = libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told);
        (answer, told)
    };
    match check(answer.into()) {
        Ok(()) => {
            Ok(Some(ToldCall { id: told.id, thread: told.pid, number: told.data.nr.into(), arguments: told.data.args }))
        }
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::INTR) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Answer to a told call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToldAnswer {
    /// It was made for the caller, and returns 0.
    Made,
    /// The kernel makes it. Only for calls judged by numbers alone: by then, other contents may be at an address.
    Goes,
    /// It is not made.
    Fails(Errno),
}

/// Ends the wait of a caller. A caller that has gone needs no answer.
pub(crate) fn answer_told(listener: BorrowedFd<'_>, call: ToldCall, answer: ToldAnswer) {
    let (error, flags) = match answer {
        ToldAnswer::Made => (0, 0),
        ToldAnswer::Goes => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        ToldAnswer::Fails(errno) => (-errno.raw_os_error(), 0),
    };
    let response = libc::seccomp_notif_resp { id: call.id, val: 0, error, flags };
    // SAFETY: the structure outlives the call.
    unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response);
    }
}
