//! Permissions mean nothing to root, so these checks run in a process of another user when the tests run as root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use sortie_sandbox::{AccessError, SpillDir, SpillError, Workspace, WorkspaceError};

const NOBODY: u32 = 65_534;
/// Where the checks find their files, in the process of the other user.
const FILES: &str = "SANDBOX_TEST_FILES";
const PASSED: &str = "checked as another user";

#[test]
fn what_the_file_system_denies_is_a_typed_error() {
    if let Some(files) = std::env::var_os(FILES) {
        check(Path::new(&files));
        println!("{PASSED}");
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let files = temporary.path().join("files");
    for directory in ["open/closed", "foreign"] {
        fs::create_dir_all(files.join(directory)).unwrap();
    }
    fs::write(files.join("open/closed/inner"), "x").unwrap();
    fs::write(files.join("open/secret"), "x").unwrap();
    let set_mode = |path: &str, mode| fs::set_permissions(files.join(path), fs::Permissions::from_mode(mode)).unwrap();
    set_mode("open/secret", 0o000);
    set_mode("open/closed", 0o000);
    set_mode("open", 0o755);
    set_mode("foreign", 0o700);
    set_mode("", 0o755);
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755)).unwrap();
    if rustix::process::geteuid().is_root() {
        run_as_nobody(temporary.path(), &files);
    } else {
        // Nothing is foreign to an ordinary user who made all of it.
        fs::remove_dir(files.join("foreign")).unwrap();
        check(&files);
    }
    set_mode("open/closed", 0o755);
}

fn check(files: &Path) {
    let workspace = Workspace::open(&files.join("open")).unwrap();
    for path in ["secret", "closed/inner", "closed/absent"] {
        assert!(matches!(workspace.open_file(path), Err(AccessError::Denied { .. })), "{path}");
    }
    assert!(matches!(workspace.read_dir("closed".as_ref()), Err(AccessError::Denied { .. })));
    assert!(matches!(Workspace::open(&files.join("open/closed/x")), Err(WorkspaceError::Denied { .. })));
    if files.join("foreign").exists() {
        assert!(matches!(
            SpillDir::open(&files.join("foreign")),
            Err(SpillError::Open { .. } | SpillError::Foreign { .. })
        ));
    }
}

/// Runs this very test again as nobody. The program is copied first: nobody cannot reach where it was built.
fn run_as_nobody(directory: &Path, files: &Path) {
    let program = directory.join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new(&program)
        .args(["--exact", "another_user::what_the_file_system_denies_is_a_typed_error", "--nocapture"])
        .env(FILES, files)
        .current_dir(directory)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains(PASSED), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
}
