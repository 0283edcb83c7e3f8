//! Diagnosis of the git program that Sortie calls, and of the state of the repository.

use std::path::Path;

use sortie_sandbox::{Git, GitError, GitStatus, git_directory};

use super::diagnosis::Diagnosis;
use crate::error::long_wait::noting_long_wait;
use crate::settings::Settings;

const SUBJECT: &str = "git";

pub(super) fn git(settings: &Settings) -> Vec<Diagnosis> {
    let workspace = &settings.places.workspace;
    let path = settings.environment.of_the_process().find(|(name, _)| name == "PATH").map(|(_, path)| path);
    let found = match Git::find(path.as_deref(), &[workspace]) {
        Ok(git) => git,
        Err(error) => return vec![Diagnosis::warning(SUBJECT, in_full(&error), "")],
    };
    vec![version(&found), repository(&found, workspace)]
}

fn version(git: &Git) -> Diagnosis {
    let version = git.version();
    let text = format!("{version} at {}", git.program().display());
    let Some(mended) = version.mended_by() else { return Diagnosis::ok(SUBJECT, text) };
    let hole = "fetching submodules can run a repository's own programs with it (CVE-2025-48384)";
    let advice = format!("install git {mended} or later, unless your distribution has patched {version}");
    Diagnosis::warning(SUBJECT, format!("{text}; {hole}"), advice)
}

fn repository(git: &Git, workspace: &Path) -> Diagnosis {
    const SUBJECT: &str = "repository";
    let top = match workspace
        .ancestors()
        .find_map(|directory| git_directory(directory).transpose().map(|found| (directory, found)))
    {
        Some((_, Err(error))) => return Diagnosis::warning(SUBJECT, in_full(&error), ""),
        Some((top, Ok(_))) => top,
        None => return Diagnosis::ok(SUBJECT, "none: the workspace is not under version control by git"),
    };
    match noting_long_wait("asking git what has changed", || git.status(top)) {
        Ok(status) => Diagnosis::ok(SUBJECT, told(top, &status)),
        Err(error @ GitError::NoRepository { .. }) => Diagnosis::ok(SUBJECT, format!("none: {error}")),
        Err(error) => Diagnosis::warning(SUBJECT, in_full(&error), ""),
    }
}

fn told(top: &Path, status: &GitStatus) -> String {
    let branch = match (&status.branch, &status.commit) {
        (Some(branch), Some(_)) => format!("branch {branch}"),
        (Some(branch), None) => format!("branch {branch}, without a commit"),
        (None, commit) => format!("no branch, at {}", commit.as_deref().unwrap_or("no commit")),
    };
    let changes = match (status.changed, status.untracked) {
        (0, 0) => "nothing has changed".to_owned(),
        (changed, untracked) => format!("files changed: {changed}, unknown to git: {untracked}"),
    };
    format!("{}, {branch}; {changes}", top.display())
}

fn in_full(error: &GitError) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}")
}
