//! Errors of git calls.

use std::io;
use std::path::{Path, PathBuf};

use crate::git::version::GitVersion;
use crate::paths::shown;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("no git found in the system's directories or in your PATH outside the workspace; install git")]
    NotFound,

    #[error("{} says `{words}`, which is not a version of git; install git", program.display())]
    UnknownVersion { program: PathBuf, words: String },

    #[error("{} is git {version}, which is too old to be called safely; install git {oldest} or later", program.display())]
    TooOld { program: PathBuf, version: GitVersion, oldest: GitVersion },

    #[error("`git {name}` is not one of the commands used here")]
    NotOffered { name: String },

    #[error("the directory {} cannot be used", top.display())]
    Directory { top: PathBuf, source: io::Error },

    #[error(
        "the repository {} names programs that git would run: `{settings}`; remove them from its configuration, or work \
         without git here",
        top.display()
    )]
    NamesPrograms { top: PathBuf, settings: String },

    #[error("{} is not a git repository, or a bare one, which is not supported", top.display())]
    NoRepository { top: PathBuf },

    #[error("the repository {} belongs to another user, so its settings are not trusted; change its owner to yourself", top.display())]
    Foreign { top: PathBuf },

    #[error("{} does not say where the repository is: {reason}", file.display())]
    BadLink { file: PathBuf, reason: &'static str },

    #[error("`git {command}` failed: {words}")]
    Failed { command: String, words: String },

    #[error("`git {command}` did not finish within {seconds} seconds and was stopped")]
    TooLate { command: String, seconds: u64 },

    #[error("`git {command}` printed more than {max} bytes and was stopped")]
    TooLong { command: String, max: usize },

    #[error("`git {command}` printed something that is not text")]
    NotText { command: String },

    #[error("`git {command}` could not be run")]
    Io { command: String, source: io::Error },
}

impl GitError {
    /// The error for a git command that failed, with git's own words.
    pub(super) fn refused(top: &Path, command: String, errors: &[u8]) -> Self {
        let errors = String::from_utf8_lossy(errors);
        let told = |words: &str| errors.contains(words);
        if told("dubious ownership") {
            return Self::Foreign { top: top.to_owned() };
        }
        if told("not a git repository") || told("cannot use bare repository") {
            return Self::NoRepository { top: top.to_owned() };
        }
        // Git prints the error first, and then advice for people.
        Self::Failed { command, words: shown(errors.lines().next().unwrap_or("it said nothing")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_error_is_reworded_if_its_advice_would_not_help() {
        let told = |errors: &str| GitError::refused(Path::new("/w"), "status".into(), errors.as_bytes()).to_string();
        let foreign = "fatal: detected dubious ownership in repository at '/w'\nTo add an exception, call:\n";
        assert_eq!(
            told(foreign),
            "the repository /w belongs to another user, so its settings are not trusted; change its owner to yourself"
        );
        let bare = "fatal: cannot use bare repository '/w' (safe.bareRepository is 'explicit')\n";
        assert_eq!(told(bare), "/w is not a git repository, or a bare one, which is not supported");
        assert_eq!(told("fatal: bad \u{1b}\nmore"), "`git status` failed: fatal: bad \\u{1b}");
        assert_eq!(told(""), "`git status` failed: it said nothing");
    }
}
