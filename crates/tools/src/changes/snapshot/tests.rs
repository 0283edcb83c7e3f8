use std::fs;

use tempfile::TempDir;

use super::*;

fn project(files: &[&str]) -> (TempDir, Workspace) {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let workspace = Workspace::open(root.path()).unwrap();
    (root, workspace)
}

fn take(max_entries: usize, workspace: &Workspace) -> TreeSnapshot {
    let stop = Stop::after(Duration::from_mins(1));
    TreeSnapshot::take_within(max_entries, workspace, &[PathBuf::new()], &stop)
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn created_altered_and_removed_files_are_distinguished() {
    let (root, workspace) = project(&["a/altered", "a/gone", "a/same", "b/gone/deep", ".gitignore"]);
    fs::write(root.path().join(".gitignore"), "hidden\n").unwrap();
    let before = take(100, &workspace);
    fs::write(root.path().join("a/altered"), "now").unwrap();
    fs::remove_file(root.path().join("a/gone")).unwrap();
    fs::remove_dir_all(root.path().join("b")).unwrap();
    fs::create_dir_all(root.path().join("c/deep")).unwrap();
    fs::write(root.path().join("c/deep/made"), "").unwrap();
    fs::write(root.path().join("a/hidden"), "").unwrap();
    let difference = before.compare(&take(100, &workspace)).unwrap();
    assert_eq!(difference.changed, paths(&["a/altered", "a/gone", "b/gone/deep", "c/deep/made"]));
    assert_eq!(difference.altered, paths(&["a/altered"]));
    assert_eq!(difference.appeared, paths(&["a/hidden", "c/deep/made"]));
}

#[test]
fn changes_beyond_the_bound_are_not_listed_and_a_note_says_so() {
    let (root, workspace) = project(&["a/1", "a/2", "b/1", "b/2"]);
    for (first, second) in [(3, 100), (100, 3)] {
        let before = take(first, &workspace);
        fs::write(root.path().join("a/1"), "changed").unwrap();
        let lack = before.compare(&take(second, &workspace)).unwrap_err();
        assert_eq!(lack, "there are more than 3 files");
    }
}

#[test]
fn a_snapshot_that_runs_out_of_time_says_so() {
    let (_root, workspace) = project(&["a"]);
    let before = TreeSnapshot::take_within(100, &workspace, &[PathBuf::new()], &Stop::after(Duration::ZERO));
    let lack = before.compare(&take(100, &workspace)).unwrap_err();
    assert_eq!(lack, "the check took more than 2 s");
}

#[test]
fn an_unreadable_base_directory_is_reported() {
    let (_root, workspace) = project(&["a"]);
    let stop = Stop::after(Duration::from_mins(1));
    let before = TreeSnapshot::take_within(100, &workspace, &["absent".into()], &stop);
    assert!(before.compare(&take(100, &workspace)).unwrap_err().starts_with("`absent`"));
}

#[test]
fn a_file_that_becomes_ignored_or_visible_has_not_changed() {
    let (root, workspace) = project(&["a.log", "b.txt"]);
    fs::write(root.path().join(".gitignore"), "*.log").unwrap();
    let before = take(100, &workspace);
    fs::write(root.path().join(".gitignore"), "*.txt").unwrap();
    let difference = before.compare(&take(100, &workspace)).unwrap();
    assert_eq!(difference.changed, [PathBuf::from(".gitignore")]);
}

#[test]
fn repositories_are_found_but_not_in_ignored_directories_or_each_other() {
    let (root, workspace) = project(&[
        ".git/HEAD",
        "lib/.git/HEAD",
        "hiding/.git/HEAD",
        "tree/.git",
        ".bare/HEAD",
        ".bare/objects/x",
        ".bare/refs/x",
        "node_modules/dep/.git/HEAD",
        "no/HEAD",
    ]);
    fs::write(root.path().join(".gitignore"), "node_modules\n").unwrap();
    fs::write(root.path().join("hiding/.gitignore"), "*\n").unwrap();
    let mut found = take(100, &workspace);
    found.work_trees.sort();
    assert_eq!(found.work_trees, paths(&["", "hiding", "lib", "tree"]));
    assert_eq!(found.bare, paths(&[".bare"]));
    assert!(!found.directories.contains_key(Path::new(".bare")) && !found.directories.contains_key(Path::new(".git")));
}
