//! Permissions mean nothing to root, so this check runs in a process of another user when the tests run as root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::json;

use crate::project::Project;

const NOBODY: u32 = 65_534;
const PASSED: &str = "checked as another user";

#[test]
fn an_ignore_file_that_may_not_be_read_is_counted_wherever_it_lies() {
    if rustix::process::geteuid().is_root() {
        run_as_nobody("another_user::an_ignore_file_that_may_not_be_read_is_counted_wherever_it_lies");
        return;
    }
    let project =
        Project::new(&[(".gitignore", "*.txt\n"), ("sub/.ignore", "*.txt\n"), ("sub/deep/a.txt", "needle\n")]);
    for file in [".gitignore", "sub/.ignore"] {
        fs::set_permissions(project.path(file), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for path in [".", "sub/deep"] {
        let text = runtime.block_on(project.done("Glob", json!({"pattern": "*.txt", "path": path})));
        let expected = "sub/deep/a.txt\n[2 ignore files not used (unreadable or too large)]";
        assert_eq!(text, expected, "{path}");
    }
    println!("{PASSED}");
}

/// Runs a test of this program again as nobody. The program is copied first: nobody cannot reach where it was built.
fn run_as_nobody(test: &str) {
    let temporary = tempfile::tempdir().unwrap();
    let program = temporary.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(&program)
        .args(["--exact", test, "--nocapture"])
        .current_dir(temporary.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains(PASSED), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
}
