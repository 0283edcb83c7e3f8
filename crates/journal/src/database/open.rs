//! Finds or creates the file, and refuses files that must not be touched.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::database::error::Doing;
use crate::database::schema::{self, Format, STEPS};
use crate::port::JournalError;

/// A file ready to be written.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    /// The file itself if it was just created and is not yet synced. Nothing in it counts as synced before that. The
    /// sync takes milliseconds, so the writer thread does it.
    pub(crate) unsynced: Option<File>,
}

/// Opens the file for the writer: created if missing, migrated if older, in WAL mode.
pub(crate) fn for_writing(path: &Path, patience: Duration) -> Result<Opened, JournalError> {
    refuse_planted(path)?;
    let unsynced = create(path)?;
    if unsynced.is_none() {
        owner_only::tighten(path);
    }
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, patience)?;
    let format = inspect(path, &connection)?;
    let failed = |error| Doing::Opening.failed(path, error);
    // SQLite silently falls back to reading a file that it may not write.
    if connection.is_readonly("main").map_err(failed)? {
        return Err(JournalError::ReadOnly { path: path.to_owned() });
    }
    if unsynced.is_some() {
        connection.pragma_update(None, "synchronous", "OFF").map_err(failed)?;
    }
    let mode = enter_wal_mode(&connection, patience).map_err(failed)?;
    if mode != "wal" {
        let cause = format!("its file system does not support write-ahead logs (SQLite offers `{mode}`)");
        return Err(JournalError::Open { path: path.to_owned(), cause });
    }
    if format != (Format::Ours { version: schema::newest(STEPS) }) {
        schema::migrate(&mut connection, STEPS).map_err(failed)?;
    }
    Ok(Opened { connection, unsynced })
}

/// Opens the file for reading. A missing or empty file is read as an empty journal, and nothing is created.
pub(crate) fn for_reading(path: &Path, patience: Duration) -> Result<Connection, JournalError> {
    refuse_planted(path)?;
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return empty(path),
        Err(error) => return Err(unopened(path, &error)),
        Ok(_) => {}
    }
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, patience)?;
    let format = match inspect(path, &connection) {
        Err(JournalError::ReadOnly { .. }) if !has_log_beside(path) => {
            connection = connect_to_unchanging(path)?;
            inspect(path, &connection)?
        }
        inspected => inspected?,
    };
    match format {
        Format::Ours { version } if version < schema::newest(STEPS) => {
            drop(connection);
            drop(for_writing(path, patience)?);
            connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, patience)
        }
        Format::Empty => empty(path),
        Format::Ours { .. } | Format::Foreign => Ok(connection),
    }
}

/// A second connection to a file already open for writing.
pub(crate) fn beside_the_writer(path: &Path, patience: Duration) -> Result<Connection, JournalError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, patience)
}

/// The journal always creates its file as a regular file. A link was put there by somebody else, and could lead
/// anywhere. The directory may be a link, so that people can keep their state on another disk.
///
/// A file of somebody who owns neither the directory nor this process was put there as well. Its owner could read what
/// is written to it.
fn refuse_planted(path: &Path) -> Result<(), JournalError> {
    let cause = if path.is_symlink() {
        "it is a link; put the file itself there".to_owned()
    } else if let Some(planted) = owner_only::planted(path) {
        format!("{} belongs to another user, who could read it; remove it", planted.display())
    } else {
        return Ok(());
    };
    Err(JournalError::Open { path: path.to_owned(), cause })
}

/// An empty journal in memory, so that reading need not check for a file.
fn empty(path: &Path) -> Result<Connection, JournalError> {
    let made = Connection::open_in_memory().and_then(|mut connection| {
        schema::migrate(&mut connection, STEPS)?;
        Ok(connection)
    });
    made.map_err(|error| Doing::Opening.failed(path, error))
}

fn connect(path: &Path, access: OpenFlags, patience: Duration) -> Result<Connection, JournalError> {
    // Each connection is used by one thread at a time, so SQLite need not lock as well.
    let connected = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|connection| connection.busy_timeout(patience).map(|()| connection));
    connected.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => JournalError::Open { path: path.to_owned(), cause: why_not(path, &error) },
        _ => Doing::Opening.failed(path, error),
    })
}

/// The system's reason why the file could not be opened, since SQLite does not give it.
fn why_not(path: &Path, error: &rusqlite::Error) -> String {
    if path.is_dir() {
        return "it is a directory".to_owned();
    }
    match File::open(path) {
        Err(reason) => reason.to_string(),
        Ok(file) => {
            keep_open_for_ever(file);
            error.to_string()
        }
    }
}

/// Closing any handle of a file drops all locks that this process has on it, including SQLite's, and with them its
/// protection against other processes. A leaked handle costs less.
pub(crate) fn keep_open_for_ever(file: File) {
    std::mem::forget(file);
}

/// True if part of the journal is still in SQLite's write-ahead log next to the file.
fn has_log_beside(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).exists()
}

