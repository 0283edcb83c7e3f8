//! Permissions do not bind root, so this check runs in a process of another user when the tests run as root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use crate::project::Project;

const NOBODY: u32 = 65_534;
/// Held while a program is written: a process started meanwhile would keep it open, and so unable to run.
pub(crate) static ALONE: Mutex<()> = Mutex::new(());
const PASSED: &str = "checked as another user";

#[test]
fn an_unreadable_ignore_file_is_counted_wherever_it_is() {
    if rustix::process::geteuid().is_root() {
        let test = "another_user::an_unreadable_ignore_file_is_counted_wherever_it_is";
        let output = run_as_nobody(&["--exact", test, "--nocapture"]);
        assert!(output.contains(PASSED), "{output}");
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

/// Root can build walls that others cannot. For an ordinary user this runs the tests twice.
#[test]
fn commands_run_for_a_user_without_privileges() {
    let list = run_as_nobody(&["bash::", "--list", "--format", "terse"]);
    let n_tests = list.lines().filter(|line| line.ends_with(": test")).count();
    assert!(n_tests > 40, "{list}");
    let output = run_as_nobody(&["bash::"]);
    assert!(output.contains(&format!("test result: ok. {n_tests} passed; 0 failed; 0 ignored")), "{output}");
}

/// Runs tests of this program again as nobody; they must pass. Copies the program first, since nobody cannot access the
/// build directory.
fn run_as_nobody(arguments: &[&str]) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let program = temporary.path().join("tests");
    {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    }
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(temporary.path());
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    stdout
}
