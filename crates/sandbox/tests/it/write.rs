//! Creating and replacing files: as a whole, inside, and only where allowed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use sortie_sandbox::{AccessError, Expected, FileKind, Workspace, WriteError, Written};

use crate::fixture::{Fixture, INSIDE, SECRET, assert_nothing_left_behind, tree};

const NEW: &[u8] = b"new";

#[test]
fn a_new_file_gets_its_directories_and_default_modes() {
    let fixture = Fixture::new();
    let Written { path, created, stamp_after } =
        fixture.workspace.write("./new/a/../b/file.txt", NEW, Expected::Absent).unwrap();
    assert_eq!((path.as_path(), created), (Path::new("new/b/file.txt"), true));
    assert_eq!(fs::read(fixture.path("new/b/file.txt")).unwrap(), NEW);
    assert_eq!(fixture.workspace.stamp("new/b/file.txt").unwrap(), stamp_after);
    assert!(!fixture.path("new/a").exists(), "what `..` takes back is not made");

    fs::create_dir(fixture.path("usual")).unwrap();
    fixture.put("usual/file.txt", "");
    let mode = |path: &str| fs::metadata(fixture.path(path)).unwrap().permissions().mode();
    assert_eq!((mode("new"), mode("new/b/file.txt")), (mode("usual"), mode("usual/file.txt")));
    assert_nothing_left_behind(&fixture.base);
}

#[test]
fn a_file_is_replaced_as_a_whole_and_its_new_stamp_allows_the_next_write() {
    let fixture = Fixture::new();
    let mut expected = fixture.as_it_is("sub/deep/file.txt");
    for content in ["longer than before", "", "x"] {
        let written = fixture.workspace.write("sub/deep/file.txt", content.as_bytes(), expected).unwrap();
        assert_eq!((written.path.as_path(), written.created), (Path::new("sub/deep/file.txt"), false));
        assert_eq!(fixture.text_of("sub/deep/file.txt").unwrap(), content);
        expected = Expected::Content { stamp: written.stamp_after };
    }
    assert_eq!(expected, fixture.as_it_is("sub/deep/file.txt"));
}

#[test]
fn a_reader_never_sees_a_part_of_a_file() {
    let fixture = Fixture::in_memory();
    let versions = ["a".repeat(100_000), "b".repeat(200_000)];
    fixture.put("file", &versions[0]);
    let replace = || {
        for version in &versions {
            fixture.workspace.write("file", version.as_bytes(), fixture.as_it_is("file")).unwrap();
        }
    };
    crate::fixture::while_repeating(replace, || {
        for _ in 0..2000 {
            let text = fs::read_to_string(fixture.path("file")).unwrap();
            assert!(versions.contains(&text), "{} bytes", text.len());
        }
    });
}

/// The other name keeps the old version: nothing is written through it.
#[test]
fn s07_another_name_of_a_file_is_left_alone() {
    let fixture = Fixture::new();
    let (other, secret) = (fixture.path("sub/other-name"), fixture.base.join("proj-secret/deep/file.txt"));
    fs::hard_link(&secret, &other).unwrap();
    let inode = fs::metadata(&secret).unwrap().ino();
    fixture.workspace.write("sub/other-name", NEW, fixture.as_it_is("sub/other-name")).unwrap();
    assert_eq!(fs::read(&other).unwrap(), NEW);
    assert_eq!(fs::read_to_string(&secret).unwrap(), SECRET);
    assert_eq!(fs::metadata(&secret).unwrap().ino(), inode);
}

#[test]
fn a_link_that_leads_inside_stays_a_link() {
    let fixture = Fixture::new();
    let written = fixture.workspace.write("in_file", NEW, fixture.as_it_is("in_file")).unwrap();
    assert_eq!(written.path, Path::new("sub/deep/file.txt"));
    assert!(fs::symlink_metadata(fixture.path("in_file")).unwrap().is_symlink());
    assert_eq!(fs::read(fixture.path("sub/deep/file.txt")).unwrap(), NEW);

    fixture.link("in_absolute/not/yet", "dangling");
    let written = fixture.workspace.write("dangling", NEW, Expected::Absent).unwrap();
    assert_eq!(written.path, Path::new("sub/not/yet"));
    assert_eq!(fs::read(fixture.path("sub/not/yet")).unwrap(), NEW);
}

/// A sibling, a leaf link, a link above, and missing directories behind each of them.
#[test]
fn s01_s03_s04_s06_nothing_is_written_or_created_outside() {
    let fixture = Fixture::new();
    fixture.link("../proj-secret/not-yet", "out_dangling");
    fixture.link("../proj-secret/not/yet", "out_dangling_deep");
    let before = tree(&fixture.base);
    let secret = fixture.base.join("proj-secret");
    let stamp = Workspace::open(&secret).unwrap().stamp("deep/file.txt").unwrap();
    for path in [
        "../proj-secret/deep/file.txt",
        secret.join("deep/file.txt").to_str().unwrap(),
        "out_file",
        "out_dangling",
        "out_dangling_deep",
        "out_relative/deep/file.txt",
        "out_absolute/new",
        "out_relative/new/a/b",
        "out_through_in/new/a/b",
        "sub/out_below/new/a/b",
        "sub/../../proj-secret/new/a/b",
        "out_root/new/a/b",
    ] {
        for expected in [Expected::Absent, Expected::Content { stamp }] {
            let error = fixture.workspace.write(path, NEW, expected).unwrap_err();
            assert!(matches!(error, WriteError::Access(AccessError::Outside { .. })), "{path}: {error}");
        }
    }
    assert_eq!(tree(&fixture.base), before);
}

