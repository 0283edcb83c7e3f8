//! Answers the system calls that the filter tells about, while a command runs.
//!
//! Known dangers are refused, and their names kept for the report. Where Landlock is the only wall around files, the
//! broker makes changes of mode and times itself, in writable places alone. Landlock does not cover them, and a filter
//! sees no paths.

mod attribute_change;
mod caller;
mod shared_memory;

use std::collections::BTreeSet;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use self::attribute_change::{Denial, change};
use self::shared_memory::SharedMemory;
use crate::system::{self, ToldAnswer, ToldCall};
use crate::walls::Tier;
use crate::walls::filter;
use crate::walls::plan::Plan;

/// The broker of one command.
pub(super) struct Broker {
    source: Source,
    /// The command's view of files, until it is taken.
    view: Option<OwnedFd>,
    refused: BTreeSet<&'static str>,
    shared_memory: SharedMemory,
}

/// Origin of told calls.
enum Source {
    /// Will bring the listener.
    Handover(OwnedFd),
    Listener(OwnedFd),
    /// Nobody is left who could call.
    None,
}

/// The end of a handover that the first process inside has.
pub(super) struct Handover(OwnedFd);

impl Broker {
    pub(super) fn new() -> io::Result<(Self, Handover)> {
        let (own, inside) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let broker = Self {
            source: Source::Handover(own),
            view: None,
            refused: BTreeSet::new(),
            shared_memory: SharedMemory::default(),
        };
        Ok((broker, Handover(inside)))
    }

    /// Readable when there is something to do.
    pub(super) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Handover(descriptor) | Source::Listener(descriptor) => Some(descriptor.as_fd()),
            Source::None => None,
        }
    }

    /// Makes the change. After an error, the caller gets one from the kernel.
    pub(super) fn work(&mut self, plan: &Plan) {
        match &self.source {
            Source::Handover(socket) => {
                let mut given = receive(socket.as_fd());
                self.view = given.next();
                self.source = given.next().map_or(Source::None, Source::Listener);
            }
            Source::Listener(listener) => match system::receive_told(listener.as_fd()) {
                Ok(Some(call)) => {
                    let (answer, refused) = match self.shared_memory.judge(plan, &call) {
                        Some(judged) => (judged, None),
                        None => answer(plan, &call),
                    };
                    system::answer_told(listener.as_fd(), call, answer);
                    self.refused.extend(refused);
                }
                Ok(None) => {}
                Err(_) => self.source = Source::None,
            },
            Source::None => {}
        }
    }

    /// The view that the command has, once it is known.
    pub(super) fn take_view(&mut self) -> Option<OwnedFd> {
        self.view.take()
    }

    /// The end of all calls.
    pub(super) fn close(&mut self) {
        self.source = Source::None;
    }

    /// Names of the calls that were refused.
    pub(super) fn refused(&self) -> impl Iterator<Item = &'static str> {
        self.refused.iter().copied()
    }
}

/// The answer to a call, and its name if it is refused.
fn answer(plan: &Plan, call: &ToldCall) -> (ToldAnswer, Option<&'static str>) {
    let changed = if plan.tier == Tier::Landlock { change(plan, call) } else { Err(Denial::Refused) };
    match changed {
        Ok(()) => (ToldAnswer::Made, None),
        Err(Denial::Failed(errno)) => (ToldAnswer::Fails(errno), None),
        // Shells ask for sockets on their own; the report says elsewhere that there is no network.
        Err(Denial::Refused) if call.number == libc::SYS_socket => (ToldAnswer::Fails(Errno::PERM), None),
        Err(Denial::Refused) => (ToldAnswer::Fails(Errno::PERM), filter::name_of(call.number)),
    }
}

impl Handover {
    /// Gives away the view of files, and the listener if there is one: a process inside that had it could allow itself
    /// everything.
    pub(super) fn give(self, view: &OwnedFd, listener: Option<&OwnedFd>) -> io::Result<()> {
        let descriptors: Vec<BorrowedFd<'_>> = [view].into_iter().chain(listener).map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        retry_on_intr(|| sendmsg(&self.0, &[IoSlice::new(&[0])], &mut ancillary, SendFlags::NOSIGNAL))?;
        Ok(())
    }
}

/// The given descriptors: none if the other end is gone.
fn receive(socket: BorrowedFd<'_>) -> impl Iterator<Item = OwnedFd> + use<> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    while let Err(Errno::INTR) =
        recvmsg(socket, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    {}
    let given: Vec<OwnedFd> = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    given.into_iter()
}
