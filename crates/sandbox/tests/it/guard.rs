//! A guard is asked about every place that is used, by its real name.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sortie_sandbox::{Access, AccessError, Expected, Guard, Workspace, WriteError};

use crate::fixture::{Fixture, INSIDE, tree, while_repeating};

/// Refuses reads and writes in certain directories, and records every question.
#[derive(Debug, Default)]
struct Watch {
    unreadable: Vec<PathBuf>,
    unwritable: Vec<PathBuf>,
    asked: Mutex<Vec<(PathBuf, Access)>>,
}

impl Guard for Watch {
    fn check(&self, path: &Path, access: Access) -> Result<(), String> {
        self.asked.lock().unwrap().push((path.to_owned(), access));
        let refused = match access {
            Access::Read => &self.unreadable,
            Access::Write => &self.unwritable,
        };
        if refused.iter().any(|refused| path.starts_with(refused)) { Err("by the watch".to_owned()) } else { Ok(()) }
    }
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

fn without_reading(fixture: &Fixture, refused: &[&str]) -> Workspace {
    fixture.workspace.guarded(Arc::new(Watch { unreadable: paths(refused), ..Watch::default() }))
}

/// Tries every way to look at `path`, called `name` in a walk; each result tells whether it was refused.
fn refusals(workspace: &Workspace, path: &str, name: &str) -> Vec<bool> {
    let is_refused = |error: Option<AccessError>| matches!(error, Some(AccessError::Refused { .. }));
    vec![
        is_refused(workspace.resolve(path).err()),
        is_refused(workspace.stamp(path).err()),
        is_refused(workspace.open_file(path).err()),
        is_refused(workspace.read_whole(path, 100).err()),
        is_refused(workspace.open_relative(name.as_ref()).err()),
        is_refused(workspace.open_listed(name.as_ref()).err()),
        is_refused(workspace.read_dir(name.as_ref()).err()),
    ]
}

#[test]
fn an_unreadable_path_is_refused_in_every_way_and_spelling() {
    let fixture = Fixture::new();
    let workspace = without_reading(&fixture, &["sub/deep"]);
    for spelling in ["sub/deep", "./sub//deep", "in_relative/deep", "sub/x/../deep", "../proj/in_absolute/deep"] {
        for name in ["", "/file.txt", "/absent", "/absent/too"] {
            let refusals = refusals(&workspace, &format!("{spelling}{name}"), &format!("sub/deep{name}"));
            assert!(refusals.iter().all(|is_refused| *is_refused), "{spelling}{name}: {refusals:?}");
        }
    }
    assert!(matches!(workspace.open_file("in_file"), Err(AccessError::Refused { .. })));
    let refusals = refusals(&workspace, "sub", "sub");
    assert!(refusals.iter().all(|is_refused| !is_refused), "{refusals:?}");
    assert_eq!(
        fixture.text_of("sub/deep/file.txt").unwrap(),
        INSIDE,
        "the workspace that it was made from is as before"
    );
}

#[test]
fn a_guards_refusal_gives_the_reason_and_does_not_reveal_what_exists() {
    let fixture = Fixture::new();
    let workspace = without_reading(&fixture, &["sub/deep"]);
    let refusal = |path: &str| workspace.open_file(path).unwrap_err().to_string();
    assert_eq!(refusal("sub/deep/file.txt"), "`sub/deep/file.txt` may not be used: by the watch");
    assert_eq!(refusal("sub/deep/absent"), "`sub/deep/absent` may not be used: by the watch");
}

/// The name of a link does not matter; its target does.
#[test]
fn a_link_is_judged_by_where_it_leads() {
    let fixture = Fixture::new();
    let workspace = without_reading(&fixture, &["in_file"]);
    assert_eq!(workspace.read_whole("in_file", 100).unwrap().0, INSIDE.as_bytes());
}

#[test]
fn a_listing_does_not_name_unreadable_entries() {
    let fixture = Fixture::new();
    fixture.put("sub/plain.txt", "");
    let workspace = without_reading(&fixture, &["sub/deep", "sub/out_below"]);
    let (mut names, mut n_hidden) = (Vec::new(), 0);
    for entry in workspace.read_dir("sub".as_ref()).unwrap() {
        match entry {
            Ok(entry) => names.push(entry.name),
            Err(error @ AccessError::Refused { .. }) => {
                assert!(!error.to_string().contains("deep"), "{error}");
                n_hidden += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((names, n_hidden), (vec!["plain.txt".into()], 2));
}

#[test]
fn a_refused_write_creates_nothing() {
    let fixture = Fixture::new();
    let unwritable = paths(&["sub/deep", "new"]);
    let workspace = fixture.workspace.guarded(Arc::new(Watch { unwritable, ..Watch::default() }));
    let before = tree(&fixture.base);
    for path in ["sub/deep/file.txt", "in_file", "in_relative/deep/a/b", "new/a/b", "x/../new/a"] {
        for expected in [Expected::Absent, fixture.as_it_is("sub/deep/file.txt")] {
            let error = workspace.write(path, b"new", expected).unwrap_err();
            assert!(matches!(error, WriteError::Access(AccessError::Refused { .. })), "{path}: {error:?}");
        }
    }
    assert_eq!(tree(&fixture.base), before);
    assert_eq!(workspace.read_whole("sub/deep/file.txt", 100).unwrap().0, INSIDE.as_bytes());
    assert!(workspace.write("newer", b"new", Expected::Absent).is_ok());
}

#[test]
fn the_guard_gets_the_resolved_name_and_the_access() {
    let fixture = Fixture::new();
    let watch = Arc::new(Watch::default());
    let added = fixture.base.join("proj-secret");
    let workspace = Workspace::open(&fixture.base.join("proj")).unwrap();
    let workspace = workspace.with_directories(std::slice::from_ref(&added)).unwrap().guarded(watch.clone());
    let last = || watch.asked.lock().unwrap().last().cloned().unwrap();
    workspace.resolve("in_around/../sub/./deep").unwrap();
    assert_eq!(last(), (PathBuf::from("sub/deep"), Access::Read));
    workspace.resolve(".").unwrap();
    assert_eq!(last(), (PathBuf::new(), Access::Read));
    workspace.resolve("out_relative/deep").unwrap();
    assert_eq!(last(), (added.join("deep"), Access::Read));
    workspace.write("out_absolute/new", b"new", Expected::Absent).unwrap();
    assert_eq!(last(), (added.join("new"), Access::Write));
    workspace.open_listed(&fixture.path("sub/deep/file.txt")).unwrap();
    assert_eq!(last(), (PathBuf::from("sub/deep/file.txt"), Access::Read), "one place has one name");

    let n_asked = watch.asked.lock().unwrap().len();
    assert_eq!(workspace.locate("in_file").unwrap(), Path::new("sub/deep/file.txt"));
    assert_eq!(watch.asked.lock().unwrap().len(), n_asked, "where a path leads is what a verdict is given on");
}

#[test]
fn guards_add_up() {
    let fixture = Fixture::new();
    fixture.put("plain.txt", "");
    let once = without_reading(&fixture, &["sub"]);
    let twice = once.guarded(Arc::new(Watch { unreadable: paths(&["plain.txt"]), ..Watch::default() }));
    assert!(once.open_file("plain.txt").is_ok() && once.open_file("in_file").is_err());
    assert!(twice.open_file("plain.txt").is_err() && twice.open_file("in_file").is_err());
}

/// A link swapped in after the check does not help: the file that is opened is the one that was judged.
#[test]
fn s05_an_unreadable_file_is_never_read_while_links_to_it_come_and_go() {
    let fixture = Fixture::new();
    fixture.put("hidden.txt", "hidden");
    fixture.put("shown.txt", "shown");
    fixture.link("hidden.txt", "a");
    fixture.link("shown.txt", "b");
    let workspace = without_reading(&fixture, &["hidden.txt"]);
    let (a, b, c) = (fixture.path("a"), fixture.path("b"), fixture.path("c"));
    let swap = || {
        for (from, to) in [(&a, &c), (&b, &a), (&c, &b)] {
            std::fs::rename(from, to).unwrap();
        }
    };
    let (mut n_read, mut n_refused) = (0, 0);
    while_repeating(swap, || {
        while n_read + n_refused < 10_000 || n_read == 0 || n_refused == 0 {
            match workspace.read_whole("a", 100) {
                Ok((bytes, _)) => {
                    assert_eq!(bytes, b"shown");
                    n_read += 1;
                }
                Err(AccessError::Refused { .. }) => n_refused += 1,
                Err(AccessError::NotFound { .. } | AccessError::Unstable { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    });
}
