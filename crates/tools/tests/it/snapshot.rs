//! A snapshot changes with anything a reading tool could find, and reports which calls found nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use sortie_protocol::ToolCall;
use sortie_sandbox::Workspace;
use sortie_tools::{Snapshot, SnapshotBounds, SnapshotError};
use tempfile::TempDir;

/// Enough for the slowest machine.
const BOUNDS: SnapshotBounds = SnapshotBounds { files: 100, bytes: 10_000, time: Duration::from_hours(1) };

fn project() -> (TempDir, Workspace) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".gitignore", "target/\n*.tmp\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("a.txt", "one"),
        ("b.txt", "two"),
        ("src/main.rs", "fn main() {}\n"),
        ("target/out.txt", "built"),
        ("scratch.tmp", "x"),
    ] {
        write(root.path(), path, text);
    }
    symlink("a.txt", root.path().join("link")).unwrap();
    symlink("scratch.tmp", root.path().join("hidden-link")).unwrap();
    let workspace = Workspace::open(root.path()).unwrap();
    (root, workspace)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn take(workspace: &Workspace) -> Snapshot {
    Snapshot::take(workspace, BOUNDS).unwrap()
}

#[test]
fn an_unchanged_workspace_has_the_same_digest_and_was_not_touched() {
    let (_root, workspace) = project();
    let (first, second) = (take(&workspace), take(&workspace));
    assert_eq!(first.digest(), second.digest());
    assert!(second.is_untouched_since(&first));
}

#[test]
fn everything_that_a_reading_tool_could_find_changes_the_digest() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 9] = [
        ("another content of the same length", |root| write(root, "a.txt", "eno")),
        ("a longer content", |root| write(root, "src/main.rs", "fn main() { }\n")),
        ("a new file", |root| write(root, "c.txt", "")),
        ("a file that is gone", |root| fs::remove_file(root.join("b.txt")).unwrap()),
        ("another name", |root| fs::rename(root.join("b.txt"), root.join("c.txt")).unwrap()),
        ("an empty directory", |root| fs::create_dir(root.join("empty")).unwrap()),
        ("a link that leads elsewhere", |root| {
            fs::remove_file(root.join("link")).unwrap();
            symlink("b.txt", root.join("link")).unwrap();
        }),
        ("a file that is no longer ignored", |root| write(root, ".gitignore", "target/\n")),
        ("a link in the place of a file", |root| {
            fs::remove_file(root.join("b.txt")).unwrap();
            symlink("a.txt", root.join("b.txt")).unwrap();
        }),
    ];
    for (what, change) in changes {
        let (root, workspace) = project();
        let before = take(&workspace);
        change(root.path());
        assert_ne!(take(&workspace).digest(), before.digest(), "{what}");
    }
}

#[test]
fn ignored_files_and_gits_own_do_not_count() {
    let (root, workspace) = project();
    let before = take(&workspace);
    write(root.path(), "target/out.txt", "built anew");
    write(root.path(), "scratch.tmp", "y");
    write(root.path(), ".git/HEAD", "ref: refs/heads/other\n");
    assert_eq!(take(&workspace).digest(), before.digest());
}

#[test]
fn a_file_rewritten_with_the_same_content_was_touched() {
    let (root, workspace) = project();
    let before = take(&workspace);
    write(root.path(), "new", "one");
    fs::rename(root.path().join("new"), root.path().join("a.txt")).unwrap();
    let after = take(&workspace);
    assert_eq!(after.digest(), before.digest());
    assert!(!after.is_untouched_since(&before), "another inode has the name");
}

#[test]
fn added_directories_are_part_of_the_snapshot() {
    let (_root, workspace) = project();
    let added = tempfile::tempdir().unwrap();
    write(added.path(), "notes.md", "one");
    let alone = take(&workspace);
    let workspace = workspace.with_directories(&[added.path().to_owned()]).unwrap();
    let before = take(&workspace);
    assert_ne!(before.digest(), alone.digest());
    let notes = added.path().canonicalize().unwrap().join("notes.md");
    assert!(before.covers(&workspace, &call("Read", &format!(r#"{{"file_path":"{}"}}"#, notes.display()))));
    write(added.path(), "notes.md", "two");
    assert_ne!(take(&workspace).digest(), before.digest());
}

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "1".into(), tool: tool.to_owned(), arguments: arguments.to_owned() }
}

#[test]
fn calls_that_looked_elsewhere_or_did_more_than_read_are_not_covered() {
    let (root, workspace) = project();
    let absolute = format!(r#"{{"file_path":"{}"}}"#, root.path().join("src/main.rs").display());
    let snapshot = take(&workspace);
    for (tool, arguments, is_covered) in [
        ("Read", r#"{"file_path":"a.txt"}"#, true),
        ("Read", r#"{"path":"./src/../a.txt"}"#, true),
        ("Read", absolute.as_str(), true),
        ("Read", r#"{"file_path":"link"}"#, true),
        ("Read", r#"{"file_path":"hidden-link"}"#, false),
        ("Read", r#"{"file_path":"target/out.txt"}"#, false),
        ("Read", r#"{"file_path":".git/HEAD"}"#, false),
        ("Read", r#"{"file_path":"absent.txt"}"#, false),
        ("Read", r#"{"file_path":"/etc/passwd"}"#, false),
        ("Read", "{}", false),
        ("Read", "no json", false),
        ("LS", "{}", true),
        ("LS", r#"{"path":"src"}"#, true),
        ("LS", r#"{"path":"target"}"#, false),
        ("LS", r#"{"path":".git"}"#, false),
        ("Grep", r#"{"pattern":"x"}"#, true),
        ("Grep", r#"{"pattern":"x","path":"b.txt"}"#, true),
        ("Grep", r#"{"pattern":"x","path":"scratch.tmp"}"#, false),
        ("Glob", r#"{"pattern":"**/*.rs"}"#, true),
        ("Glob", r#"{"pattern":"src/*.rs"}"#, true),
        ("Glob", r#"{"pattern":"target/*.txt"}"#, false),
        ("Glob", r#"{"pattern":"*.txt","path":"target"}"#, false),
        ("TodoWrite", r#"{"todos":[]}"#, true),
        ("Write", r#"{"file_path":"a.txt","content":""}"#, false),
        ("Bash", r#"{"command":"true"}"#, false),
        ("WebFetch", r#"{"url":"https://example.com"}"#, false),
        ("mcp__server__read", "{}", false),
    ] {
        assert_eq!(snapshot.covers(&workspace, &call(tool, arguments)), is_covered, "{tool} {arguments}");
    }
}

#[test]
fn a_workspace_beyond_the_bounds_has_no_snapshot() {
    let (_root, workspace) = project();
    let with = |bounds: SnapshotBounds| Snapshot::take(&workspace, bounds).map(drop);
    assert!(with(SnapshotBounds { files: 4, ..BOUNDS }).is_ok());
    let error = with(SnapshotBounds { files: 3, ..BOUNDS }).unwrap_err();
    assert!(matches!(error, SnapshotError::TooMany { max: 3 }), "{error}");
    let error = with(SnapshotBounds { bytes: 20, ..BOUNDS }).unwrap_err();
    assert!(matches!(error, SnapshotError::TooLarge { max: 20 }), "{error}");
    let error = with(SnapshotBounds { time: Duration::ZERO, ..BOUNDS }).unwrap_err();
    assert!(matches!(error, SnapshotError::TooLate { .. }), "{error}");
}
