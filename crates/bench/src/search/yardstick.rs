//! `rg` from the package registry, installed below the target folder for this purpose alone.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sortie_workshop::install_crate;

use super::{MAX_LINES, Mode, Query};

const VERSION: &str = "15.2.0";

pub(super) struct Ripgrep {
    program: PathBuf,
}

impl Ripgrep {
    /// Installs `rg`, unless an earlier run did.
    pub(super) fn install(target: &Path) -> Result<Self> {
        let program = install_crate(target, "ripgrep", VERSION, "rg")?;
        Ok(Self { program })
    }

    /// One search under Grep's rules: hidden files too, ignore files of the tree and no others, not into `.git`. Takes
    /// at most one line more than Grep shows, by which Grep, too, learns that more follow. Returns how many there were.
    pub(super) fn search(&self, tree: &Path, query: &Query, mode: Mode) -> Result<(Duration, usize)> {
        let mut command = Command::new(&self.program);
        command
            .args(["--no-config", "--color", "never", "--no-heading", "--hidden", "--glob", "!.git"])
            .args(["--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--no-ignore-exclude"])
            .arg(match mode {
                Mode::Files => "--files-with-matches",
                Mode::Content => "--line-number",
            })
            .args(query.ignore_case.then_some("--ignore-case"))
            .args(["--regexp", query.pattern, "./"])
            .current_dir(tree)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let clock = Instant::now();
        let mut child = command.spawn().context("cannot run rg")?;
        let output = BufReader::new(child.stdout.take().context("rg has no output")?);
        // The pipe closes with its reader, and that ends `rg`.
        let n_lines = output.split(b'\n').take(MAX_LINES + 1).count();
        let status = child.wait()?;
        let elapsed = clock.elapsed();
        match status.code() {
            Some(0 | 1) => Ok((elapsed, n_lines)),
            _ => bail!("rg failed ({status})"),
        }
    }
}
