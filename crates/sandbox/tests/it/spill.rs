//! Spilled texts are complete, private, and never written through a prepared name.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sortie_sandbox::{SpillDir, SpillError};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_text_is_spilled_completely_to_a_private_file_in_a_private_directory() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("state/spill");
    let text = "line\n".repeat(100_000);
    let path = SpillDir::open(&directory).unwrap().spill("agent-abc", &text).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!((mode(&directory), mode(&path)), (0o700, 0o600));
    assert!(path.is_absolute() && path.starts_with(directory.canonicalize().unwrap()));
}

#[test]
fn names_are_unguessable_and_use_only_harmless_characters() {
    let temporary = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&temporary.path().join("spill")).unwrap();
    let hints = ["", "../../etc/passwd", "a/b\0c\n", &"x".repeat(500), "agent-abc"];
    let names: BTreeSet<String> = (0..100)
        .map(|n| spill.spill(hints[n % hints.len()], "x").unwrap())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 100);
    for name in &names {
        assert!(name.len() < 80 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{name}");
    }
    assert_eq!(fs::read_dir(temporary.path().join("spill")).unwrap().count(), 100);
}

#[test]
fn a_directory_that_others_can_enter_or_that_is_a_link_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let open = temporary.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let error = SpillDir::open(&open).unwrap_err();
    assert!(matches!(error, SpillError::Exposed { mode: 0o755, .. }), "{error:?}");
    assert_eq!(mode(&open), 0o755, "a directory is not changed behind its owner's back");

    let private = temporary.path().join("private");
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&private, temporary.path().join("link")).unwrap();
    assert!(matches!(SpillDir::open(&temporary.path().join("link")), Err(SpillError::Open { .. })));
    fs::write(temporary.path().join("file"), "").unwrap();
    assert!(matches!(SpillDir::open(&temporary.path().join("file")), Err(SpillError::Open { .. })));
}

#[test]
fn a_file_is_rewritten_under_its_name_or_left_as_it_is() {
    let temporary = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&temporary.path().join("spill")).unwrap();
    let path = spill.spill("output", "a secret").unwrap();
    spill.rewrite(&path, |bytes| (bytes == b"something else").then(String::new)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a secret");
    spill.rewrite(&path, |bytes| Some(String::from_utf8_lossy(bytes).replace("secret", "mark"))).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap(), mode(&path)), ("a mark".to_owned(), 0o600));
    assert_eq!(fs::read_dir(temporary.path().join("spill")).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_rewritten_is_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&temporary.path().join("spill")).unwrap();
    let path = spill.spill("output", "a secret").unwrap();
    fs::remove_file(&path).unwrap();
    symlink("/etc/hostname", &path).unwrap();
    let error = spill.rewrite(&path, |_| None).unwrap_err();
    assert!(matches!(error, SpillError::Write { .. }), "{error:?}");
    assert!(fs::symlink_metadata(&path).is_err());
}

#[test]
fn files_carry_their_owners_name_and_foreign_ones_are_ignored() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("spill");
    let spill = SpillDir::open(&directory).unwrap();
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let owned = name(spill.of("agent-abc").spill("Bash", "x").unwrap());
    let without_hint = name(spill.of("agent-abc").spill("", "x").unwrap());
    let of_nobody = name(spill.spill("output", "x").unwrap());
    assert!(owned.starts_with("agent-abc-Bash-"), "{owned}");
    assert_eq!(without_hint.len(), "agent-abc-.txt".len() + 16, "{without_hint}");

    fs::write(directory.join("agent-abc-notes.txt"), "a person's").unwrap();
    fs::create_dir(directory.join("agent-abc-0123456789abcdef.txt")).unwrap();
    symlink("/etc/passwd", directory.join("agent-abc-fedcba9876543210.txt")).unwrap();
    let names: BTreeSet<String> = spill.names().unwrap().into_iter().collect();
    assert_eq!(names, BTreeSet::from([owned.clone(), without_hint, of_nobody]));

    spill.discard(&owned).unwrap();
    spill.discard(&owned).expect("one that is gone is fine");
    assert_eq!(spill.names().unwrap().len(), 2);
    let outside = temporary.path().join("outside-0123456789abcdef.txt");
    fs::write(&outside, "x").unwrap();
    for foreign in ["../outside-0123456789abcdef.txt", "agent-abc-notes.txt", ""] {
        assert!(matches!(spill.discard(foreign), Err(SpillError::Discard { .. })), "{foreign}");
    }
    assert!(outside.exists() && directory.join("agent-abc-notes.txt").exists());
}
