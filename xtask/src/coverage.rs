//! `cargo xtask coverage`: the lines of the workspace that its tests run, measured by `cargo-llvm-cov`.
//!
//! All crates count, even those for tests and contributors; files below `tests/` do not.

use std::process::Command;

use anyhow::{Result, bail};
use sortie_workshop::{Verdict, Workspace, install_crate, process, python};

use crate::test::prepare_strace;

const VERSION: &str = "0.9.1";
/// Percent of the lines that the tests run at least.
const TARGET: &str = "80";
/// A few files for each program, which its runs share: there are thousands of runs. Tests that start a program in an
/// empty environment pass on the variable that cargo-llvm-cov makes of this.
const PROFILES: &str = "sortie-%4m.profraw";

/// Runs all tests instrumented and prints the table. Bad if a test fails or too few lines were run.
pub(crate) fn run() -> Result<Verdict> {
    let workspace = Workspace::load()?;
    if !process::succeeds(Command::new("rustup").args(["--quiet", "component", "add", "llvm-tools"]))? {
        bail!("coverage needs the toolchain's own LLVM tools: `rustup component add llvm-tools`");
    }
    let program = install_crate(&workspace.target, "cargo-llvm-cov", VERSION, "cargo-llvm-cov")?;
    prepare_strace()?;
    let mut command = Command::new(program);
    command
        .args(["llvm-cov", "test", "--workspace", "--tests", "--no-fail-fast", "--summary-only"])
        .args(["--fail-under-lines", TARGET])
        .env("LLVM_PROFILE_FILE_NAME", PROFILES)
        .env(python::VARIABLE, python::prepare(&workspace)?);
    Ok(Verdict::good_if(process::succeeds(&mut command)?))
}