/// Opens a file in a read-only place: SQLite reads it without the extra files that it normally needs.
fn connect_to_unchanging(path: &Path) -> Result<Connection, JournalError> {
    let mut address = "file:".to_owned();
    for character in path.to_string_lossy().chars() {
        match character {
            '%' | '?' | '#' => address.push_str(&format!("%{:02x}", u32::from(character))),
            _ => address.push(character),
        }
    }
    address.push_str("?immutable=1");
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(address, access).map_err(|error| Doing::Opening.failed(path, error))
}

/// Checks the file before anything in it is changed.
fn inspect(path: &Path, connection: &Connection) -> Result<Format, JournalError> {
    let path = path.to_owned();
    match schema::format(connection) {
        Ok(Format::Ours { version }) if version > schema::newest(STEPS) => {
            Err(JournalError::Newer { path, found: version, known: schema::newest(STEPS) })
        }
        Ok(Format::Foreign) => Err(JournalError::Open { path, cause: "it belongs to another program".to_owned() }),
        Ok(format) => Ok(format),
        // The file itself could be opened, so the files next to it cannot be created.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => Err(JournalError::ReadOnly { path }),
        Err(error) => Err(Doing::Opening.failed(&path, error)),
    }
}

/// Puts the file into WAL mode permanently, and returns the mode that SQLite settled on.
fn enter_wal_mode(connection: &Connection, patience: Duration) -> rusqlite::Result<String> {
    // On request, macOS syncs to the drive and not only to its cache; elsewhere this changes nothing.
    connection.execute_batch("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")?;
    // Ten thousand simultaneous tasks write all over the index. With a checkpoint every 4 MB they would wait for the
    // disk.
    connection.execute_batch("PRAGMA wal_autocheckpoint = 16384")?;
    let deadline = Instant::now() + patience;
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0)) {
            // SQLite's own waiting does not cover two processes that create the same file.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            settled => return settled,
        }
    }
}

/// Creates the file, and its directory, for their owner alone. `None` if the file exists; it is not opened then.
fn create(path: &Path) -> Result<Option<File>, JournalError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    owner_only::file(&mut options);
    let mut made = options.open(path);
    if made.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let directory = path.parent().unwrap_or(path);
        let mut builder = DirBuilder::new();
        owner_only::directory(builder.recursive(true));
        builder.create(directory).map_err(|error| JournalError::Open {
            path: path.to_owned(),
            cause: format!("the directory {} cannot be made: {error}", directory.display()),
        })?;
        made = options.open(path);
    }
    match made {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(unopened(path, &error)),
    }
}

fn unopened(path: &Path, error: &io::Error) -> JournalError {
    let path = path.to_owned();
    match error.kind() {
        // The only obstacle is the missing permission to create a file there.
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem if path.parent().is_some_and(Path::is_dir) => {
            JournalError::ReadOnly { path }
        }
        _ => JournalError::Open { path, cause: error.to_string() },
    }
}

#[cfg(unix)]
mod owner_only {
    use std::fs::{self, DirBuilder, OpenOptions, Permissions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::{Path, PathBuf};

    pub(crate) fn file(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    pub(crate) fn directory(builder: &mut DirBuilder) {
        builder.mode(0o700);
    }

    /// Returns the journal, or a file of SQLite's beside it, if a stranger owns it. This process, root and the owner of
    /// the directory are no strangers.
    pub(crate) fn planted(path: &Path) -> Option<PathBuf> {
        let directory = path.parent().and_then(|directory| fs::metadata(directory).ok())?.uid();
        let trusted = [rustix::process::geteuid().as_raw(), 0, directory];
        let is_foreign = |file: &PathBuf| fs::symlink_metadata(file).is_ok_and(|found| !trusted.contains(&found.uid()));
        ["", "-wal", "-shm"].into_iter().map(|suffix| beside(path, suffix)).find(is_foreign)
    }

    fn beside(path: &Path, suffix: &str) -> PathBuf {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        file.into()
    }

    /// Closes an existing journal, and SQLite's files beside it, to others. A copy or an older program may have left
    /// them open. Somebody else's files cannot be changed, and are read as they are.
    pub(crate) fn tighten(path: &Path) {
        for suffix in ["", "-wal", "-shm"] {
            let file = beside(path, suffix);
            let open_to_others = |found: &fs::Metadata| found.is_file() && found.mode() & 0o077 != 0;
            if let Some(found) = fs::symlink_metadata(&file).ok().filter(open_to_others) {
                fs::set_permissions(&file, Permissions::from_mode(found.mode() & 0o700)).unwrap_or_default();
            }
        }
    }
}

#[cfg(not(unix))]
mod owner_only {
    use std::fs::{DirBuilder, OpenOptions};
    use std::path::{Path, PathBuf};

    // On Windows a user's own directories are closed to others by default.
    pub(crate) fn file(_options: &mut OpenOptions) {}

    pub(crate) fn directory(_builder: &mut DirBuilder) {}

    pub(crate) fn planted(_path: &Path) -> Option<PathBuf> {
        None
    }

    pub(crate) fn tighten(_path: &Path) {}
}
