//! Programs of the machine that tests and benchmarks need: installed from their packages where they are missing.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process;

/// Makes sure that a program is there, installing its package where that is possible. `user` says who needs it.
pub fn install_if_missing(program: &str, package: &str, user: &str) -> Result<()> {
    if is_installed(program) {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        bail!("{user} need {program}; install the package {package}");
    }
    eprintln!("==> installing {package}, which {user} need");
    // The lists of a fresh machine or image are empty, or too old to find the package by.
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        process::succeeds(&mut command).with_context(|| format!("{user} need {program}; install it by hand"))
    };
    if !apt(&["install", "--yes", "--no-install-recommends", package])? {
        apt(&["update"])?;
        apt(&["install", "--yes", "--no-install-recommends", package])?;
    }
    if !is_installed(program) {
        bail!("{user} need {program}, and apt-get could not install the package {package}; install it by hand");
    }
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
