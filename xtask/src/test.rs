//! `cargo xtask test`: everything that must hold, each step timed, and a summary of where the time went.
//!
//! It installs what the tests need, builds all of them once, and then runs them crate by crate, so that building is
//! not charged to a suite. A failing step does not hide the next one: all steps run.

pub(crate) mod build;
pub(crate) mod libtest;
mod report;
pub(crate) mod strace;
pub(crate) mod suite;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use sortie_workshop::{Package, Verdict, Workspace, cargo, process, python};

use self::build::TestBinary;
use self::report::{Report, Row};
use crate::{fuzz, mutants, program, tidy};

/// Runs everything, or the suites of the named crates only.
pub(crate) fn run(names: &[String]) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let packages = select(&workspace, names)?;
    let everything = names.is_empty();
    let mut report = Report::default();
    if everything {
        check(&mut report, "format", "run `cargo fmt --all`", || {
            process::succeeds(cargo().args(["fmt", "--all", "--check"]))
        })?;
        check(&mut report, "tidy", "mend what it says above", || Ok(tidy::run(&[])? == Verdict::Good))?;
        check(&mut report, "clippy", "mend what it says above", || process::succeeds(&mut clippy()))?;
    }
    let python = prepare_python(&mut report, &workspace, &packages);
    prepare_strace(&mut report, &packages);
    if let Some(binaries) = build_tests(&mut report, &packages, everything)? {
        for package in &packages {
            announce(package.folder());
            let binaries = binaries.iter().filter(|binary| binary.package == package.id);
            report.push(suite::run(package, binaries, python.as_deref())?);
        }
    }
    if everything {
        check(&mut report, "examples", "they must compile", || {
            process::succeeds(cargo().args(["build", "--quiet", "--workspace", "--examples"]))
        })?;
        check(&mut report, "mutants", "a guard can be taken out and nobody notices, see above", || {
            mutants::all_are_noticed(&workspace)
        })?;
        check(&mut report, "crash", "something was lost, done twice or left behind, see above", || {
            Ok(program::run("sortie-torture", &["crash"], &[])? == Verdict::Good)
        })?;
        check(&mut report, "fuzz", "an input broke a reader, see above", || {
            fuzz::finds_nothing(&workspace, fuzz::Effort::SHORT)
        })?;
        check(&mut report, "mcp", "a program by others and ours do not understand each other, see above", || {
            Ok(program::run("sortie-torture", &["mcp"], &[])? == Verdict::Good)
        })?;
    }
    if packages.iter().any(|package| package.has_library()) {
        announce("doc tests");
        report.push(suite::run_doc_tests(&packages)?);
    }
    print!("{report}");
    Ok(Verdict::good_if(report.is_good()))
}

/// The packages to test, in the order of their folders.
fn select<'a>(workspace: &'a Workspace, names: &[String]) -> Result<Vec<&'a Package>> {
    let is_called = |package: &Package, name: &String| package.folder() == name || package.name == *name;
    for name in names {
        if !workspace.packages.iter().any(|package| is_called(package, name)) {
            let known: Vec<&str> = workspace.packages.iter().map(Package::folder).collect();
            bail!("no crate `{name}`; there are {}", known.join(", "));
        }
    }
    let mut packages: Vec<&Package> = workspace.packages.iter().collect();
    packages.retain(|package| names.is_empty() || names.iter().any(|name| is_called(package, name)));
    packages.sort_by_key(|package| package.folder());
    Ok(packages)
}

/// The interpreter for tests in Python, if one of these crates has any and it can be had.
fn prepare_python(report: &mut Report, workspace: &Workspace, packages: &[&Package]) -> Option<PathBuf> {
    if !python::needed_by(packages) {
        return None;
    }
    announce("python");
    let began = Instant::now();
    let (interpreter, failure) = match python::prepare(workspace) {
        Ok(interpreter) => (Some(interpreter), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    report.push(Row::step("python", began.elapsed(), failure));
    interpreter
}

/// Sees to it that the test which watches the program from outside can do so.
fn prepare_strace(report: &mut Report, packages: &[&Package]) {
    if strace::needed_by(packages) {
        announce("strace");
        let began = Instant::now();
        let failure = strace::prepare().err().map(|error| format!("{error:#}"));
        report.push(Row::step("strace", began.elapsed(), failure));
    }
}

/// Builds all tests before the first of them runs. `None`, and a line in the report, when they do not compile.
fn build_tests(report: &mut Report, packages: &[&Package], everything: bool) -> Result<Option<Vec<TestBinary>>> {
    announce("build");
    let selection: Vec<&str> = if everything {
        vec!["--workspace"]
    } else {
        packages.iter().flat_map(|package| ["--package", &package.name]).collect()
    };
    let began = Instant::now();
    let binaries = build::tests(&selection)?;
    let failure = binaries.is_none().then(|| "the tests do not compile".to_owned());
    report.push(Row::step("build", began.elapsed(), failure));
    Ok(binaries)
}

fn clippy() -> Command {
    let mut command = cargo();
    command.args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    command
}

/// Runs a step that is not a suite of tests.
fn check(report: &mut Report, name: &str, mend: &str, step: impl FnOnce() -> Result<bool>) -> Result<()> {
    announce(name);
    let began = Instant::now();
    let good = step()?;
    report.push(Row::step(name, began.elapsed(), (!good).then(|| mend.to_owned())));
    Ok(())
}

fn announce(step: &str) {
    eprintln!("==> {step}");
}
