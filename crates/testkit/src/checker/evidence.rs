//! Traces of a run, as plain data.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;
use sortie_journal::{CommandId, Journal, JournalError, SqliteJournal, TaskQuery, TaskState};
use sortie_protocol::{Command, Event, Fact, Job, TaskId, TaskOutcome};

/// The traces of one run.
#[derive(Debug, Default)]
pub struct Evidence {
    /// All tasks, oldest first.
    pub tasks: Vec<TaskLog>,
    /// Lines appended by commands, each the id of its call.
    pub effects: Vec<String>,
    /// Files named by calls, by the path in their arguments; missing ones are left out.
    pub files: HashMap<String, String>,
    /// Files that were in the workspace before the run, by their path in it.
    pub kept: HashMap<String, Kept>,
    /// New files in the workspace that no call made.
    pub strays: Vec<String>,
    /// Bodies of the requests that the server received, in order of arrival.
    pub requests: Vec<Value>,
    /// Statuses of its responses, other than 200.
    pub refusals: Vec<u16>,
    /// Events that the process had shown before it was killed.
    pub shown: Vec<Event>,
    /// Commands of other processes to tasks.
    pub commands: Vec<(i64, Command)>,
    /// The person's messages with their receipts: `delivered`, or `kept` until its task resumes.
    pub receipts: Vec<(String, String)>,
}

/// One task's log.
#[derive(Debug)]
pub struct TaskLog {
    pub state: TaskState,
    pub events: Vec<Event>,
}

/// A file that existed before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub before: Version,
    /// Absent if it is gone.
    pub now: Option<Version>,
}

/// A file at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub bytes: Vec<u8>,
    pub mode: u32,
}

/// The traces are unreadable, which is a finding of its own.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    #[error("N1 the journal cannot be read: {source}")]
    Journal {
        #[from]
        source: JournalError,
    },
    #[error("cannot read {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: line {line} is not what it should be: {source}", path.display())]
    Line { path: PathBuf, line: usize, source: serde_json::Error },
}

impl Evidence {
    /// Reads from a folder: `state/journal.db`, `receipts.jsonl`, `stops.jsonl`, `workspace/`, `workspace/effects.log`,
    /// `before/` (the workspace before the run), `requests.log` and `shown/*.jsonl`.
    pub fn gather(folder: &Path) -> Result<Self, EvidenceError> {
        let journal = SqliteJournal::open_read_only(&folder.join("state/journal.db"))?;
        let query = TaskQuery { limit: usize::MAX, ..TaskQuery::default() };
        let mut tasks = Vec::new();
        for header in journal.list(&query)?.into_iter().rev() {
            tasks.push(TaskLog { state: header.state, events: journal.read(header.task_id)? });
        }
        let workspace = folder.join("workspace");
        let effects = text(&workspace.join("effects.log"))?.unwrap_or_default();
        let mut evidence = Self {
            files: files(&workspace, &tasks)?,
            kept: kept(&folder.join("before"), &workspace)?,
            strays: strays(&workspace)?,
            tasks,
            effects: effects.lines().map(str::to_owned).collect(),
            shown: shown(&folder.join("shown"))?,
            commands: journal.commands_after(CommandId::default(), usize::MAX)?.into_iter().map(numbered).collect(),
            receipts: lines::<Value>(&folder.join("receipts.jsonl"))?.iter().map(receipt).collect(),
            ..Self::default()
        };
        let stops = lines::<Command>(&folder.join("stops.jsonl"))?;
        evidence.commands.extend(stops.into_iter().map(|stop| (0, stop)));
        evidence.read_traffic(&folder.join("requests.log"))?;
        Ok(evidence)
    }

    fn read_traffic(&mut self, path: &Path) -> Result<(), EvidenceError> {
        for line in lines::<Value>(path)? {
            match line["event"].as_str() {
                // If there are too many to keep their bodies, only their responses are known.
                Some("request") => self.requests.extend(line.get("body").cloned()),
                _ => self.refusals.extend(line["status"].as_u64().filter(|&status| status != 200).map(|it| it as u16)),
            }
        }
        Ok(())
    }
}

impl TaskLog {
    pub(super) fn task(&self) -> Option<TaskId> {
        self.events.first().map(|event| event.task_id)
    }

    pub(super) fn job(&self) -> Option<&Job> {
        self.events.first().and_then(|event| match &event.fact {
            Fact::TaskStarted { job } => Some(&**job),
            _ => None,
        })
    }

