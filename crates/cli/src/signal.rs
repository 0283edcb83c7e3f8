//! Ctrl-C and SIGTERM: the first one stops the run and lets it end, the second one ends the process.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// A signal that asks for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

impl Signal {
    /// 128 and the signal's number, as shells have it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Both signals, taken over from the system's default.
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
        })
    }

    /// The next one. Loses none when its future is dropped.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}
