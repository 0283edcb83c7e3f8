//! Programs by others that speak the protocol, from npm.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use sortie_workshop::Workspace;

use crate::npm::{self, Packages};

const PACKAGES: Packages = Packages {
    folder: "crates/mcp/tests/npm",
    files: &["package.json", "package-lock.json", "port.mjs", "token.mjs"],
    installed: "sortie-npm",
};

pub(super) struct Foreign {
    folder: PathBuf,
    node: PathBuf,
}

impl Foreign {
    pub(super) fn prepare(workspace: &Workspace) -> Result<Self> {
        let folder = PACKAGES.install(workspace)?;
        let node = npm::node(&folder)?;
        Ok(Self { folder, node })
    }

    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// A module of ours that lies beside the packages.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A program of the protocol's own packages.
    pub(super) fn program(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules/@modelcontextprotocol").join(path)
    }

    /// Runs such a program.
    pub(super) fn command(&self, path: &str) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(self.program(path));
        command
    }
}
