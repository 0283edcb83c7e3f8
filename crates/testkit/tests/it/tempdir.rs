//! Temporary workspaces.

use std::fs;

use sortie_testkit::workspace;

#[test]
fn a_workspace_holds_its_files_and_goes_away_with_its_value() {
    let directory = workspace([("src/deep/a.rs", "fn a() {}"), ("empty/", "")]).unwrap();
    let root = directory.path().to_owned();
    assert_eq!(fs::read_to_string(root.join("src/deep/a.rs")).unwrap(), "fn a() {}");
    assert!(root.join("empty").is_dir());
    drop(directory);
    assert!(!root.exists());
}

#[test]
fn a_file_outside_the_workspace_is_refused() {
    for path in ["../escaped", "/escaped", "a/../../escaped"] {
        assert!(workspace([(path, "")]).is_err(), "{path}");
    }
}
