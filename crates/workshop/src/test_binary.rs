//! Building every test before any of them runs, and learning from cargo where the binaries are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::python;
use crate::workspace::{Package, cargo};
use anyhow::{Context, Result};
use serde::Deserialize;

/// A compiled binary that holds tests.
#[derive(Debug)]
pub struct TestBinary {
    /// Id of its package.
    pub package: String,
    /// The target's name: `it` for integration tests, the crate's for unit tests.
    pub target: String,
    pub path: PathBuf,
}

/// Seed of the cases that property tests make.
const PROPERTY_SEED: &str = "1";

impl TestBinary {
    /// The command that starts it as cargo would, with the interpreter for tests in Python.
    #[must_use]
    pub fn command(&self, package: &Package, python: Option<&Path>) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(package.directory())
            .env("CARGO_MANIFEST_DIR", package.directory())
            .env("CARGO_PKG_NAME", &package.name)
            .env("CARGO_PKG_VERSION", &package.version)
            // Every run makes these cases: a change is judged by what it changed. `cargo test` makes others.
            .env("PROPTEST_RNG_SEED", PROPERTY_SEED);
        if let Some(python) = python {
            command.env(python::VARIABLE, python);
        }
        command
    }
}

/// Builds the tests of the selected packages; `None` when they do not compile.
pub fn build_tests(selection: &[&str]) -> Result<Option<Vec<TestBinary>>> {
    built(cargo().args(["test", "--tests"]).args(selection))
}

/// Has a `cargo test` build and not run; `None` when that does not compile.
pub fn built(command: &mut Command) -> Result<Option<Vec<TestBinary>>> {
    let output = command
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8(output.stdout)?.lines().filter_map(test_binary).collect()))
}

/// The test binary that one of cargo's messages reports.
fn test_binary(line: &str) -> Option<TestBinary> {
    #[derive(Deserialize)]
    struct Artifact {
        package_id: String,
        target: Target,
        profile: Profile,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    #[derive(Deserialize)]
    struct Profile {
        test: bool,
    }
    // Other messages have other fields.
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let path = artifact.executable.filter(|_| artifact.profile.test)?;
    Some(TestBinary { package: artifact.package_id, target: artifact.target.name, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_binaries_are_taken() {
        let message = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"p","target":{{"name":"it"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = test_binary(&message(true, "\"target/it\"")).unwrap();
        assert_eq!((found.package.as_str(), found.target.as_str()), ("p", "it"));
        assert!(test_binary(&message(false, "\"target/sortie\"")).is_none());
        assert!(test_binary(&message(true, "null")).is_none());
        assert!(test_binary(r#"{"reason":"build-finished","success":true}"#).is_none());
    }
}
