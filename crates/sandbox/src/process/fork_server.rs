//! The fork server: another instance of this program, started once and then forked for each command.
//!
//! Forking a small process with one thread takes a fraction of the time of starting a large program. Unlike forking
//! this process, it is safe. The fork server has no state but an empty network: each keeper reads its own plan.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::keeper::{self, EmptyNetwork, KeeperEnds};
use crate::system::{self, EndedChildren};

/// Name of a fork server and its keepers in the process list. No command line begins with it by accident.
pub(super) const NAME: &str = "sortie-keeper";

/// A running fork server. It ends on drop, and with this process, for whatever reason.
#[derive(Debug)]
pub(super) struct ForkServer {
    socket: Option<OwnedFd>,
    process: Child,
}

impl ForkServer {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let (socket, server_end) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let mut command = Command::new(program);
        command
            .arg0(NAME)
            .env_clear()
            .envs(sortie_mutant::passed_on())
            .stdin(Stdio::from(server_end))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(Self { socket: Some(socket), process: command.spawn()? })
    }

    /// Makes it fork a keeper.
    pub(super) fn keeper(&self, ends: &KeeperEnds) -> io::Result<()> {
        let socket = self.socket.as_ref().ok_or(Errno::PIPE)?;
        let descriptors = [ends.lifeline.as_fd(), ends.output.as_fd(), ends.report.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&[0])], &mut ancillary, SendFlags::NOSIGNAL))?;
        Ok(())
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.socket = None;
        // It ends now; waiting for it avoids a zombie.
        self.process.wait().ok();
    }
}

/// Replaces the program's `main` in a fork server.
#[expect(clippy::exit, reason = "this process has no other purpose")]
pub(super) fn serve() -> ! {
    let code = match system::become_fork_server().and_then(fork_on_demand) {
        Ok(()) => 0,
        // The caller finds its descriptors closed.
        Err(_) => 1,
    };
    std::process::exit(code)
}

fn fork_on_demand(socket: OwnedFd) -> io::Result<()> {
    // A terminal interrupt is for the program, which decides what happens to its commands.
    rustix::process::setsid()?;
    system::set_ended_children(EndedChildren::Forgotten)?;
    let empty_network = EmptyNetwork::make();
    while let Some(ends) = receive(socket.as_fd())? {
        if system::fork()?.is_none() {
            drop(socket);
            system::set_ended_children(EndedChildren::Kept)?;
            keeper::keep(ends, empty_network);
        }
    }
    Ok(())
}

fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<KeeperEnds>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    loop {
        match recvmsg(socket, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(received) if received.bytes == 0 => return Ok(None),
            Ok(_) => break,
        }
    }
    let mut descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let mut next = descriptors.next().into_iter().flatten();
    let mut take = || next.next().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData));
    Ok(Some(KeeperEnds { lifeline: take()?, output: take()?, report: take()? }))
}