#[test]
fn s13_only_a_regular_file_is_replaced() {
    let fixture = Fixture::new();
    fixture.fifo("pipe");
    let _socket = UnixListener::bind(fixture.path("socket")).unwrap();
    let before = tree(&fixture.base);
    let write = |path: &str, expected| fixture.workspace.write(path, NEW, expected).unwrap_err();
    for (path, expected_kind) in [("pipe", FileKind::Fifo), ("socket", FileKind::Socket)] {
        for expected in [Expected::Absent, fixture.as_it_is(path)] {
            match write(path, expected) {
                WriteError::NotRegular { kind, .. } => assert_eq!(kind, expected_kind),
                other => panic!("{path}: {other:?}"),
            }
        }
    }
    for path in ["sub", ".", "in_relative", "sub/deep/..", fixture.base.join("proj").to_str().unwrap()] {
        for expected in [Expected::Absent, fixture.as_it_is(path)] {
            assert!(matches!(write(path, expected), WriteError::IsDirectory { .. }), "{path}");
        }
    }
    for path in ["circle_a", "", "sub\0", "sub/", "new/", "new/.", &"x/".repeat(3000)] {
        let error = write(path, Expected::Absent);
        assert!(matches!(error, WriteError::Access(AccessError::InvalidPath { .. })), "{path}: {error:?}");
    }
    assert_eq!(tree(&fixture.base), before);
}

/// Root may write every file, as it may everywhere.
#[test]
fn a_file_or_directory_that_this_user_may_not_write_is_left_alone() {
    let fixture = Fixture::new();
    let set_mode =
        |path: &str, mode| fs::set_permissions(fixture.path(path), fs::Permissions::from_mode(mode)).unwrap();
    set_mode("sub/deep/file.txt", 0o444);
    fs::create_dir(fixture.path("closed")).unwrap();
    set_mode("closed", 0o555);
    for (path, expected) in [
        ("sub/deep/file.txt", fixture.as_it_is("sub/deep/file.txt")),
        ("closed/file.txt", Expected::Absent),
        ("closed/new/file.txt", Expected::Absent),
    ] {
        match fixture.workspace.write(path, NEW, expected) {
            Ok(_) => assert!(rustix::process::geteuid().is_root(), "{path}"),
            Err(WriteError::Denied { .. }) => assert!(!rustix::process::geteuid().is_root(), "{path}"),
            Err(other) => panic!("{path}: {other:?}"),
        }
    }
    let expected: &[u8] = if rustix::process::geteuid().is_root() { NEW } else { INSIDE.as_bytes() };
    assert_eq!(fs::read(fixture.path("sub/deep/file.txt")).unwrap(), expected);
    assert_eq!(fs::metadata(fixture.path("sub/deep/file.txt")).unwrap().permissions().mode() & 0o777, 0o444);
    set_mode("closed", 0o755);
}

#[test]
fn directories_created_for_a_failed_write_are_removed() {
    let fixture = Fixture::new();
    let before = tree(&fixture.path("."));
    let too_long = format!("new/a/b/{}", "x".repeat(300));
    let error = fixture.workspace.write(&too_long, NEW, Expected::Absent).unwrap_err();
    assert!(matches!(error, WriteError::Access(AccessError::InvalidPath { .. })), "{error:?}");
    let too_long = format!("sub/new/{}/file", "x".repeat(300));
    let error = fixture.workspace.write(&too_long, NEW, Expected::Absent).unwrap_err();
    assert!(matches!(error, WriteError::Access(AccessError::InvalidPath { .. })), "{error:?}");
    let error = fixture.workspace.write("sub/deep/file.txt/a/b", NEW, Expected::Absent).unwrap_err();
    assert!(matches!(error, WriteError::Access(AccessError::NotADirectory { .. })), "{error:?}");
    let names = |tree: Vec<(PathBuf, String)>| tree.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    assert_eq!(names(tree(&fixture.path("."))), names(before));
    assert_eq!(fixture.text_of("sub/deep/file.txt").unwrap(), INSIDE);
}

#[test]
fn s14_a_file_can_lie_as_deep_as_a_path_is_long() {
    let fixture = Fixture::in_memory();
    let path = format!("{}file", "d/".repeat(1500));
    fixture.workspace.write(&path, NEW, Expected::Absent).unwrap();
    assert_eq!(fixture.workspace.read_whole(&path, 100).unwrap().0, NEW);
}
