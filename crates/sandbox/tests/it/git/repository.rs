//! A repository with one commit, and a canary that a hostile configuration makes git run.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sortie_sandbox::Git;
use tempfile::TempDir;

pub(crate) struct Repository {
    _directory: TempDir,
    /// Next to the working tree.
    pub(crate) outside: PathBuf,
    pub(crate) top: PathBuf,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let repository = Self { _directory: directory, outside: base.join("outside"), top: base.join("top") };
        fs::create_dir(&repository.outside).unwrap();
        fs::create_dir(&repository.top).unwrap();
        repository.git(&["init", "-q", "-b", "main"]);
        repository.put("file", "first\n");
        repository.git(&["add", "."]);
        repository.git(&["commit", "-q", "-m", "first"]);
        repository
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// Plain git, as a person without any configuration would call it.
    pub(crate) fn plain(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.top).stdin(Stdio::null());
        command.env("HOME", &self.outside).env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "a").env(format!("GIT_{role}_EMAIL"), "a@example.com");
        }
        command
    }

    /// Plain git, which must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.plain(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(crate) fn set(&self, name: &str, value: &str) {
        self.git(&["config", name, value]);
    }

    /// A command line that leaves a trace, whatever follows it.
    pub(crate) fn canary(&self) -> String {
        format!("echo ran >>{} ", self.trace().display())
    }

    /// A program that leaves a trace.
    pub(crate) fn canary_program(&self, path: &Path) {
        write_program(path, &self.canary());
    }

    pub(crate) fn has_canary_run(&self) -> bool {
        self.trace().exists()
    }

    fn trace(&self) -> PathBuf {
        self.outside.join("trace")
    }

    /// Makes git read a file again, with the same content.
    pub(crate) fn touch(&self, path: &str) {
        let path = self.path(path);
        let (bytes, before) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().ino());
        // Another inode, so that not even a stopped clock hides it.
        let new = self.outside.join("new");
        fs::write(&new, bytes).unwrap();
        fs::rename(new, &path).unwrap();
        assert_ne!(fs::metadata(&path).unwrap().ino(), before);
    }
}

/// The git of this machine.
pub(crate) fn git() -> Git {
    Git::find(None, &[]).unwrap()
}

/// Writes a program. A shell does it: this process must never have it open, or a process started meanwhile by another
/// thread could keep it from being run.
pub(crate) fn write_program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\n{script}\n");
    let writer = r#"printf %s "$1" > "$2" && chmod 755 "$2""#;
    let status = Command::new("/bin/sh").args(["-c", writer, "sh", &script]).arg(path).status().unwrap();
    assert!(status.success());
}
