//! `cargo xtask test`, everything that must hold, and `cargo xtask quick`, the part of it that takes two minutes.
//!
//! Each step is timed. Tests are built before the first of them runs, so that no suite is charged for building. All
//! steps run, even after one has failed.

mod report;
mod suite;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use sortie_workshop::page::{self, Marks};
use sortie_workshop::{
    Package, TestBinary, Verdict, Workspace, build_tests, cargo, install_if_missing, process, python,
};

use self::report::{Report, Row};
use self::suite::Extent;
pub(crate) use self::suite::fewer_cases;
use crate::{program, tidy};

/// The page that says where the time goes, and its two tables.
const TIMES: &str = "docs/test-times.md";
const TEST_TIMES: Marks =
    Marks { begin: "<!-- test: written by `cargo xtask test --write` -->", end: "<!-- end of test -->" };
const QUICK_TIMES: Marks =
    Marks { begin: "<!-- quick: written by `cargo xtask quick --write` -->", end: "<!-- end of quick -->" };

/// The crate whose tests start the program, thousands of times.
const SLOW: &str = "cli";

/// The test of the cli that needs `strace`. It is for Linux alone, like the program.
const TRACED: &str = "tests/it/hostile.rs";

/// `[SUITE...]`: everything, or the suites of these crates only. `[--write]`: everything, and the table of its times.
pub(crate) fn run(words: &[String]) -> Result<Verdict> {
    let write = words == ["--write"];
    let names = if write { &[] } else { words };
    if names.iter().any(|name| name.starts_with('-')) {
        return Ok(Verdict::WrongUsage);
    }
    let workspace = Workspace::load()?;
    let packages = select(&workspace, names)?;
    let everything = names.is_empty();
    let mut report = Report::default();
    if everything {
        checks(&mut report)?;
    }
    suites(&mut report, &workspace, &packages, if everything { Extent::Everything } else { Extent::Named })?;
    if everything {
        report.check("examples", "they must compile", || {
            process::succeeds(cargo().args(["build", "--quiet", "--workspace", "--examples"]))
        })?;
        trial(&mut report, "mutants", &[], "a guard can be taken out and nobody notices")?;
        trial(&mut report, "crash", &[], "something was lost, done twice or left behind")?;
        trial(&mut report, "fuzz", &["--fixed"], "an input broke a reader")?;
        trial(&mut report, "mcp", &[], "a program by others and ours do not understand each other")?;
    }
    if packages.iter().any(|package| package.has_library()) {
        announce("doc tests");
        report.push(suite::run_doc_tests(&packages)?);
    }
    finish(&workspace, &report, write.then_some(TEST_TIMES))
}

/// `[--write]`: puts the table of its times into the documentation.
pub(crate) fn quick(words: &[String]) -> Result<Verdict> {
    let write = words == ["--write"];
    if !write && !words.is_empty() {
        return Ok(Verdict::WrongUsage);
    }
    let workspace = Workspace::load()?;
    let mut packages = select(&workspace, &[])?;
    packages.retain(|package| package.folder() != SLOW);
    let mut report = Report::default();
    checks(&mut report)?;
    suites(&mut report, &workspace, &packages, Extent::Quick)?;
    finish(&workspace, &report, write.then_some(QUICK_TIMES))
}

/// Prints the report, and writes its table between these marks.
fn finish(workspace: &Workspace, report: &Report, marks: Option<Marks>) -> Result<Verdict> {
    print!("{report}");
    if let Some(marks) = marks.filter(|_| report.is_good()) {
        page::write(&workspace.root.join(TIMES), marks, &report.markdown())?;
    }
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

/// Checks that read the sources and run no tests.
fn checks(report: &mut Report) -> Result<()> {
    report.check("format", "run `cargo fmt --all`", || process::succeeds(cargo().args(["fmt", "--all", "--check"])))?;
    report.check("tidy", "mend what it says above", || Ok(tidy::run(&[])? == Verdict::Good))?;
    report.check("clippy", "mend what it says above", || process::succeeds(&mut clippy()))
}

/// Installs what the tests of these crates need, builds them, and runs them crate by crate.
fn suites(report: &mut Report, workspace: &Workspace, packages: &[&Package], extent: Extent) -> Result<()> {
    let python = prepare_python(report, workspace, packages);
    if cfg!(target_os = "linux") && packages.iter().any(|package| package.directory().join(TRACED).exists()) {
        report.attempt("strace", prepare_strace);
    }
    let Some(binaries) = build(report, packages, extent)? else { return Ok(()) };
    for package in packages {
        announce(package.folder());
        let binaries = binaries.iter().filter(|binary| binary.package == package.id);
        report.push(suite::run(package, binaries, python.as_deref(), extent)?);
    }
    Ok(())
}

/// The interpreter for tests in Python, if one of these crates has any and the interpreter can be installed.
fn prepare_python(report: &mut Report, workspace: &Workspace, packages: &[&Package]) -> Option<PathBuf> {
    python::needed_by(packages).then(|| report.attempt("python", || python::prepare(workspace))).flatten()
}

/// Installs `strace` where that is possible.
pub(crate) fn prepare_strace() -> Result<()> {
    install_if_missing("strace", "strace", "the tests of the cli")
}

/// Builds all tests before the first of them runs. `None`, and a line in the report, when they do not compile.
fn build(report: &mut Report, packages: &[&Package], extent: Extent) -> Result<Option<Vec<TestBinary>>> {
    announce("build");
    let selection: Vec<&str> = if extent == Extent::Everything {
        vec!["--workspace"]
    } else {
        packages.iter().flat_map(|package| ["--package", &package.name]).collect()
    };
    let began = Instant::now();
    let binaries = build_tests(&selection)?;
    let failure = binaries.is_none().then(|| "the tests do not compile".to_owned());
    report.push(Row::step("build", began.elapsed(), failure));
    Ok(binaries)
}

/// Clippy over the selection of all builds, so that each crate is checked with the features that it is built with.
fn clippy() -> Command {
    let mut command = cargo();
    command.args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    command
}

/// Runs a trial, in its own program.
fn trial(report: &mut Report, name: &str, flags: &[&str], failure: &str) -> Result<()> {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    report.check(name, &format!("{failure}, see above"), || Ok(program::trial(name, &flags)? == Verdict::Good))
}

fn announce(step: &str) {
    eprintln!("==> {step}");
}
