//! A large tree that exists wherever this workspace is built: the sources of all crates that it depends on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use sortie_workshop::{cargo, process};

use super::super::remove;

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) path: PathBuf,
    pub(super) n_crates: usize,
    pub(super) n_files: usize,
    pub(super) megabytes: f64,
}

/// The part of `cargo metadata` that names the crates.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    /// Absent for crates of the workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

impl Tree {
    /// Copies the sources, for every platform, into one folder below `target`, unless an earlier run did.
    pub(super) fn of_dependencies(target: &Path) -> Result<Self> {
        let crates = crates()?;
        let list = crates.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join("\n");
        let (path, stamp) = (target.join("searched-tree"), target.join("searched-tree.list"));
        if fs::read_to_string(&stamp).ok().as_deref() != Some(&list) {
            eprintln!("==> a tree of the sources of {} crates", crates.len());
            remove(&path)?;
            for folder in &crates {
                let name = folder.file_name().context("a crate's folder has a name")?;
                copy(folder, &path.join(name)).with_context(|| format!("cannot copy {}", folder.display()))?;
            }
            fs::write(stamp, list)?;
        }
        let mut tree = Self { path: path.clone(), n_crates: crates.len(), ..Self::default() };
        tree.count(&path)?;
        Ok(tree)
    }

    fn count(&mut self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.count(&entry.path())?;
            } else {
                self.n_files += 1;
                self.megabytes += entry.metadata()?.len() as f64 / 1e6;
            }
        }
        Ok(())
    }
}

/// The folders of all crates that do not belong to the workspace.
fn crates() -> Result<Vec<PathBuf>> {
    let text = process::stdout_of(cargo().args(["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Metadata = serde_json::from_str(&text).context("`cargo metadata` wrote something unexpected")?;
    let foreign = metadata.packages.into_iter().filter(|package| package.source.is_some());
    foreign.map(|package| Ok(package.manifest_path.parent().context("a manifest has a folder")?.to_owned())).collect()
}

/// Copies a folder with all regular files in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
