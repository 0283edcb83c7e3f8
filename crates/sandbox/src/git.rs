//! Git as this program itself calls it: pinned, so that no repository can make it run another program.
//!
//! Only a few of its commands can be called, and only in the top directory of a working tree. Git called by a task's
//! command is not covered here: that one has the walls. Nothing else starts git.

mod directory;
mod error;
mod named_programs;
mod pinned_settings;
mod status;
mod subcommand;
mod version;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{Access, access};
use sortie_mutant::is_out;

use crate::programs::child_process::{self, ChildTerms};
use crate::walls::Environment;
use subcommand::Subcommand;

pub use directory::{GitDirectory, git_directory};
pub use error::GitError;
pub use status::GitStatus;
pub use version::GitVersion;

/// Time limit of one call.
const PATIENCE: Duration = Duration::from_secs(30);

/// Most output of one call.
const MAX_OUTPUT: usize = 16 << 20;

/// A git outside everything that agents can change.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    version: GitVersion,
}

impl Git {
    /// Looks for git in the system's directories, then in those of the user's `PATH`. Skips a git that lies in an
    /// untrusted directory, or is reached from one by a link, and all relative entries of `PATH`.
    pub fn find(path: Option<&OsStr>, untrusted: &[&Path]) -> Result<Self, GitError> {
        let path = path.map(|path| (OsString::from("PATH"), path.to_owned()));
        let environment = Environment::scrubbed(path, untrusted);
        let search = environment.variables().find(|(name, _)| *name == "PATH").map(|(_, value)| value.as_bytes());
        let directories = search.unwrap_or_default().split(|byte| *byte == b':').map(OsStr::from_bytes);
        let program = directories
            .map(|directory| Path::new(directory).join("git"))
            .find(|program| is_trusted_program(program, untrusted))
            .ok_or(GitError::NotFound)?;
        let words = call(&program, Path::new("/"), &["version"])?;
        let words = String::from_utf8_lossy(&words);
        let version = GitVersion::parse(&words)
            .ok_or_else(|| GitError::UnknownVersion { program: program.clone(), words: words.trim().to_owned() })?;
        if version < GitVersion::OLDEST {
            return Err(GitError::TooOld { program, version, oldest: GitVersion::OLDEST });
        }
        Ok(Self { program, version })
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn version(&self) -> GitVersion {
        self.version
    }

    /// Runs one of git's commands in `top`, the top directory of a working tree, and returns its output. Repositories
    /// are looked for only there. If a repository names programs of its own, all commands that could run them are
    /// refused; nobody may change its configuration meanwhile. Blocks.
    pub fn run(&self, top: &Path, arguments: &[&str]) -> Result<String, GitError> {
        let output = self.run_to_bytes(top, arguments)?;
        String::from_utf8(output).map_err(|_| GitError::NotText { command: arguments.join(" ") })
    }

    /// Compares the working tree at `top`, without its submodules. Changes nothing, not even git's index.
    pub fn status(&self, top: &Path) -> Result<GitStatus, GitError> {
        Ok(status::parse(&self.run_to_bytes(top, &status::QUESTION)?))
    }

    fn run_to_bytes(&self, top: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let (name, rest) = arguments.split_first().unwrap_or((&"", &[]));
        let subcommand = Subcommand::named(name).ok_or_else(|| GitError::NotOffered { name: (*name).to_owned() })?;
        let top = top.canonicalize().map_err(|source| GitError::Directory { top: top.to_owned(), source })?;
        if subcommand.may_run_programs && !is_out("gits-programs") {
            let listed = self.run_to_bytes(&top, &named_programs::QUESTION)?;
            named_programs::refuse_programs(&top, &listed)?;
        }
        let pinned: Vec<&str> =
            [*name].into_iter().chain(subcommand.options.iter().copied()).chain(rest.iter().copied()).collect();
        call(&self.program, &top, &pinned)
    }
}

fn call(program: &Path, top: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    let mut command = Command::new(program);
    command
        .args(pinned_settings::OPTIONS)
        .args(arguments)
        .current_dir(top)
        .env_clear()
        .envs(pinned_settings::environment(top));
    let command_line = || arguments.join(" ");
    let terms = ChildTerms { input: &[], time: PATIENCE, max_output: Some(MAX_OUTPUT), stop: None };
    let ended = child_process::run(command, terms).map_err(|failure| match failure {
        child_process::ChildFailure::Io(source) => GitError::Io { command: command_line(), source },
        // Not possible: no stop descriptor was given.
        child_process::ChildFailure::Stopped => {
            GitError::Io { command: command_line(), source: io::ErrorKind::Interrupted.into() }
        }
        child_process::ChildFailure::TooLong => GitError::TooLong { command: command_line(), max: MAX_OUTPUT },
        child_process::ChildFailure::TooLate => {
            GitError::TooLate { command: command_line(), seconds: PATIENCE.as_secs() }
        }
    })?;
    if ended.status.success() { Ok(ended.output) } else { Err(GitError::refused(top, command_line(), &ended.errors)) }
}

fn is_trusted_program(program: &Path, untrusted: &[&Path]) -> bool {
    let Ok(real) = program.canonicalize() else { return false };
    let outside = untrusted.iter().all(|root| !real.starts_with(root) && !program.starts_with(root));
    outside && real.is_file() && access(&real, Access::EXEC_OK).is_ok()
}
