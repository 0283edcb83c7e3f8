//! Reports of a keeper to the program that started it, one message per packet.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use crate::walls::encoding::{Reader, Writer};

/// More than any path has.
const MAX_BYTES: usize = 8192;

#[derive(Debug)]
pub(crate) enum Report {
    /// The walls stand and the command runs. Includes the keeper's process, and the listener of the command's own
    /// network, if any.
    Started { keeper: OwnedFd, listener: Option<OwnedFd> },
    /// The walls could not be built; nothing runs.
    Failed(KeeperFailure),
    /// The command ended, with this status of `wait`.
    Exited { status: i32 },
    /// Resources used by it and everything it started.
    Used { cpu: Duration, max_memory: u64 },
    /// Names of the system calls that it was refused.
    Refused { calls: Vec<String> },
    /// A hidden or protected path that somebody else replaced meanwhile.
    Replaced { path: PathBuf },
    /// Everything it started has ended, and everything created for it is removed.
    Over,
}

/// The step that failed in the keeper.
#[derive(Debug)]
pub(crate) struct KeeperFailure {
    pub(crate) step: String,
    pub(crate) errno: Errno,
}

/// Names the step in which something failed.
pub(crate) trait During<T> {
    fn during(self, step: impl FnOnce() -> String) -> Result<T, KeeperFailure>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, step: impl FnOnce() -> String) -> Result<T, KeeperFailure> {
        self.map_err(|error| {
            let errno = Errno::from_io_error(&error.into()).unwrap_or(Errno::INVAL);
            KeeperFailure { step: step(), errno }
        })
    }
}

impl Report {
    pub(crate) fn send(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let mut writer = Writer::default();
        let mut descriptors = Vec::new();
        match self {
            Self::Started { keeper, listener } => {
                writer.number(0);
                descriptors.push(keeper.as_fd());
                descriptors.extend(listener.as_ref().map(OwnedFd::as_fd));
            }
            Self::Failed(KeeperFailure { step, errno }) => {
                writer.number(1);
                writer.number(u64::from(errno.raw_os_error().unsigned_abs()));
                writer.string(step.get(..step.floor_char_boundary(MAX_BYTES / 2)).unwrap_or_default());
            }
            Self::Exited { status } => {
                writer.number(2);
                writer.number(u64::from(status.cast_unsigned()));
            }
            Self::Used { cpu, max_memory } => {
                writer.number(3);
                writer.number(u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX));
                writer.number(*max_memory);
            }
            Self::Over => writer.number(4),
            Self::Replaced { path } => {
                writer.number(6);
                writer.string(path);
            }
            Self::Refused { calls } => {
                writer.number(5);
                writer.list(calls, |writer, call| writer.string(call));
            }
        }
        let bytes = writer.into_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    /// The next report; `None` when there will be no more.
    pub(crate) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        let mut bytes = [0; MAX_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = loop {
            match recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                // The other end was closed with unread data.
                Err(Errno::CONNRESET) => return Ok(None),
                other => break other?,
            }
        };
        if received.bytes == 0 {
            return Ok(None);
        }
        let descriptors = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        });
        let report = Self::decode(&bytes[..received.bytes], descriptors.flatten());
        report.map(Some).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    fn decode(bytes: &[u8], mut descriptors: impl Iterator<Item = OwnedFd>) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(match reader.number()? {
            0 => Self::Started { keeper: descriptors.next()?, listener: descriptors.next() },
            1 => {
                let errno = Errno::from_raw_os_error(i32::try_from(reader.number()?).ok()?);
                Self::Failed(KeeperFailure { step: reader.string()?.into_string().ok()?, errno })
            }
            2 => Self::Exited { status: u32::try_from(reader.number()?).ok()?.cast_signed() },
            3 => Self::Used { cpu: Duration::from_micros(reader.number()?), max_memory: reader.number()? },
            4 => Self::Over,
            6 => Self::Replaced { path: reader.path()? },
            5 => Self::Refused { calls: reader.list(|reader| reader.string()?.into_string().ok())? },
            _ => return None,
        })
    }
}
