//! Permission checks as another user: root ignores permissions. If the tests run as root, a process of another user
//! tries what they deny, and everything else a second time.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use sortie_sandbox::{AccessError, Expected, SpillDir, SpillError, Workspace, WorkspaceError, WriteError};
use tempfile::TempDir;

const NOBODY: u32 = 65_534;
/// Directory of the checks' files, in the process of the other user.
const FILES: &str = "SANDBOX_TEST_FILES";
/// No process may be started while another thread writes a program: it would hold that program open, and so unable to
/// run.
pub(crate) static ALONE: Mutex<()> = Mutex::new(());
const PASSED: &str = "checked as another user";

/// All tests but those of this module. An ordinary user runs them twice as the same user.
#[test]
fn everything_holds_for_a_user_without_privileges() {
    let suite = Rerun::new();
    let list = suite.run(&["--skip", "another_user::", "--list", "--format", "terse"]);
    let n_tests = list.lines().filter(|line| line.ends_with(": test")).count();
    let output = suite.run(&["--skip", "another_user::"]);
    assert!(n_tests > 50, "{list}");
    assert!(output.contains(&format!("test result: ok. {n_tests} passed; 0 failed; 0 ignored")), "{output}");
}

#[test]
fn a_denial_by_the_file_system_is_a_typed_error() {
    if let Some(files) = std::env::var_os(FILES) {
        check(Path::new(&files));
        println!("{PASSED}");
        return;
    }
    let rerun = Rerun::new();
    let files = rerun.directory.path().join("files");
    for directory in ["open/closed", "foreign"] {
        fs::create_dir_all(files.join(directory)).unwrap();
    }
    for file in ["open/closed/inner", "open/secret", "open/of_another"] {
        fs::write(files.join(file), "x").unwrap();
    }
    let set_mode = |path: &str, mode| fs::set_permissions(files.join(path), fs::Permissions::from_mode(mode)).unwrap();
    set_mode("open/secret", 0o000);
    set_mode("open/of_another", 0o666);
    set_mode("open/closed", 0o000);
    set_mode("open", 0o755);
    set_mode("foreign", 0o700);
    if rerun.user.is_some() {
        chown(files.join("open"), Some(NOBODY), Some(NOBODY)).unwrap();
        let test = "another_user::a_denial_by_the_file_system_is_a_typed_error";
        let output = rerun.run(&["--exact", test, "--nocapture"]);
        assert!(output.contains(PASSED), "{output}");
    } else {
        // An ordinary user owns everything here, so nothing is foreign.
        fs::remove_dir(files.join("foreign")).unwrap();
        fs::remove_file(files.join("open/of_another")).unwrap();
        check(&files);
    }
    set_mode("open/closed", 0o755);
}

fn check(files: &Path) {
    let workspace = Workspace::open(&files.join("open")).unwrap();
    for path in ["secret", "closed/inner", "closed/absent"] {
        assert!(matches!(workspace.open_file(path), Err(AccessError::Denied { .. })), "{path}");
        assert!(matches!(workspace.read_whole(path, 100), Err(AccessError::Denied { .. })), "{path}");
    }
    assert!(matches!(workspace.read_dir("closed".as_ref()), Err(AccessError::Denied { .. })));
    assert!(matches!(Workspace::open(&files.join("open/closed/x")), Err(WorkspaceError::Denied { .. })));
    let stamp = workspace.stamp("secret").unwrap();
    assert!(matches!(workspace.write("secret", b"new", Expected::Content { stamp }), Err(WriteError::Denied { .. })));
    for path in ["closed/inner", "closed/new", "closed/new/a"] {
        assert!(matches!(workspace.write(path, b"new", Expected::Absent), Err(WriteError::Denied { .. })), "{path}");
    }
    if files.join("foreign").exists() {
        assert!(matches!(
            SpillDir::open(&files.join("foreign")),
            Err(SpillError::Open { .. } | SpillError::Foreign { .. })
        ));
        // Everyone may write it, but a new version would belong to this user.
        let (bytes, stamp) = workspace.read_whole("of_another", 100).unwrap();
        let error = workspace.write("of_another", b"new", Expected::Content { stamp }).unwrap_err();
        assert!(matches!(error, WriteError::Unkept { .. }), "{error:?}");
        assert!(error.to_string().contains("its owner (user 0, group 0)"), "{error}");
        assert_eq!(workspace.read_whole("of_another", 100).unwrap(), (bytes, stamp));
        assert_eq!(workspace.read_dir("".as_ref()).unwrap().count(), 3, "nothing is left behind");
    }
}

/// This program, to be run again without privileges. It is copied first: other users cannot reach the build directory.
struct Rerun {
    directory: TempDir,
    /// User to run as; `None` if there is nobody less privileged to become.
    user: Option<u32>,
}

impl Rerun {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        fs::copy(std::env::current_exe().unwrap(), directory.path().join("tests")).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let temporary = directory.path().join("temporary");
        fs::create_dir(&temporary).unwrap();
        let user = rustix::process::geteuid().is_root().then_some(NOBODY);
        chown(&temporary, user, user).unwrap();
        Self { directory, user }
    }

    /// Returns its output. It must succeed.
    fn run(&self, arguments: &[&str]) -> String {
        let directory = self.directory.path();
        let mut command = Command::new(directory.join("tests"));
        command.args(arguments).current_dir(directory);
        command.env(FILES, directory.join("files")).env("TMPDIR", directory.join("temporary"));
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = {
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            command.spawn().unwrap()
        };
        let output = started.wait_with_output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{text}");
        text
    }
}
