//! Finding, creating and refusing files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use expect_test::expect;
use sortie_journal::{Durability, Journal, JournalError, Position, Scope, SqliteJournal};

use crate::support::{Place, again_from, append, noticed, passes, role, started, task};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn close_to(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_directory_and_all_files_are_private_to_their_owner() {
    let place = Place::new();
    let directory = place.directory.path().join("state/sortie");
    let journal = SqliteJournal::open(&directory.join("journal.db")).unwrap();
    append(&journal, [started(task('a'))]).await.unwrap();
    assert_eq!(mode(&directory), 0o700);
    assert_eq!(mode(directory.parent().unwrap()), 0o700);
    let mut files: Vec<_> = fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap()).collect();
    assert_eq!(names, ["journal.db", "journal.db-shm", "journal.db-wal"]);
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_journal_that_was_open_to_others_is_closed_to_them() {
    let place = Place::new();
    let first = place.open();
    append(&first, [started(task('a'))]).await.unwrap();
    let beside = |suffix: &str| place.path().with_file_name(format!("journal.db{suffix}"));
    let files = ["", "-wal", "-shm"].map(beside);
    for file in &files {
        close_to(file, 0o666);
    }
    let _second = place.open();
    assert_eq!(files.map(|file| mode(&file)), [0o600; 3]);
}

/// In a directory where everybody may create files, somebody can be there first. Only root can try this: nobody else
/// can give a file away.
#[test]
fn a_file_that_somebody_else_has_put_there_is_not_written() {
    for suffix in ["", "-wal", "-shm"] {
        let place = Place::new();
        let directory = place.path().parent().unwrap().to_owned();
        if fs::metadata(&directory).unwrap().uid() != 0 {
            return;
        }
        let planted = place.path().with_file_name(format!("journal.db{suffix}"));
        fs::write(&planted, "").unwrap();
        std::os::unix::fs::chown(&planted, Some(54_321), None).unwrap();
        for opened in [SqliteJournal::open(&place.path()), SqliteJournal::open_read_only(&place.path())] {
            let refused = opened.map(drop).unwrap_err();
            let is_it =
                matches!(&refused, JournalError::Open { cause, .. } if cause.contains("belongs to another user"));
            assert!(is_it, "{suffix}: {refused:?}");
        }
        assert_eq!(fs::read(&planted).unwrap(), b"");
        // In a directory of that user, it is the user's own journal.
        std::os::unix::fs::chown(&directory, Some(54_321), None).unwrap();
        SqliteJournal::open(&place.path()).unwrap();
    }
}

#[test]
fn reading_a_missing_journal_finds_it_empty_and_creates_nothing() {
    let place = Place::new();
    let journal = SqliteJournal::open_read_only(&place.directory.path().join("state/journal.db")).unwrap();
    assert_eq!(journal.tasks(10).unwrap(), []);
    assert_eq!(journal.find("").unwrap(), []);
    assert_eq!(journal.read_after(Scope::All, Position(0), 10).unwrap(), []);
    assert_eq!(journal.end().unwrap(), Position(0));
    assert!(matches!(journal.read(task('a')), Err(JournalError::NoSuchTask { .. })));
    assert!(fs::read_dir(place.directory.path()).unwrap().next().is_none());
}

#[test]
fn the_format_version_can_be_read() {
    let place = Place::new();
    assert_eq!(place.open().format_version().unwrap(), 4);
    assert_eq!(SqliteJournal::open_read_only(&place.path()).unwrap().format_version().unwrap(), 4);
}

#[test]
fn a_file_that_holds_nothing_yet_is_an_empty_journal() {
    let place = Place::new();
    fs::write(place.path(), "").unwrap();
    assert_eq!(SqliteJournal::open_read_only(&place.path()).unwrap().tasks(10).unwrap(), []);
    assert_eq!(fs::read(place.path()).unwrap(), b"");
    assert_eq!(place.open().tasks(10).unwrap(), []);
}

#[tokio::test]
async fn a_journal_opened_for_reading_takes_no_appends() {
    let place = Place::new();
    append(&place.open(), [started(task('a'))]).await.unwrap();
    let journal = SqliteJournal::open_read_only(&place.path()).unwrap();
    assert_eq!(journal.read(task('a')).unwrap().len(), 1);
    for durability in [Durability::Ordered, Durability::Synced] {
        let refused = journal.append(vec![noticed(task('a'), "more")], durability).await;
        assert!(matches!(refused, Err(JournalError::ReadOnly { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_journal_is_the_same_after_it_is_opened_again() {
    let place = Place::new();
    append(&place.open(), [started(task('a'))]).await.unwrap();
    let journal = place.open();
    append(&journal, [noticed(task('a'), "again")]).await.unwrap();
    assert_eq!(journal.read(task('a')).unwrap().len(), 2);
    assert_eq!(journal.end().unwrap(), Position(2));
}

#[test]
fn many_threads_may_create_the_same_journal_at_once() {
    let place = Place::new();
    let path = place.path();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| SqliteJournal::open(&path).unwrap());
        }
    });
    assert_eq!(place.open().end().unwrap(), Position(0));
}

#[tokio::test]
async fn a_newer_journal_is_refused_and_left_as_it_is() {
    let place = Place::new();
    append(&place.open(), [started(task('a'))]).await.unwrap();
    place.sql().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(place.path()).unwrap();
    for refused in [SqliteJournal::open(&place.path()), SqliteJournal::open_read_only(&place.path())] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, JournalError::Newer { found: 99, known: 4, .. }), "{refused:?}");
        let told = refused.to_string().replace(&place.path().display().to_string(), "FILE");
        expect!["the journal FILE was written by a newer version (format 99, this program knows up to 4); use that version, or set SORTIE_HOME to another directory"].assert_eq(&told);
    }
    assert!(fs::read(place.path()).unwrap() == before, "the file has changed");
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let place = Place::new();
    place.sql().execute_batch("CREATE TABLE cookies (name TEXT)").unwrap();
    let before = fs::read(place.path()).unwrap();
    for refused in [SqliteJournal::open(&place.path()), SqliteJournal::open_read_only(&place.path())] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("cannot be opened: it belongs to another program"), "{refused}");
    }
    assert!(fs::read(place.path()).unwrap() == before, "the file has changed");
}

