//! Ctrl-C, SIGTERM and SIGHUP. The first signal stops the run in order; the second one ends the process, unless it is a
//! SIGHUP.

use std::io;
use std::process::ExitCode;

use tokio::signal::unix::{self, SignalKind};

/// A signal that asks for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    HangUp,
    Interrupt,
    Terminate,
}

impl Signal {
    /// 128 and the signal's number, as shells have it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }

    /// The same, of a process that ends in order.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// Whether it says more than what came before it. A terminal that is closed sends SIGHUP, and so does the shell in
    /// it, without anybody having asked twice.
    pub(crate) fn is_meant_after(self, before: Option<Self>) -> bool {
        before.is_none() || self != Self::HangUp
    }
}

/// All of them, taken over from the system's default.
pub(crate) struct Signals {
    /// `None` where whoever started this program has it ignored: it is then meant to outlive its terminal.
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

    /// The next one. Loses none when its future is dropped.
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

/// Whether this program was started with SIGHUP ignored, as `nohup` does it. Where that cannot be found out, it was
/// not.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 is signal 1.
    mask.is_some_and(|mask| mask & 1 == 1)
}
