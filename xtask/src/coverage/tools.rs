//! The LLVM tools of the toolchain in use. Others do not do: the format changes with every version.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sortie_workshop::process;

pub(super) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Finds them, and has rustup install them where they are not.
    pub(super) fn prepare(host: &str) -> Result<Self> {
        let sysroot = process::stdout_of(Command::new("rustc").args(["--print", "sysroot"]))?;
        let tools = Self { folder: Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin") };
        if !tools.are_there() {
            let installed = process::succeeds(Command::new("rustup").args(["component", "add", "llvm-tools"]));
            if !installed.is_ok_and(|installed| installed && tools.are_there()) {
                bail!("coverage needs the toolchain's own LLVM tools: `rustup component add llvm-tools`");
            }
        }
        Ok(tools)
    }

    fn are_there(&self) -> bool {
        ["llvm-profdata", "llvm-cov"].iter().all(|tool| self.folder.join(tool).exists())
    }

    fn tool(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }

    /// How often each line of the repository was run by these programs, in the format of lcov.
    pub(super) fn lines<'a>(
        &self,
        root: &Path,
        profiles: &Path,
        programs: impl Iterator<Item = &'a Path>,
    ) -> Result<String> {
        let written = std::fs::read_dir(profiles).with_context(|| format!("cannot read {}", profiles.display()))?;
        let written: Vec<PathBuf> = written.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        if written.is_empty() {
            bail!("the instrumented tests wrote no profiles");
        }
        let merged = profiles.with_extension("profdata");
        let mut merge = self.tool("llvm-profdata");
        merge.args(["merge", "--sparse", "--output"]).arg(&merged).args(written);
        if !process::succeeds(&mut merge)? {
            bail!("the profiles could not be merged");
        }
        let mut export = self.tool("llvm-cov");
        export.args(["export", "--format=lcov", "--instr-profile"]).arg(&merged);
        for program in programs {
            export.arg("--object").arg(program);
        }
        export.arg("--sources").args([root.join("crates"), root.join("xtask")]);
        process::stdout_of(&mut export)
    }
}