#[test]
fn a_file_that_is_not_a_database_is_damaged() {
    let place = Place::new();
    fs::write(place.path(), "Dear diary, ".repeat(1000)).unwrap();
    for refused in [SqliteJournal::open(&place.path()), SqliteJournal::open_read_only(&place.path())] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, JournalError::Damaged { .. }), "{refused:?}");
    }
}

#[tokio::test]
async fn pages_of_garbage_are_damage_to_readers_and_to_the_writer() {
    let place = Place::new();
    append(&place.open(), [started(task('a'))]).await.unwrap();
    let mut bytes = fs::read(place.path()).unwrap();
    // The first page says where everything is; everything it points to is gone.
    bytes[4096..].fill(0xa5);
    fs::write(place.path(), bytes).unwrap();

    let journal = place.open();
    for found in [journal.read(task('a')).map(drop), journal.tasks(10).map(drop), journal.end().map(drop)] {
        assert!(matches!(found, Err(JournalError::Damaged { .. })), "{found:?}");
    }
    let refused = append(&journal, [started(task('b'))]).await;
    assert!(matches!(refused, Err(JournalError::Damaged { .. })), "{refused:?}");
}

#[test]
fn a_path_that_cannot_hold_a_file_is_named() {
    let place = Place::new();
    let refused = SqliteJournal::open(place.directory.path()).unwrap_err();
    assert!(matches!(refused, JournalError::Open { .. }), "{refused:?}");

    fs::write(place.path(), "a file").unwrap();
    let refused = SqliteJournal::open(&place.path().join("within/journal.db")).unwrap_err();
    assert!(matches!(refused, JournalError::Open { .. }), "{refused:?}");
}

const IMPATIENT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_journal_locked_exclusively_by_another_program_is_reported() {
    let place = Place::new();
    append(&place.open(), [started(task('a'))]).await.unwrap();
    let other = place.sql();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
    let refused = SqliteJournal::open_with_patience(&place.path(), IMPATIENT).unwrap_err();
    assert!(matches!(refused, JournalError::Locked { .. }), "{refused:?}");
    drop(other);
    SqliteJournal::open_with_patience(&place.path(), IMPATIENT).unwrap();
}

#[tokio::test]
async fn a_lock_timeout_fails_the_write_and_the_next_one_is_tried() {
    let place = Place::new();
    let journal = SqliteJournal::open_with_patience(&place.path(), IMPATIENT).unwrap();
    append(&journal, [started(task('a'))]).await.unwrap();
    let other = place.sql();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = append(&journal, [noticed(task('a'), "lost")]).await;
    assert!(matches!(refused, Err(JournalError::Locked { .. })), "{refused:?}");
    drop(other);
    assert_eq!(journal.read(task('a')).unwrap().len(), 1, "reading continues");
    append(&journal, [noticed(task('a'), "later")]).await.unwrap();
    assert_eq!(journal.read(task('a')).unwrap().len(), 2);
}

/// Root may write everywhere, so an unprivileged process tries to open the journal.
#[tokio::test]
async fn an_unwritable_journal_is_read_only() {
    let test = "opening::an_unwritable_journal_is_read_only";
    if let Some(directory) = role() {
        return try_the_closed_places(Path::new(&directory));
    }
    let place = Place::new();
    let directory = place.directory.path();
    make_the_closed_places(directory).await;
    let binary = directory.join("it");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let mut command = again_from(&binary, test, directory.to_str().unwrap());
    if fs::metadata(directory).unwrap().uid() == 0 {
        command.uid(54_321).gid(54_321);
    }
    passes(&mut command);
}

async fn make_the_closed_places(directory: &Path) {
    for (name, file_mode, directory_mode) in [("file", 0o444, 0o755), ("directory", 0o666, 0o555), ("secret", 0, 0o755)]
    {
        let within = directory.join(name);
        let file = within.join("journal.db");
        append(&SqliteJournal::open(&file).unwrap(), [started(task('a'))]).await.unwrap();
        close_to(&file, file_mode);
        close_to(&within, directory_mode);
    }
    fs::create_dir(directory.join("empty")).unwrap();
    close_to(&directory.join("empty"), 0o555);
    close_to(directory, 0o755);
}

fn try_the_closed_places(directory: &Path) {
    for name in ["file", "directory", "empty"] {
        let refused = SqliteJournal::open(&directory.join(name).join("journal.db")).unwrap_err();
        assert!(matches!(refused, JournalError::ReadOnly { .. }), "{name}: {refused:?}");
    }
    for name in ["secret", "empty/below"] {
        let refused = SqliteJournal::open(&directory.join(name).join("journal.db")).unwrap_err();
        assert!(matches!(refused, JournalError::Open { .. }), "{name}: {refused:?}");
    }
    for (name, tasks) in [("file", 1), ("directory", 1), ("empty", 0)] {
        let journal = SqliteJournal::open_read_only(&directory.join(name).join("journal.db")).unwrap();
        assert_eq!(journal.tasks(10).unwrap().len(), tasks, "{name}");
    }
    let refused = SqliteJournal::open_read_only(&directory.join("secret/journal.db")).unwrap_err();
    assert!(matches!(refused, JournalError::Open { .. }), "{refused:?}");
}
