//! Stopped and killed writers: their leftovers, and the removal of these.

use std::cell::Cell;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};
use sortie_sandbox::WriteError;

use crate::fixture::{Fixture, INSIDE, tree};

const FILE: &str = "sub/deep/file.txt";
const LEFTOVER: &str = "sub/deep/.sortie-write-0123456789abcdef.tmp";
const LONG_AGO: Duration = Duration::from_hours(2);

#[test]
fn a_waiting_writer_stops_on_request_and_leaves_nothing() {
    let fixture = Fixture::new();
    let other = File::open(fixture.path("sub/deep")).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    let (before, looks) = (tree(&fixture.base), Cell::new(0));
    let is_stopped = || {
        assert_eq!(tree(&fixture.base), before, "nothing is made before it is this writer's turn");
        looks.set(looks.get() + 1);
        looks.get() > 3
    };
    let error = fixture.workspace.write_unless(FILE, b"new", fixture.as_it_is(FILE), &is_stopped).unwrap_err();
    assert!(matches!(error, WriteError::Stopped { .. }), "{error:?}");
    assert_eq!(tree(&fixture.base), before);
}

#[test]
fn a_writer_stopped_at_the_last_moment_writes_nothing() {
    let fixture = Fixture::new();
    let is_stopped = || {
        let names = fs::read_dir(fixture.path("sub/deep")).unwrap();
        names.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(".sortie-write-"))
    };
    let error = fixture.workspace.write_unless(FILE, b"new", fixture.as_it_is(FILE), &is_stopped).unwrap_err();
    assert!(matches!(error, WriteError::Stopped { .. }), "{error:?}");
    assert_eq!(fixture.text_of(FILE).unwrap(), INSIDE);
    assert!(!is_stopped(), "the new version is gone");
}

/// Leaves a file of this age, as a killed writer does.
fn leave(fixture: &Fixture, path: &str, age: Duration) {
    fixture.put(path, "half");
    let file = File::options().write(true).open(fixture.path(path)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn the_next_write_removes_what_a_killed_writer_left() {
    let fixture = Fixture::new();
    leave(&fixture, LEFTOVER, LONG_AGO);
    leave(&fixture, ".sortie-write-0123456789abcdef.tmp", LONG_AGO);
    fixture.workspace.write(FILE, b"new", fixture.as_it_is(FILE)).unwrap();
    assert!(!fixture.path(LEFTOVER).exists());
    assert!(fixture.path(".sortie-write-0123456789abcdef.tmp").exists(), "another directory is not looked at");
}

#[test]
fn files_that_may_belong_to_others_are_left_alone() {
    let fixture = Fixture::new();
    leave(&fixture, LEFTOVER, Duration::from_mins(5));
    let others =
        ["-0123456789abcde", "-0123456789ABCDEF", "-0123456789abcdefa", "-0123456789abcdeg", "s-0123456789abcdef"];
    let others = others.map(|name| format!("sub/deep/.sortie-write{name}.tmp"));
    for path in &others {
        leave(&fixture, path, LONG_AGO);
    }
    let linked = "sub/deep/.sortie-write-aaaaaaaaaaaaaaaa.tmp";
    leave(&fixture, linked, LONG_AGO);
    fs::hard_link(fixture.path(linked), fixture.path("sub/other-name")).unwrap();
    fixture.link(fixture.path(&others[0]), "sub/deep/.sortie-write-bbbbbbbbbbbbbbbb.tmp");
    fs::create_dir(fixture.path("sub/deep/.sortie-write-cccccccccccccccc.tmp")).unwrap();
    let n_before = tree(&fixture.base).len();
    fixture.workspace.write(FILE, b"new", fixture.as_it_is(FILE)).unwrap();
    assert_eq!(tree(&fixture.base).len(), n_before, "too young, another name, another kind");
}

#[test]
fn a_new_version_is_recognised_by_its_name() {
    let fixture = Fixture::new();
    fixture.put(LEFTOVER, "half");
    let mut names: Vec<(String, bool)> = fixture
        .workspace
        .read_dir("sub/deep".as_ref())
        .unwrap()
        .map(|entry| entry.map(|entry| (entry.name.to_string_lossy().into_owned(), entry.is_unfinished())).unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [(".sortie-write-0123456789abcdef.tmp".to_owned(), true), ("file.txt".to_owned(), false)]);
}
