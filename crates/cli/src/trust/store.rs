//! List of trusted projects, `trust.json` in Sortie's home, which only this user can read or write.
//!
//! It is replaced as a whole. A list that is broken, or that others could have written, is ignored.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::retry_on_intr;
use serde_json::{Map, Value, json};
use sortie_protocol::Timestamp;

use super::{Digest, listed_root};
use crate::error::CommandError;

const FILE: &str = "trust.json";
const VERSION: u64 = 1;
/// Enough for thousands of projects with hundreds of files.
const MAX_BYTES: u64 = 64 << 20;

/// All trusted projects, by canonical path.
#[derive(Debug, Default)]
pub(crate) struct Store {
    projects: BTreeMap<String, Trusted>,
}

/// Trust in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trusted {
    pub(crate) since: Timestamp,
    /// Digests by path, relative to the project.
    pub(crate) files: BTreeMap<String, Digest>,
}

/// Reason to ignore a list.
enum Distrust {
    Broken(String),
    /// Other users can read or write it.
    Open {
        mode: u32,
    },
}

impl Store {
    /// Reads the list, which is empty if there is none. A broken list is an error, and nothing in it counts.
    pub(crate) fn read(home: &Path) -> Result<Self, CommandError> {
        let path = home.join(FILE);
        let text = match read_own(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Self::default()),
            Err(distrust) => return Err(broken(&path, &distrust)),
        };
        parse(&text).map_err(|why| broken(&path, &Distrust::Broken(why)))
    }

    /// True if there is a list, valid or not.
    pub(crate) fn exists(home: &Path) -> bool {
        home.join(FILE).symlink_metadata().is_ok()
    }

    pub(crate) fn get(&self, root: &Path) -> Option<&Trusted> {
        self.projects.get(root.to_str()?)
    }

    /// Every project, in path order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Trusted)> {
        self.projects.iter().map(|(root, trusted)| (root.as_str(), trusted))
    }

    /// Adds a project to the list, or replaces its entry.
    pub(crate) fn trust(home: &Path, root: &Path, trusted: Trusted) -> Result<(), CommandError> {
        let root = listed_root(root)?.to_owned();
        change(home, |store| {
            store.projects.insert(root, trusted);
            true
        })
        .map(drop)
    }

    /// Removes a project from the list; `false` if it was not there.
    pub(crate) fn revoke(home: &Path, root: &Path) -> Result<bool, CommandError> {
        let Some(root) = root.to_str() else { return Ok(false) };
        change(home, |store| store.projects.remove(root).is_some())
    }
}

/// Reads, changes and writes the list under a lock. Nothing is written if `change` returns `false`.
fn change(home: &Path, change: impl FnOnce(&mut Store) -> bool) -> Result<bool, CommandError> {
    let path = home.join(FILE);
    let unwritten = |error: io::Error| {
        CommandError::config(format!("the list of trusted projects {} cannot be written: {error}", path.display()))
            .hint("SORTIE_HOME must be a directory that you can write to")
    };
    DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(unwritten)?;
    let directory = File::open(home).map_err(unwritten)?;
    retry_on_intr(|| flock(&directory, FlockOperation::LockExclusive)).map_err(|errno| unwritten(errno.into()))?;
    let mut store = Store::read(home)?;
    if !change(&mut store) {
        return Ok(false);
    }
    replace(&directory, &path, &render(&store)).map_err(unwritten)?;
    Ok(true)
}

/// Writes a neighbouring file, syncs it and moves it into place, so that the list is always either the old or the new
/// one.
fn replace(directory: &File, path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    // Left by a killed process; nobody else writes while the directory is locked.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    directory.sync_all()
}

/// Text of a file that belongs to this user alone; `None` if there is none.
fn read_own(path: &Path) -> Result<Option<String>, Distrust> {
    let broken = |why: &dyn std::fmt::Display| Distrust::Broken(why.to_string());
    let no_follow = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).map_err(|error| broken(&error))?;
    let file = match OpenOptions::new().read(true).custom_flags(no_follow).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(broken(&error)),
    };
    let metadata = file.metadata().map_err(|error| broken(&error))?;
    if !metadata.is_file() {
        return Err(broken(&"it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(broken(&"it belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(Distrust::Open { mode: metadata.mode() & 0o777 });
    }
    let mut text = String::new();
    match file.take(MAX_BYTES + 1).read_to_string(&mut text) {
        Ok(read) if read as u64 > MAX_BYTES => Err(broken(&"it is too large")),
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(broken(&error)),
    }
}

fn parse(text: &str) -> Result<Store, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    match value.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => return Err(format!("it was written by a newer Sortie (version {newer})")),
        _ => return Err("it has no version".to_owned()),
    }
    let projects = value.get("projects").and_then(Value::as_object).ok_or("it has no projects")?;
    let projects = projects.iter().map(|(root, value)| {
        let trusted = trusted(value).ok_or_else(|| format!("its entry for {root} is incomplete"))?;
        Ok((root.clone(), trusted))
    });
    Ok(Store { projects: projects.collect::<Result<_, String>>()? })
}

fn trusted(value: &Value) -> Option<Trusted> {
    let files = value.get("files")?.as_object()?.iter();
    let files = files.map(|(path, digest)| Some((path.clone(), Digest::parse(digest.as_str()?)?)));
    let since = Timestamp::try_from(value.get("since")?.as_str()?.to_owned()).ok()?;
    Some(Trusted { since, files: files.collect::<Option<_>>()? })
}

fn render(store: &Store) -> String {
    let project = |(root, trusted): (&String, &Trusted)| {
        let files = trusted.files.iter().map(|(path, digest)| (path.clone(), Value::from(digest.to_string())));
        let value = json!({ "since": trusted.since.to_string(), "files": files.collect::<Map<_, _>>() });
        (root.clone(), value)
    };
    let projects: Map<String, Value> = store.projects.iter().map(project).collect();
    format!("{:#}\n", json!({ "version": VERSION, "projects": projects }))
}

fn broken(path: &Path, distrust: &Distrust) -> CommandError {
    let path = path.display();
    let (why, mend) = match distrust {
        Distrust::Broken(why) => {
            (why.clone(), "remove it, then run `sortie trust` in each project that you trust".to_owned())
        }
        Distrust::Open { mode } => {
            (format!("it is open to others (mode {mode:o})"), format!("if you know what is in it: chmod 600 {path}"))
        }
    };
    CommandError::config(format!("the list of trusted projects {path} cannot be used: {why}; nothing is trusted"))
        .hint(mend)
}
