//! The workspace as cargo describes it: its members, their dependencies and where things are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;

/// The part of `cargo metadata` that anything here uses.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
    pub targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// Absent for ordinary dependencies.
    pub kind: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Target {
    pub kind: Vec<String>,
}

impl Workspace {
    pub fn load() -> Result<Self> {
        let text = process::stdout_of(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("`cargo metadata` wrote something unexpected")
    }
}

impl Package {
    pub fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    /// The crate's everyday name, which is the name of its folder.
    pub fn folder(&self) -> &str {
        self.directory().file_name().and_then(|name| name.to_str()).unwrap_or(&self.name)
    }

    pub fn has_library(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "lib"))
    }
}

/// The cargo that runs us, so that a toolchain chosen on the command line stays chosen.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The platform that we build for and run on.
pub fn host() -> Result<String> {
    let version = process::stdout_of(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}
