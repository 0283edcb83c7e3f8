//! Several writers of the same file: nothing unseen is overwritten.

use std::collections::HashSet;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use sortie_sandbox::{AccessError, Expected, WriteError};

use crate::fixture::{Fixture, assert_nothing_left_behind, while_repeating};

const FILE: &str = "sub/deep/file.txt";

/// Another writer's change, as a description and an action.
type Change = (&'static str, fn(&Fixture));

#[test]
fn a_file_that_has_changed_since_it_was_read_is_not_replaced() {
    let changes: [Change; 5] = [
        ("its content", |fixture| fixture.put(FILE, "changed")),
        ("its content, not its size", |fixture| fixture.put(FILE, "insidE")),
        ("another file in its place", |fixture| {
            fixture.put("other", "inside");
            fs::rename(fixture.path("other"), fixture.path(FILE)).unwrap();
        }),
        ("a directory in its place", |fixture| {
            fs::remove_file(fixture.path(FILE)).unwrap();
            fs::create_dir(fixture.path(FILE)).unwrap();
        }),
        ("no file", |fixture| fs::remove_file(fixture.path(FILE)).unwrap()),
    ];
    for (what, change) in changes {
        let fixture = Fixture::new();
        let expected = fixture.as_it_is(FILE);
        change(&fixture);
        let after = fixture.text_of(FILE).ok();
        let error = fixture.workspace.write(FILE, b"new", expected).unwrap_err();
        let fits = match what {
            "no file" => matches!(error, WriteError::Vanished { .. }),
            "a directory in its place" => matches!(error, WriteError::IsDirectory { .. }),
            _ => matches!(error, WriteError::Changed { .. }),
        };
        assert!(fits, "{what}: {error:?}");
        assert_eq!(fixture.text_of(FILE).ok(), after, "{what}");
        assert_nothing_left_behind(&fixture.base);
    }
}

#[test]
fn a_file_whose_directory_is_gone_is_not_created_again() {
    let fixture = Fixture::new();
    let expected = fixture.as_it_is(FILE);
    fs::remove_dir_all(fixture.path("sub")).unwrap();
    assert!(matches!(fixture.workspace.write(FILE, b"new", expected), Err(WriteError::Vanished { .. })));
    assert!(!fixture.path("sub").exists());
}

#[test]
fn an_existing_file_is_not_created() {
    let fixture = Fixture::new();
    let error = fixture.workspace.write(FILE, b"new", Expected::Absent).unwrap_err();
    assert!(matches!(error, WriteError::Exists { .. }), "{error:?}");
    assert_eq!(fixture.text_of(FILE).unwrap(), "inside");
    assert_nothing_left_behind(&fixture.base);
}

/// Inodes are recycled and file system clocks are coarse; still, no two versions may have the same stamp.
#[test]
fn no_two_versions_have_the_same_stamp_however_fast_they_are_written() {
    let fixture = Fixture::in_memory();
    let mut expected = fixture.as_it_is(FILE);
    let mut stamps = HashSet::new();
    for _ in 0..2000 {
        let before = SystemTime::now();
        let stamp = fixture.workspace.write(FILE, b"always of the same size", expected).unwrap().stamp_after;
        assert!(stamps.insert(stamp), "{stamp:?}");
        assert!(fs::metadata(fixture.path(FILE)).unwrap().modified().unwrap() >= before, "not to the tick");
        expected = Expected::Content { stamp };
    }
}

#[test]
fn each_of_many_simultaneous_writers_succeeds_or_gets_a_conflict() {
    const THREADS: usize = 8;
    const TRIES: usize = 200;
    let fixture = Fixture::in_memory();
    fixture.put(FILE, "");
    let (n_written, n_conflicts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (fixture, n_written, n_conflicts) = (&fixture, &n_written, &n_conflicts);
            scope.spawn(move || {
                for n in 0..TRIES {
                    let (mut text, stamp) = fixture.workspace.read_whole(FILE, 1 << 20).unwrap();
                    text.extend(format!("{thread} {n}\n").bytes());
                    match fixture.workspace.write(FILE, &text, Expected::Content { stamp }) {
                        Ok(_) => n_written.fetch_add(1, Ordering::Relaxed),
                        Err(WriteError::Changed { .. }) => n_conflicts.fetch_add(1, Ordering::Relaxed),
                        Err(other) => panic!("{other:?}"),
                    };
                }
            });
        }
    });
    let (n_written, n_conflicts) = (n_written.into_inner(), n_conflicts.into_inner());
    assert_eq!(n_written + n_conflicts, THREADS * TRIES);
    assert!(n_conflicts > 0, "there was no race");
    assert_eq!(fixture.text_of(FILE).unwrap().lines().collect::<HashSet<_>>().len(), n_written);
    assert_nothing_left_behind(&fixture.base);
}

#[test]
fn exactly_one_of_many_creators_of_the_same_file_succeeds() {
    const THREADS: usize = 8;
    let fixture = Fixture::in_memory();
    for round in 0..50 {
        let path = format!("new-{round}/a/b");
        let made: usize = std::thread::scope(|scope| {
            let make = || match fixture.workspace.write(&path, b"new", Expected::Absent) {
                Ok(_) => 1,
                Err(WriteError::Exists { .. }) => 0,
                Err(other) => panic!("{other:?}"),
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(made, 1, "{path}");
    }
}

#[test]
fn a_directory_that_comes_and_goes_is_a_typed_error_at_worst() {
    let fixture = Fixture::in_memory();
    let come_and_go = || drop(fs::remove_dir_all(fixture.path("new")));
    let mut n_written = 0;
    while_repeating(come_and_go, || {
        for n in 0..2000 {
            match fixture.workspace.write(&format!("new/a/{n}"), b"new", Expected::Absent) {
                Ok(_) => n_written += 1,
                Err(WriteError::Access(AccessError::Unstable { .. }) | WriteError::Unsynced { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    assert!(n_written > 0);
}
