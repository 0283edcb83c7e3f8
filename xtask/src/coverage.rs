//! `cargo xtask coverage`: which lines of the workspace its tests run, from instrumented runs of all of them.
//!
//! The compiler's own instrumentation, read by the LLVM tools of the same toolchain, in a target folder of its own.
//! All crates count, those for tests and contributors too; lines that are themselves tests do not.

mod lcov;
mod table;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sortie_workshop::{Verdict, Workspace, cargo, host, process, python};

use self::table::Table;
use self::tools::Tools;
use crate::test::{strace, suite};

const INSTRUMENTATION: &str = "-Cinstrument-coverage";
/// Where an instrumented program writes what it ran. Tests that start one in an empty environment pass it on.
const PROFILE_FILE: &str = "LLVM_PROFILE_FILE";
/// A few files for each program, which its runs share: there are thousands of runs.
const PROFILES: &str = "%4m.profraw";

/// Builds and runs everything instrumented, and prints the table. Bad when a test fails or too few lines were run.
pub(crate) fn run() -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let host = host()?;
    let tools = Tools::prepare(&host)?;
    strace::prepare()?;
    let instrumented = Instrumented {
        python: python::prepare(&workspace)?,
        target: workspace.target.join("coverage"),
        profiles: workspace.target.join("coverage/profiles"),
        host,
    };
    let programs = instrumented.build()?;
    let all_passed = instrumented.run(&workspace, &programs)?;
    let programs = programs.iter().map(|program| program.executable.as_path());
    let lines = tools.lines(&workspace.root, &instrumented.profiles, programs)?;
    let table = Table::of(&workspace, &lcov::parse(&lines))?;
    print!("{table}");
    if !all_passed {
        println!("\nsome tests failed in the instrumented run, see above; the figures may be too low");
    }
    Ok(Verdict::good_if(all_passed && table.is_good()))
}

/// How the tests are built and run, and where all that goes.
struct Instrumented {
    target: PathBuf,
    profiles: PathBuf,
    python: PathBuf,
    host: String,
}

/// A program that was built: one with tests, or one that tests start.
#[derive(Deserialize)]
struct Program {
    package_id: String,
    executable: PathBuf,
    profile: Profile,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

impl Instrumented {
    /// Builds all tests and the programs that they start. The flags are for one target only, so that build scripts are
    /// left as they are.
    fn build(&self) -> Result<Vec<Program>> {
        let output = cargo()
            .args(["test", "--workspace", "--tests", "--no-run", "--message-format", "json-render-diagnostics"])
            .args(["--target", &self.host, "--target-dir"])
            .arg(&self.target)
            .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION)
            .env_remove("RUSTFLAGS")
            .stderr(Stdio::inherit())
            .output()
            .context("cannot run cargo")?;
        if !output.status.success() {
            bail!("the tests do not compile");
        }
        // Messages about anything else have other fields.
        Ok(String::from_utf8(output.stdout)?.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Runs all tests, one program after the other. `false` when one failed.
    fn run(&self, workspace: &Workspace, programs: &[Program]) -> Result<bool> {
        clear(&self.profiles)?;
        let mut all_passed = true;
        for program in programs.iter().filter(|program| program.profile.test) {
            let package = workspace.packages.iter().find(|package| package.id == program.package_id);
            let package = package.with_context(|| format!("no package {}", program.package_id))?;
            eprintln!("==> {}", package.folder());
            let mut command = suite::command(package, &program.executable, Some(&self.python));
            command.arg("--quiet").env(PROFILE_FILE, self.profiles.join(PROFILES));
            all_passed &= process::succeeds(&mut command)?;
        }
        Ok(all_passed)
    }
}

/// What was run another time does not count.
fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}
