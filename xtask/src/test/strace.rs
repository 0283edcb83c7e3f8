//! `strace`, with which a test watches what the program asks the kernel for.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Package;

/// The test that needs it. It is for Linux alone, like the program.
const TEST: &str = "tests/it/hostile.rs";

/// Whether one of these crates has such a test.
pub(super) fn needed_by(packages: &[&Package]) -> bool {
    cfg!(target_os = "linux") && packages.iter().any(|package| package.directory().join(TEST).exists())
}

/// Makes sure that it is there, installing it where that is possible.
pub(crate) fn prepare() -> Result<()> {
    if is_installed() {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        bail!("the tests of the cli need strace; install the package strace");
    }
    // The lists of a fresh machine or image are empty, or too old to find the package by.
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        process::succeeds(&mut command).context("the tests of the cli need strace; install it by hand")
    };
    if !apt(&["install", "--yes", "--no-install-recommends", "strace"])? {
        apt(&["update"])?;
        apt(&["install", "--yes", "--no-install-recommends", "strace"])?;
    }
    if !is_installed() {
        bail!("the tests of the cli need strace, and apt-get could not install it; install it by hand");
    }
    Ok(())
}

fn is_installed() -> bool {
    let mut command = Command::new("strace");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