    /// Endings of its legs.
    pub(super) fn endings(&self) -> impl DoubleEndedIterator<Item = (u32, &TaskOutcome)> {
        self.events.iter().filter_map(|event| match &event.fact {
            Fact::TaskEnded { outcome } => Some((event.leg, &**outcome)),
            _ => None,
        })
    }
}

fn numbered((number, command): (CommandId, Command)) -> (i64, Command) {
    (number.0, command)
}

fn receipt(line: &Value) -> (String, String) {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    (text("text"), text("state"))
}

/// Files named by calls.
fn files(workspace: &Path, tasks: &[TaskLog]) -> Result<HashMap<String, String>, EvidenceError> {
    let mut files = HashMap::new();
    for event in tasks.iter().flat_map(|task| &task.events) {
        let Fact::ModelReplied { reply, .. } = &event.fact else { continue };
        for call in reply.calls() {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            if let Some(path) = arguments["file_path"].as_str()
                && let Some(text) = text(&workspace.join(path))?
            {
                files.insert(path.to_owned(), text);
            }
        }
    }
    Ok(files)
}

/// Compares the files of one folder with those of the same names in another.
fn kept(before: &Path, now: &Path) -> Result<HashMap<String, Kept>, EvidenceError> {
    let mut kept = HashMap::new();
    let mut ahead = if before.exists() { vec![PathBuf::new()] } else { Vec::new() };
    while let Some(directory) = ahead.pop() {
        for name in names(&before.join(&directory))? {
            let path = directory.join(name);
            if before.join(&path).is_dir() {
                ahead.push(path);
            } else if let Some(old) = version(&before.join(&path))? {
                let file = Kept { before: old, now: version(&now.join(&path))? };
                kept.insert(path.display().to_string(), file);
            }
        }
    }
    Ok(kept)
}

fn version(path: &Path) -> Result<Option<Version>, EvidenceError> {
    let failed = |source| EvidenceError::File { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Ok(metadata) => {
            let mode = metadata.permissions().mode();
            Ok(Some(Version { bytes: fs::read(path).map_err(failed)?, mode }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Directories in which calls work, and everything that may be in the workspace.
const WORKED_IN: &[&str] = &["made", "notes"];
const KNOWN: &[&str] = &[".git", "effects.log", "kept", "made", "notes"];
/// Prefix of a version that its writer could not move into place. The next writer there removes it once it is old
/// enough.
const UNFINISHED: &str = ".sortie-write-";

fn strays(workspace: &Path) -> Result<Vec<String>, EvidenceError> {
    let mut strays = names(workspace)?;
    strays.retain(|name| !KNOWN.contains(&name.as_str()));
    for directory in WORKED_IN.iter().map(|name| workspace.join(name)).filter(|directory| directory.exists()) {
        strays
            .extend(names(&directory)?.into_iter().filter(|name| Path::new(name).extension() != Some("txt".as_ref())));
    }
    strays.retain(|name| !name.starts_with(UNFINISHED));
    Ok(strays)
}

fn names(folder: &Path) -> Result<Vec<String>, EvidenceError> {
    let failed = |source| EvidenceError::File { path: folder.to_owned(), source };
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    fs::read_dir(folder).map_err(failed)?.map(|entry| entry.map(name).map_err(failed)).collect()
}

fn shown(folder: &Path) -> Result<Vec<Event>, EvidenceError> {
    let mut events = Vec::new();
    for name in if folder.exists() { names(folder)? } else { Vec::new() } {
        let lines = lines::<Value>(&folder.join(name))?;
        // The last line of a run repeats its outcome.
        events.extend(lines.into_iter().filter_map(|line| serde_json::from_value(line).ok()));
    }
    events.retain(|event: &Event| !matches!(event.fact, Fact::Unknown));
    Ok(events)
}

/// Reads the lines of a file that may be missing. A torn last line is left out.
fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>, EvidenceError> {
    let text = text(path)?.unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let read = |(index, line)| {
        let failed = |source| EvidenceError::Line { path: path.to_owned(), line: index + 1, source };
        serde_json::from_str(line).map_err(failed)
    };
    whole.lines().enumerate().map(read).collect()
}

fn text(path: &Path) -> Result<Option<String>, EvidenceError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EvidenceError::File { path: path.to_owned(), source }),
    }
}
