//! The build in which the named points can be chosen, and the programs that watch it.

use std::path::PathBuf;

use anyhow::Result;
use sortie_workshop::{Workspace, cargo, process};

#[derive(Debug)]
pub(crate) struct Programs {
    pub(super) sortie: PathBuf,
    pub(super) server: PathBuf,
    pub(super) checker: PathBuf,
}

impl Programs {
    /// `None` when they do not compile.
    pub(crate) fn build(workspace: &Workspace) -> Result<Option<Self>> {
        let target = workspace.target.join("crash");
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        let mut command = cargo();
        command
            .args(["build", "--quiet", "--package", "sortie", "--bin", "sortie", "--package", "sortie-testkit"])
            .args(["--bin", "scripted-server", "--bin", "crash-checker", "--target-dir"])
            .arg(&target)
            .env("RUSTFLAGS", format!("{flags} --cfg sortie_crash").trim())
            // Nobody debugs it, and it is a third of the size without.
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        let folder = target.join("debug");
        let programs = Self {
            sortie: folder.join("sortie"),
            server: folder.join("scripted-server"),
            checker: folder.join("crash-checker"),
        };
        Ok(process::succeeds(&mut command)?.then_some(programs))
    }
}
