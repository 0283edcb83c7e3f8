//! Errors of the journal. Each message says what to do next.

use std::path::PathBuf;

use sortie_protocol::TaskId;

#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    #[error("the journal {path} cannot be opened: {cause}; check the directory, or set SORTIE_HOME to one you can write to", path = path.display())]
    Open { path: PathBuf, cause: String },
    #[error("the journal {path} is locked by another program ({cause}); end it, or set SORTIE_HOME to another directory", path = path.display())]
    Locked { path: PathBuf, cause: String },
    #[error("the journal {path} is read-only; make it and its directory writable, or set SORTIE_HOME to another directory", path = path.display())]
    ReadOnly { path: PathBuf },
    #[error("the journal {path} was written by a newer version (format {found}, this program knows up to {known}); use that version, or set SORTIE_HOME to another directory", path = path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("the journal {path} is damaged: {cause}; move it away to start a new one, or restore it from a backup", path = path.display())]
    Damaged { path: PathBuf, cause: String },
    #[error("the journal {path} cannot be read: {cause}; check the disk and the file's permissions", path = path.display())]
    Read { path: PathBuf, cause: String },
    #[error(
        "the log of {task} is damaged at event {seq}: {cause}; restore the journal from a backup, or continue without this task"
    )]
    DamagedTask { task: TaskId, seq: u64, cause: String },
    #[error("{task} has been taken over by another process (attempt {current}, ours is {ours}); this one must stop")]
    Fenced { task: TaskId, ours: u32, current: u32 },
    #[error("the log of {task} now ends at event {last}, but was read up to {read}; another process has resumed it")]
    Stale { task: TaskId, read: u64, last: u64 },
    #[error(
        "the journal could not be written: {cause}; nothing after this point is recorded; free space or repair the disk, then run `sortie resume`"
    )]
    Write { cause: String },
    #[error("the work was interrupted; nothing after this point is recorded; `sortie resume` continues it")]
    Interrupted,
    #[error("{task} has already been started; a new task needs a new id")]
    AlreadyStarted { task: TaskId },
    #[error("leg {leg} of {task} has ended; nothing more can be recorded in it")]
    LegOver { task: TaskId, leg: u32 },
    #[error("leg {leg} of {task} has not begun: the one before it must end first, and a resume must open it")]
    LegNotBegun { task: TaskId, leg: u32 },
    #[error("{task} is still running, in process {pid}; wait for it, or stop it first")]
    StillRunning { task: TaskId, pid: u32 },
    #[error(
        "{task} may still be running: its process {pid} is not visible from here (another container, or no /proc); stop it there, or take the task over if you know that it is gone"
    )]
    OutOfSight { task: TaskId, pid: u32 },
    #[error(
        "the journal {path} was moved, deleted or replaced while in use; nothing after this point is recorded; put it back, or run again to start a new one",
        path = path.display()
    )]
    Moved { path: PathBuf },
    #[error("no task {asked}")]
    NoSuchTask { asked: String },
}

impl JournalError {
    pub(crate) fn not_the_start(task: TaskId) -> Self {
        Self::DamagedTask { task, seq: 1, cause: "it is not the task's start".to_owned() }
    }

    /// True if another writer has the task and its log is intact.
    pub fn is_of_others(&self) -> bool {
        matches!(self, Self::Fenced { .. } | Self::Stale { .. } | Self::LegOver { .. } | Self::AlreadyStarted { .. })
    }

    /// Refusal of an unknown command, which names no task and so reaches nobody.
    pub(crate) fn unknown_command() -> Self {
        Self::Write { cause: "a command that this version does not know cannot be sent".to_owned() }
    }
}
