//! Programs of the workshop in crates of their own, so that no other command compiles them.

use anyhow::{Context, Result};
use sortie_workshop::{Verdict, cargo};

/// Builds and runs the program of a package, with its output on the screen. Its exit code is the verdict.
pub(crate) fn run(package: &str, command: &[&str], flags: &[String]) -> Result<Verdict> {
    let mut run = cargo();
    run.args(["run", "--quiet", "--package", package, "--"]).args(command).args(flags);
    let status = run.status().with_context(|| format!("cannot run {package}"))?;
    Ok(match status.code() {
        Some(0) => Verdict::Good,
        Some(code) if code == i32::from(Verdict::WRONG_USAGE) => Verdict::WrongUsage,
        _ => Verdict::Bad,
    })
}
