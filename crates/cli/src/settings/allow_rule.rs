//! Adds a rule that a person allowed for good to the user's configuration, in one step, and changes nothing else.

mod edit;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;

use crate::error::CommandError;

/// Adds a rule to `[permissions] allow` of this configuration, which is made where there is none.
pub(crate) fn allow_for_good(config: &Path, rule: &str) -> Result<(), CommandError> {
    let unwritten = |error: io::Error| CommandError::config(format!("{} cannot be written: {error}", config.display()));
    if let Some(directory) = config.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(unwritten)?;
    }
    // The file itself is replaced, not a link to it.
    let path = match config.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => config.to_owned(),
        Err(error) => return Err(unwritten(error)),
    };
    let directory = File::open(path.parent().unwrap_or(Path::new("/"))).map_err(unwritten)?;
    retry_on_intr(|| flock(&directory, FlockOperation::LockExclusive)).map_err(|errno| unwritten(errno.into()))?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unwritten(error)),
    };
    let changed = edit::with_allowed(&text, rule).ok_or_else(|| {
        CommandError::config(format!("{} has no obvious place for the rule", config.display()))
            .hint(format!("write `{rule}` into `allow` of its [permissions] with `sortie config edit`"))
    })?;
    replace(&directory, &path, &changed).map_err(unwritten)
}

/// Writes the file beside its place, syncs it and moves it there, so that it is always one whole text or the other.
pub(crate) fn replace(directory: &File, path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    let written = (|| {
        // For this user alone: it may hold a key.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        if let Ok(before) = fs::metadata(path) {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        directory.sync_all()
    })();
    if written.is_err() {
        // The error is reported; to report the leftover file as well would help nobody.
        fs::remove_file(&beside).unwrap_or_default();
    }
    written
}
