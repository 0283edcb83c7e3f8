//! Errors, warnings and notes for the user; exit codes, signals, yes-or-no questions, and bounded text from stdin.
//!
//! A task that ended badly is not an error here; see [`self::exit_code`].

pub(crate) mod consent;
pub(crate) mod exit_code;
pub(crate) mod long_wait;
pub(crate) mod signal;
pub(crate) mod stdin;

use std::error::Error;
use std::fmt;
use std::io;
use std::io::Write as _;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use sortie_journal::JournalError;
use sortie_protocol::{Failure, FailureCode};
use sortie_sandbox::GrowingFile;

use crate::text::{fitted, neutral};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

static ELSEWHERE: OnceLock<GrowingFile> = OnceLock::new();

#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    /// Lower case, one sentence: what happened and where.
    pub(crate) message: String,
    /// Next steps, one line each.
    pub(crate) hints: Vec<String>,
    /// Code for programs; `None` if the kind says enough, or nothing can be printed for them.
    code: Option<FailureCode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Wrong usage of the command line.
    Usage,
    /// Invalid settings, files or directories.
    Config,
    /// Unknown name or id.
    NotFound,
    /// Failure of Sortie itself or of the machine.
    Internal,
    /// Temporarily unavailable: the task runs in another process, or its stored data are damaged.
    Unready,
    /// Nobody reads our output any more; reported to nobody.
    OutputClosed,
    /// The output failed as it does after a terminal closed or a disk broke.
    OutputLost,
}

impl CommandError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), code: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message).with_code(FailureCode::Internal)
    }

    /// Error of the directory that holds Sortie's data: it is full, broken or not writable.
    pub(crate) fn storage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message).with_code(FailureCode::Journal)
    }

    #[must_use]
    pub(crate) fn with_code(mut self, code: FailureCode) -> Self {
        self.code = Some(code);
        self
    }

    /// Failure for programs, of a command that was used rightly.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let usual = match self.kind {
            ErrorKind::Usage | ErrorKind::Config | ErrorKind::OutputClosed | ErrorKind::OutputLost => return None,
            ErrorKind::NotFound => Some(FailureCode::NoSuchTask),
            ErrorKind::Unready => Some(FailureCode::NotAllowed),
            ErrorKind::Internal => None,
        };
        Some(Failure::new(self.code.clone().or(usual)?, self.in_one_line()))
    }

    /// The message and its hints, for places with a single line.
    pub(crate) fn in_one_line(&self) -> String {
        [&self.message].into_iter().chain(&self.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Prints the error on stderr, coloured if stderr is a terminal.
    pub(crate) fn report(&self) {
        if self.kind == ErrorKind::OutputClosed {
            return;
        }
        say("error:", ERROR, &self.message);
        for hint in &self.hints {
            self::hint(hint);
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Failed write to stdout.
impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        let lost = rustix::io::Errno::IO.raw_os_error();
        let kind = match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::BrokenPipe, _) => ErrorKind::OutputClosed,
            (_, Some(code)) if code == lost => ErrorKind::OutputLost,
            _ => ErrorKind::Internal,
        };
        Self::new(kind, format!("the output could not be written: {error}"))
    }
}

/// Journal that cannot be opened or read. If it fails during a run, the run's outcome says so instead.
impl From<JournalError> for CommandError {
    fn from(error: JournalError) -> Self {
        let (kind, code) = match &error {
            JournalError::StillRunning { .. } => (ErrorKind::Unready, FailureCode::StillRunning),
            JournalError::OutOfSight { .. } => (ErrorKind::Unready, FailureCode::OutOfSight),
            JournalError::DamagedTask { .. } | JournalError::Stale { .. } | JournalError::Fenced { .. } => {
                (ErrorKind::Unready, FailureCode::Journal)
            }
            JournalError::NoSuchTask { .. } => (ErrorKind::NotFound, FailureCode::NoSuchTask),
            // A full, broken or read-only disk is not a wrong setting.
            _ => (ErrorKind::Internal, FailureCode::Journal),
        };
        Self::new(kind, error.to_string()).with_code(code)
    }
}

/// Request that was refused before anything started.
impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self::usage(failure.message)
    }
}

/// Prints an error on stderr; the exit code is decided elsewhere.
pub(crate) fn fail(message: &str) {
    say("error:", ERROR, message);
}

/// Prints a warning on stderr.
pub(crate) fn warn(message: &str) {
    say("warning:", WARNING, message);
}

/// Prints a note on stderr.
pub(crate) fn note(message: &str) {
    say("note:", HINT, message);
}

/// Prints a notice of a run on stderr, wrapped like its progress. Nothing else is wrapped: people may copy commands
/// from it.
pub(crate) fn notice(message: &str) {
    let text = fitted(&format!("note: {}", neutral::block(message)));
    write("note:", HINT, text.strip_prefix("note:").unwrap_or(&text));
}

/// Prints a hint about the next step on stderr.
pub(crate) fn hint(message: &str) {
    say("hint:", HINT, message);
}

/// Redirects all messages to `file`, for a process whose stderr nobody reads any more.
pub(crate) fn say_in(file: GrowingFile) {
    ELSEWHERE.get_or_init(|| file);
}

fn say(label: &str, style: Style, message: &str) {
    // Messages quote models, servers and files.
    write(label, style, &format!(" {}", neutral::block(message)));
}

fn write(label: &str, style: Style, rest: &str) {
    // If writing fails, there is nobody left to report it to.
    match ELSEWHERE.get() {
        Some(file) => file.append_last(&format!("{label}{rest}\n")).unwrap_or_default(),
        None => writeln!(anstream::stderr(), "{style}{label}{style:#}{rest}").unwrap_or_default(),
    }
}

/// An error and its causes, on one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
