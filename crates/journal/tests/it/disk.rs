//! A full disk, and a disk that fails to sync.

use std::fs;
use std::path::Path;
use std::process::Command;

use sortie_journal::{Durability, Entry, Journal, JournalError, SqliteJournal};
use sortie_protocol::Fact;

use crate::support::{Place, again, append, noticed, passes, resumed, role, started, task};

/// In a mount namespace of its own, which ends with the process, so that nothing stays mounted.
#[tokio::test]
async fn a_full_disk_acknowledges_nothing_and_writing_resumes_when_there_is_room() {
    let test = "disk::a_full_disk_acknowledges_nothing_and_writing_resumes_when_there_is_room";
    if let Some(directory) = role() {
        return fill_up(Path::new(&directory)).await;
    }
    let place = Place::new();
    let directory = place.directory.path().to_str().unwrap();
    let itself = again(test, directory);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg("mount -t tmpfs -o size=2m tmpfs \"$0\" && exec \"$@\"").arg(directory);
    command.arg(itself.get_program()).args(itself.get_args());
    command.envs(itself.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir("/");
    passes(&mut command);
}

async fn fill_up(directory: &Path) {
    let a = task('a');
    let path = directory.join("journal.db");
    let ballast = directory.join("ballast");
    fs::write(&ballast, vec![1; 512 * 1024]).unwrap();
    let journal = SqliteJournal::open(&path).unwrap();
    append(&journal, [started(a)]).await.unwrap();
    let mut acknowledged = 1;
    let full = loop {
        match append(&journal, [noticed(a, &"x".repeat(10_000))]).await {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 1_000, "the disk is never full");
    };
    assert!(acknowledged > 10, "only {acknowledged} had room");
    let told = full.to_string();
    assert!(told.contains("could not be written: database or disk is full; "), "{told}");
    assert!(told.ends_with("free space or repair the disk, then run `sortie resume`"), "{told}");

    fs::remove_file(&ballast).unwrap();
    assert_eq!(journal.read(a).unwrap().len(), acknowledged, "reading continues");
    // The caller that got the error may retry, and others lost nothing.
    append(&journal, [noticed(a, "later")]).await.unwrap();
    append(&journal, [started(task('b')), noticed(task('b'), "room")]).await.unwrap();
    assert_eq!((journal.read(a).unwrap().len(), journal.read(task('b')).unwrap().len()), (acknowledged + 1, 2));
    drop(journal);

    let journal = SqliteJournal::open(&path).unwrap();
    assert_eq!(journal.read(a).unwrap().len(), acknowledged + 1);
    append(&journal, [noticed(a, "room")]).await.unwrap();
    assert_eq!(journal.read(a).unwrap().last().unwrap().fact, Fact::Noticed { text: "room".to_owned() });
}

/// Syncs fail as long as the file named by `BROKEN_DISK` exists.
const BROKEN_SYNC: &str = r#"
    #define _GNU_SOURCE
    #include <errno.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    static int synced(long number, int file) {
        const char *broken = getenv("BROKEN_DISK");
        if (broken && access(broken, F_OK) == 0) {
            errno = EIO;
            return -1;
        }
        return (int)syscall(number, file);
    }

    int fsync(int file) { return synced(SYS_fsync, file); }
    int fdatasync(int file) { return synced(SYS_fdatasync, file); }
"#;

#[tokio::test]
async fn after_a_failed_sync_nothing_more_is_acknowledged() {
    let test = "disk::after_a_failed_sync_nothing_more_is_acknowledged";
    if let Some(directory) = role() {
        return fail_to_sync(Path::new(&directory)).await;
    }
    let place = Place::new();
    let directory = place.directory.path();
    let (source, library) = (directory.join("broken_sync.c"), directory.join("broken_sync.so"));
    fs::write(&source, BROKEN_SYNC).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(compiled.success());
    let mut itself = again(test, directory.to_str().unwrap());
    passes(itself.env("LD_PRELOAD", &library).env("BROKEN_DISK", directory.join("broken")));

    let journal = place.open();
    let events = journal.read(task('a')).unwrap().len();
    assert!((2..=3).contains(&events), "the two that were acknowledged, and at most the one that failed: {events}");
    let attempt = journal.standing(task('a')).unwrap().next_attempt().unwrap();
    append(&journal, [Entry { attempt, ..resumed(task('a'), 1) }]).await.unwrap();
    assert_eq!(journal.read(task('a')).unwrap().len(), events + 1);
}

async fn fail_to_sync(directory: &Path) {
    let a = task('a');
    let broken = directory.join("broken");
    let journal = SqliteJournal::open(&directory.join("journal.db")).unwrap();
    append(&journal, [started(a), noticed(a, "synced")]).await.unwrap();
    fs::write(&broken, "").unwrap();
    let failed = append(&journal, [noticed(a, "lost")]).await.unwrap_err();
    assert!(matches!(failed, JournalError::Write { .. }), "{failed:?}");
    fs::remove_file(&broken).unwrap();
    for durability in [Durability::Synced, Durability::Ordered] {
        let later = journal.append(vec![noticed(a, "later")], durability).await.unwrap_err();
        assert_eq!(later.to_string(), failed.to_string());
    }
    assert_eq!(journal.read(a).unwrap().len(), 2);
}
