//! Errors, warnings and notes for the person, exit codes, signals, and bounded text from stdin.
//!
//! How a task ended is not an error here; see [`self::exit_code`].

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
use sortie_protocol::Failure;
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
    /// What to do next, one line each.
    pub(crate) hints: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The command line asks for something that cannot be.
    Usage,
    /// Settings, files or directories are not as they must be.
    Config,
    /// What was named does not exist.
    NotFound,
    /// Sortie itself, or the machine under it, failed.
    Internal,
    /// What was named is not to be had now: it runs elsewhere, or what is kept of it is damaged.
    Unready,
    /// Nobody reads our output any more. Said to nobody.
    OutputClosed,
    /// The output failed as it does where a terminal was closed, or a disk is broken.
    OutputLost,
}

impl CommandError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The message and what to do next, for places that have one line.
    pub(crate) fn in_one_line(&self) -> String {
        [&self.message].into_iter().chain(&self.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says it on stderr, coloured where stderr is a terminal.
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

/// A failed write to stdout.
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

/// A journal that cannot be opened or read. Where it fails under a run, the run's outcome says so instead.
impl From<JournalError> for CommandError {
    fn from(error: JournalError) -> Self {
        let kind = match &error {
            JournalError::DamagedTask { .. }
            | JournalError::StillRunning { .. }
            | JournalError::OutOfSight { .. }
            | JournalError::Stale { .. }
            | JournalError::Fenced { .. } => ErrorKind::Unready,
            JournalError::NoSuchTask { .. } => ErrorKind::NotFound,
            // A disk that is full or broken, or somebody who moves the file, is no wrong setting.
            JournalError::Write { .. } | JournalError::Read { .. } | JournalError::Moved { .. } => ErrorKind::Internal,
            _ => ErrorKind::Config,
        };
        Self::new(kind, error.to_string())
    }
}

/// A request that was refused before anything was started.
impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self::usage(failure.message)
    }
}

/// Says on stderr that something failed, where the exit code is decided elsewhere.
pub(crate) fn fail(message: &str) {
    say("error:", ERROR, message);
}

/// Says something on stderr that the person may not have wanted.
pub(crate) fn warn(message: &str) {
    say("warning:", WARNING, message);
}

/// Says something on stderr that is good to know.
pub(crate) fn note(message: &str) {
    say("note:", HINT, message);
}

/// Says on stderr what a run has noticed, in lines that fit, as its progress does it. Nothing else is broken: it may be
/// copied, as commands are.
pub(crate) fn notice(message: &str) {
    let text = fitted(&format!("note: {}", neutral::block(message)));
    write("note:", HINT, text.strip_prefix("note:").unwrap_or(&text));
}

/// Says on stderr what can be done next.
pub(crate) fn hint(message: &str) {
    say("hint:", HINT, message);
}

/// Where everything is said from now on, by a process whose stderr nobody reads any more.
pub(crate) fn say_in(file: GrowingFile) {
    ELSEWHERE.get_or_init(|| file);
}

fn say(label: &str, style: Style, message: &str) {
    // Messages quote what models, servers and files said.
    write(label, style, &format!(" {}", neutral::block(message)));
}

fn write(label: &str, style: Style, rest: &str) {
    // Where nothing can be written there is nobody left to tell.
    match ELSEWHERE.get() {
        Some(file) => file.append_last(&format!("{label}{rest}\n")).unwrap_or_default(),
        None => writeln!(anstream::stderr(), "{style}{label}{style:#}{rest}").unwrap_or_default(),
    }
}

/// An error with its causes, in one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
