//! Programs of the machine that tests and benchmarks need: installed from their packages where they are missing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::cargo;

/// Installs the package of a program unless the program is there. `user` names who needs it, for the error.
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

/// Installs a program from the package registry below the target folder, unless an earlier run did. `program` is its
/// name there.
pub fn install_crate(target: &Path, name: &str, version: &str, program: &str) -> Result<PathBuf> {
    let root = target.join("tools").join(format!("{name}-{version}"));
    let installed = root.join("bin").join(program);
    if !installed.exists() {
        eprintln!("==> installing {name} {version}");
        let mut install = cargo();
        install.args(["install", "--quiet", "--locked", name, "--version", version, "--root"]).arg(&root);
        if !process::succeeds(install.arg("--target-dir").arg(root.join("build")))? {
            bail!("{name} {version} could not be installed");
        }
        // Many times the size of the program.
        std::fs::remove_dir_all(root.join("build")).ok();
    }
    Ok(installed)
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
