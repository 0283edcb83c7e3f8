//! Ctrl-C, SIGTERM and SIGHUP. The first signal interrupts the run, to be resumed; the second one ends the process,
//! unless it is a SIGHUP.

use std::io;
use std::process::ExitCode;

use tokio::signal::unix::{self, SignalKind};

/// Signal that asks for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    HangUp,
    Interrupt,
    Terminate,
}

impl Signal {
    /// 128 plus the signal's number, as in shells.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }

    /// Exit code of a process that ends in order after this signal.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// True if the signal adds to the one before it. A closed terminal and the shell in it both send SIGHUP, without
    /// anybody having asked twice.
    pub(crate) fn is_meant_after(self, before: Option<Self>) -> bool {
        before.is_none() || self != Self::HangUp
    }
}

/// Handlers of all these signals.
pub(crate) struct Signals {
    /// `None` if the program was started with SIGHUP ignored: it is then meant to outlive its terminal.
    hang_up: Option<unix::Signal>,
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let hang_up = if ignores_hang_up() { None } else { Some(unix::signal(SignalKind::hangup())?) };
        Ok(Self {
            hang_up,
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
        })
    }

    /// Next signal. None is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Signal {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = hang_up => Signal::HangUp,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

/// True if this program was started with SIGHUP ignored, as by `nohup`; false if that cannot be found out.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 stands for signal 1.
    mask.is_some_and(|mask| mask & 1 == 1)
}
