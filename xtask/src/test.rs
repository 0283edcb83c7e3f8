//! `cargo xtask test`: everything that must hold, each step timed, and a summary of where the time went.
//!
//! It installs what the tests need, builds all of them once, and then runs them crate by crate, so that building is
//! not charged to a suite. A failing step does not hide the next one: all steps run.

mod build;
mod libtest;
mod python;
mod report;
mod suite;

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use self::report::{Report, Row};
use crate::workspace::{Package, Workspace, cargo};
use crate::{Verdict, process, tidy};

/// Runs everything, or the suites of the named crates only.
pub(crate) fn run(names: &[String]) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let packages = select(&workspace, names)?;
    let mut report = Report::default();
    if names.is_empty() {
        check(&mut report, "format", "run `cargo fmt --all`", || {
            process::succeeds(cargo().args(["fmt", "--all", "--check"]))
        })?;
        check(&mut report, "tidy", "see what it says above", || Ok(tidy::run()? == Verdict::Good))?;
        check(&mut report, "clippy", "mend what it says above", || process::succeeds(&mut clippy()))?;
    }
    let python = python::needed_by(&packages).then(|| {
        let began = Instant::now();
        let python = python::prepare(&workspace);
        report.push(Row::step("python", began.elapsed(), python.as_ref().err().map(|error| format!("{error:#}"))));
        python.ok()
    });

    let selection = select_arguments(&packages, names);
    let began = Instant::now();
    let binaries = build::tests(&selection)?;
    let failure = binaries.is_none().then(|| "the tests do not compile".to_owned());
    report.push(Row::step("build", began.elapsed(), failure));

    for package in binaries.iter().flat_map(|_| &packages) {
        announce(package.folder());
        let binaries = binaries.iter().flatten().filter(|binary| binary.package == package.id);
        report.push(suite::run(package, binaries, python.as_ref().and_then(Option::as_deref))?);
    }
    if names.is_empty() {
        let mut examples = cargo();
        examples.args(["build", "--quiet", "--workspace", "--examples"]);
        check(&mut report, "examples", "they must compile", || process::succeeds(&mut examples))?;
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

/// How the selection is said to cargo.
fn select_arguments(packages: &[&Package], names: &[String]) -> Vec<String> {
    if names.is_empty() {
        return vec!["--workspace".to_owned()];
    }
    packages.iter().flat_map(|package| ["--package".to_owned(), package.name.clone()]).collect()
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
