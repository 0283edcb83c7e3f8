//! The journal's file and directory, and other things that may be found in their place.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::expect;
use sortie_journal::{Durability, Journal, JournalError, SqliteJournal};

use crate::support::{Place, append, noticed, started, task};

/// A journal with one event in a directory that can be removed.
async fn journal_in(directory: &Path) -> SqliteJournal {
    let journal = SqliteJournal::open(&directory.join("journal.db")).unwrap();
    append(&journal, [started(task('a'))]).await.unwrap();
    journal
}

async fn check_moved(journal: &SqliteJournal) {
    let refused = append(journal, [noticed(task('a'), "into the void")]).await;
    assert!(matches!(refused, Err(JournalError::Moved { .. })), "{refused:?}");
    for durability in [Durability::Synced, Durability::Ordered] {
        let refused = journal.append(vec![noticed(task('a'), "again")], durability).await;
        assert!(matches!(refused, Err(JournalError::Moved { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_write_to_a_removed_directory_is_not_acknowledged() {
    let place = Place::new();
    let directory = place.directory.path().join("state");
    let journal = journal_in(&directory).await;
    fs::remove_dir_all(&directory).unwrap();
    check_moved(&journal).await;
    let told = append(&journal, [noticed(task('a'), "more")]).await.unwrap_err().to_string();
    expect!["the journal FILE was moved, deleted or replaced while in use; nothing after this point is recorded; put it back, or run again to start a new one"]
        .assert_eq(&told.replace(&directory.join("journal.db").display().to_string(), "FILE"));
    assert!(!directory.exists(), "nothing is made in its place behind anybody's back");
}

#[tokio::test]
async fn a_write_past_a_link_in_place_of_the_directory_is_not_acknowledged() {
    let place = Place::new();
    let (directory, other) = (place.directory.path().join("state"), place.directory.path().join("other"));
    let journal = journal_in(&directory).await;
    let theirs = journal_in(&other).await;
    fs::rename(&directory, place.directory.path().join("away")).unwrap();
    symlink(&other, &directory).unwrap();
    check_moved(&journal).await;
    append(&theirs, [noticed(task('a'), "ours")]).await.unwrap();
    assert_eq!(theirs.read(task('a')).unwrap().len(), 2);
}

#[tokio::test]
async fn a_write_to_a_removed_log_is_not_acknowledged() {
    let place = Place::new();
    let journal = journal_in(place.directory.path()).await;
    fs::remove_file(place.directory.path().join("journal.db-wal")).unwrap();
    check_moved(&journal).await;
}

#[tokio::test]
async fn a_link_in_place_of_the_file_is_refused_not_followed() {
    let place = Place::new();
    let elsewhere = Place::new();
    append(&elsewhere.open(), [started(task('a'))]).await.unwrap();
    let before = fs::read(elsewhere.path()).unwrap();
    for target in [elsewhere.path(), elsewhere.directory.path().join("missing.db")] {
        symlink(&target, place.path()).unwrap();
        for refused in [SqliteJournal::open(&place.path()), SqliteJournal::open_read_only(&place.path())] {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains("cannot be opened: it is a link; put the file itself there;"), "{told}");
        }
        fs::remove_file(place.path()).unwrap();
    }
    assert_eq!(fs::read(elsewhere.path()).unwrap(), before);
    assert!(!elsewhere.directory.path().join("missing.db").exists());
}

#[tokio::test]
async fn a_directory_may_be_a_link_as_long_as_it_leads_somewhere() {
    let place = Place::new();
    let elsewhere = Place::new();
    let directory = place.directory.path().join("state");
    symlink(elsewhere.directory.path(), &directory).unwrap();
    let journal = journal_in(&directory).await;
    assert_eq!(journal.read(task('a')).unwrap().len(), 1);
    drop(journal);

    let nowhere = place.directory.path().join("nowhere");
    symlink(place.directory.path().join("missing"), &nowhere).unwrap();
    let refused = SqliteJournal::open(&nowhere.join("journal.db")).unwrap_err();
    assert!(matches!(refused, JournalError::Open { .. }), "{refused:?}");
}
