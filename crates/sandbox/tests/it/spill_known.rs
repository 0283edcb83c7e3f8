//! Files of the spill directory with known names: limited, private, and never another user's.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use sortie_sandbox::{SpillDir, SpillError};
use tempfile::TempDir;

const MIB: usize = 1 << 20;
const FULL: &str = "\n[… this file is full; all but the end is left out from here on]\n";
const CUT: &str = "\n[… the rest is left out]\n";

fn fresh() -> (TempDir, SpillDir) {
    let temporary = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&temporary.path().join("spill")).unwrap();
    (temporary, spill)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_growing_file_is_private_and_continues_where_it_ended() {
    let (temporary, spill) = fresh();
    let file = spill.growing("agent-abc-output").unwrap();
    assert_eq!(file.path(), temporary.path().canonicalize().unwrap().join("spill/agent-abc-output.log"));
    file.append("one\n").unwrap();
    assert_eq!((fs::read_to_string(file.path()).unwrap().as_str(), mode(file.path())), ("one\n", 0o600));
    let again = spill.growing("agent-abc-output").unwrap();
    again.append("two\n").unwrap();
    again.append_last("the end\n").unwrap();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "one\ntwo\nthe end\n");
}

#[test]
fn text_that_no_longer_fits_is_left_out_but_not_the_end() {
    let (_temporary, spill) = fresh();
    let file = spill.growing("output").unwrap();
    file.append(&"x".repeat(MIB - 3)).unwrap();
    file.append("aäää").unwrap();
    file.append("gone").unwrap();
    spill.growing("output").unwrap().append("gone, too").unwrap();
    file.append_last("the end\n").unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert_eq!(&text[MIB - 3..], format!("aä{FULL}the end\n"));
}

#[test]
fn an_exactly_full_file_notes_what_is_left_out() {
    let (_temporary, spill) = fresh();
    let file = spill.growing("output").unwrap();
    file.append(&"x".repeat(MIB)).unwrap();
    assert_eq!(fs::metadata(file.path()).unwrap().len(), MIB as u64);
    file.append("y").unwrap();
    assert_eq!(fs::read_to_string(file.path()).unwrap()[MIB..], *FULL);
}

#[test]
fn an_end_that_fills_the_file_is_noted_and_a_later_end_gets_the_rest() {
    let (_temporary, spill) = fresh();
    let file = spill.growing("output").unwrap();
    file.append(&"x".repeat(MIB - 1)).unwrap();
    file.append_last("the first end").unwrap();
    file.append("more work").unwrap();
    file.append_last("the second end").unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert_eq!(&text[MIB - 1..], format!("the first end{FULL}the second end"));

    file.append_last(&"y".repeat(MIB)).unwrap();
    file.append_last("no room at all").unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(text.ends_with(&format!("yyy{CUT}")), "{}", &text[text.len() - 100..]);
    assert_eq!(text.len(), MIB + (64 << 10) + CUT.len());
}

#[test]
fn a_name_taken_by_anything_but_our_own_private_file_is_refused() {
    let (temporary, spill) = fresh();
    let directory = temporary.path().join("spill");
    let outside = temporary.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&outside, directory.join("link.log")).unwrap();
    symlink(temporary.path().join("nothing"), directory.join("dangling.log")).unwrap();
    fs::hard_link(&outside, directory.join("second-name.log")).unwrap();
    fs::create_dir(directory.join("directory.log")).unwrap();
    fs::write(directory.join("open.log"), "").unwrap();
    fs::set_permissions(directory.join("open.log"), fs::Permissions::from_mode(0o644)).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        directory.join("pipe.log"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let mut names =
        vec!["link", "dangling", "second-name", "directory", "open", "pipe", "", "../outside", "a/b", "dot.dot"];
    // Only root can create a file of another user.
    if rustix::process::geteuid().is_root() {
        let foreign = directory.join("foreign.log");
        fs::write(&foreign, "").unwrap();
        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&foreign, Some(65_534), None).unwrap();
        names.push("foreign");
    }
    for name in names {
        let refused = spill.growing(name);
        assert!(matches!(refused, Err(SpillError::Unusable { .. } | SpillError::Reach { .. })), "{name}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    assert!(!temporary.path().join("nothing").exists());
}

#[test]
fn a_small_text_is_kept_under_its_name_one_version_at_a_time() {
    let (temporary, spill) = fresh();
    assert_eq!(spill.recall("index", 100).unwrap(), None);
    spill.keep("index", "one").unwrap();
    spill.keep("index", "two").unwrap();
    assert_eq!(spill.recall("index", 3).unwrap(), Some(b"two".to_vec()));
    assert_eq!(mode(&temporary.path().join("spill/index")), 0o600);
    assert_eq!(fs::read_dir(temporary.path().join("spill")).unwrap().count(), 1);
    assert!(matches!(spill.recall("index", 2), Err(SpillError::Unusable { .. })));
}

#[test]
fn a_kept_text_is_not_read_through_a_link_and_replaces_the_link() {
    let (temporary, spill) = fresh();
    let outside = temporary.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    symlink(&outside, temporary.path().join("spill/index")).unwrap();
    assert!(matches!(spill.recall("index", 100), Err(SpillError::Unusable { .. })));
    spill.keep("index", "new").unwrap();
    assert_eq!(spill.recall("index", 100).unwrap(), Some(b"new".to_vec()));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    for name in ["", "../outside", "a/b"] {
        assert!(spill.keep(name, "x").is_err() && spill.recall(name, 100).is_err(), "{name}");
    }
}

#[test]
fn a_spilled_text_is_read_back_by_its_name() {
    let (_temporary, spill) = fresh();
    let path = spill.of("agent-abc").spill("report", "all of it").unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(spill.recall(name, 9).unwrap().as_deref(), Some(b"all of it".as_slice()));
    assert!(matches!(spill.recall(name, 8), Err(SpillError::Unusable { .. })), "too long");
    for name in ["../spill/x.md", ".md", "x.md", "a/b"] {
        assert!(matches!(spill.recall(name, 9), Err(SpillError::Unusable { .. })), "{name}");
    }
}

#[test]
fn a_growing_file_is_listed_and_discarded_with_the_others() {
    let (_temporary, spill) = fresh();
    let file = spill.growing("agent-abc-output").unwrap();
    assert_eq!(spill.names().unwrap(), ["agent-abc-output.log"]);
    spill.discard("agent-abc-output.log").unwrap();
    assert!(!file.path().exists());
    for name in ["../agent-abc-output.log", ".log", "a.b.log"] {
        assert!(spill.discard(name).is_err(), "{name}");
    }
}
