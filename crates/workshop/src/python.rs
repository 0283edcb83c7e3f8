//! The Python environment of the tests that let others judge us. It has the official SDKs, which talk to our scripted
//! server, and a validator of JSON schemas.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::{Package, Workspace};

/// Environment variable that names the interpreter to the tests.
pub const VARIABLE: &str = "SORTIE_TEST_PYTHON";

/// Folder of a crate's programs in Python.
const FOLDER: &str = "tests/python";
/// Packages that all of them need.
const REQUIREMENTS: &str = "crates/testkit/tests/python/requirements.txt";

/// True if one of these crates has tests in Python.
pub fn needed_by(packages: &[&Package]) -> bool {
    packages.iter().any(|package| package.directory().join(FOLDER).exists())
}

/// The interpreter of a virtual environment in the target folder, made anew only when the requirements change.
pub fn prepare(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("sortie-python");
    let interpreter = folder.join("bin/python");
    let stamp = folder.join("requirements.installed");

    let file = workspace.root.join(REQUIREMENTS);
    let wanted = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    if interpreter.exists() && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(interpreter);
    }
    install(&folder, &interpreter, &file)?;
    // Written last: an installation that was broken off is begun anew.
    std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(interpreter)
}

fn install(folder: &Path, interpreter: &Path, requirements: &Path) -> Result<()> {
    let made = process::succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))
        .context("some tests need python3 (3.10 or later) on the PATH")?;
    if !made {
        bail!("`python3 -m venv` failed; on Debian and Ubuntu it comes with the package python3-venv");
    }
    let mut pip = Command::new(interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    if !process::succeeds(&mut pip)? {
        bail!("pip could not install {}; it needs the network once", requirements.display());
    }
    Ok(())
}
