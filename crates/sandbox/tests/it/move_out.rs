//! Files that must not stay are moved out of the workspace, and nothing else is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sortie_sandbox::{FileKind, SpillDir, WriteError};
use tempfile::TempDir;

use crate::fixture::{Fixture, INSIDE, SECRET, tree};

/// A spill directory on the file system of the workspace, and one on another.
fn spills(fixture: &Fixture) -> [(SpillDir, Option<TempDir>); 2] {
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    [
        (SpillDir::open(&fixture.base.join("spill")).unwrap(), None),
        (SpillDir::open(&elsewhere.path().join("spill")).unwrap(), Some(elsewhere)),
    ]
}

#[test]
fn a_file_is_moved_with_its_content_its_name_and_its_mode() {
    let fixture = Fixture::new();
    for (spill, _elsewhere) in spills(&fixture) {
        fixture.put("sub/made", "made");
        fs::set_permissions(fixture.path("sub/made"), fs::Permissions::from_mode(0o754)).unwrap();
        let place = fixture.workspace.take_away(Path::new("sub/made"), &spill).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "made");
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o7777, 0o754);
        assert!(place.file_name().unwrap().to_str().unwrap().starts_with("taken-made-"), "{}", place.display());
        assert!(!fixture.path("sub/made").exists());
    }
    assert_eq!(fixture.text_of("sub/deep/file.txt").unwrap(), INSIDE);
}

#[test]
fn a_link_is_moved_itself() {
    let fixture = Fixture::new();
    let before = tree(&fixture.base.join("proj-secret"));
    for (spill, elsewhere) in spills(&fixture) {
        fixture.link("../proj-secret/deep/file.txt", "made");
        let place = fixture.workspace.take_away(Path::new("made"), &spill).unwrap();
        assert!(fs::symlink_metadata(fixture.path("made")).is_err());
        if elsewhere.is_some() {
            assert_eq!(fs::read_to_string(place).unwrap(), "../proj-secret/deep/file.txt", "where it led is kept");
        } else {
            assert_eq!(fs::read_link(place).unwrap(), Path::new("../proj-secret/deep/file.txt"));
        }
    }
    assert_eq!(tree(&fixture.base.join("proj-secret")), before);
}

#[test]
fn a_special_file_is_moved_without_being_opened() {
    let fixture = Fixture::new();
    for (spill, _elsewhere) in spills(&fixture) {
        fixture.fifo("made");
        fixture.workspace.take_away(Path::new("made"), &spill).unwrap();
        assert!(!fixture.path("made").exists());
    }
}

#[test]
fn a_failed_move_is_an_error_and_leaves_nothing() {
    let fixture = Fixture::new();
    for (spill, elsewhere) in spills(&fixture) {
        let take = |path: &str| fixture.workspace.take_away(Path::new(path), &spill);
        assert!(matches!(take("sub"), Err(WriteError::IsDirectory { .. })));
        assert!(matches!(take(""), Err(WriteError::IsDirectory { .. })));
        for path in
            ["absent", "out_relative/deep/file.txt", "in_relative/deep/file.txt", "../proj-secret/deep/file.txt"]
        {
            assert!(take(path).is_err(), "{path}");
        }
        let base = elsewhere.as_ref().map_or(fixture.base.as_path(), TempDir::path);
        assert_eq!(fs::read_dir(base.join("spill")).unwrap().count(), 0);
    }
    assert_eq!(fixture.text_of("sub/deep/file.txt").unwrap(), INSIDE);
    assert_eq!(fs::read_to_string(fixture.base.join("proj-secret/deep/file.txt")).unwrap(), SECRET);
}

#[test]
fn a_listing_stamps_its_entries_without_following_links() {
    let fixture = Fixture::new();
    let entries = fixture.workspace.read_dir(&PathBuf::new()).unwrap();
    assert_eq!(entries.stamp("out_file".as_ref()).unwrap().kind, FileKind::Symlink);
    assert_eq!(entries.stamp("absent".as_ref()), None);
    fixture.put("made", "one");
    let before = entries.stamp("made".as_ref()).unwrap();
    assert_eq!((before.kind, before.size), (FileKind::File, 3));
    assert_eq!(Some(before), fixture.workspace.stamp("made").ok());
    fixture.put("made", "three");
    assert_ne!(entries.stamp("made".as_ref()), Some(before));
}
