//! Programs of the workshop in crates of their own, so that no other command compiles them.

use anyhow::{Context, Result};
use sortie_workshop::{Verdict, cargo};

/// `cargo xtask bench`.
pub(crate) fn bench(flags: &[String]) -> Result<Verdict> {
    run("sortie-bench", &[], flags)
}

/// One of the trials: mutants, crash, soak, fuzz, mcp or hosts.
pub(crate) fn trial(name: &str, flags: &[String]) -> Result<Verdict> {
    run("sortie-torture", &[name], flags)
}

/// Builds and runs the program of a package, with its output on the screen. Its exit code is the verdict.
fn run(package: &str, command: &[&str], flags: &[String]) -> Result<Verdict> {
    let mut run = cargo();
    run.args(["run", "--quiet", "--package", package, "--"]).args(command).args(flags);
    let status = run.status().with_context(|| format!("cannot run {package}"))?;
    Ok(match status.code() {
        Some(0) => Verdict::Good,
        Some(code) if code == i32::from(Verdict::WRONG_USAGE) => Verdict::WrongUsage,
        _ => Verdict::Bad,
    })
}
