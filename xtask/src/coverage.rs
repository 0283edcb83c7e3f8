//! `cargo xtask coverage`: the lines of the workspace that its tests run, measured by `cargo-llvm-cov`.
//!
//! All crates count, even those for tests and contributors; files below `tests/` do not. Tests that generate their
//! cases make fewer of them: a line is run by the first cases or by none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use sortie_workshop::page::{self, Marks};
use sortie_workshop::{Verdict, Workspace, install_crate, libtest, process, python};

use crate::test::{fewer_cases, prepare_strace};

const VERSION: &str = "0.9.1";
/// Time of all tests together.
const BUDGET: Duration = Duration::from_mins(35);
/// Percent of the lines that the tests run at least.
const TARGET: f64 = 80.0;
/// A few files for each program, which its runs share: there are thousands of runs. Tests that start a program in an
/// empty environment pass on the variable that cargo-llvm-cov makes of this.
const PROFILES: &str = "sortie-%4m.profraw";

/// The page with the table of coverage.
const PAGE: &str = "docs/test-times.md";
const MARKS: Marks =
    Marks { begin: "<!-- coverage: written by `cargo xtask coverage --write` -->", end: "<!-- end of coverage -->" };

/// Runs all tests instrumented and prints the table. `[--write]`: puts it into the documentation. Bad if too few lines
/// were run. `cargo xtask test` judges the tests themselves. Instrumented, some are too slow for their time limits.
pub(crate) fn run(words: &[String]) -> Result<Verdict> {
    let write = words == ["--write"];
    if !write && !words.is_empty() {
        return Ok(Verdict::WrongUsage);
    }
    let workspace = Workspace::load()?;
    if !process::succeeds(Command::new("rustup").args(["--quiet", "component", "add", "llvm-tools"]))? {
        bail!("coverage needs the toolchain's own LLVM tools: `rustup component add llvm-tools`");
    }
    let program = install_crate(&workspace.target, "cargo-llvm-cov", VERSION, "cargo-llvm-cov")?;
    prepare_strace()?;
    let mut tests = Command::new(&program);
    tests
        .args(["llvm-cov", "test", "--workspace", "--tests", "--no-fail-fast", "--no-report"])
        .env("LLVM_PROFILE_FILE_NAME", PROFILES)
        .env(python::VARIABLE, python::prepare(&workspace)?);
    fewer_cases(&mut tests);
    let finished = process::within(tests, BUDGET)?;
    if !finished.status.success() || finished.overran {
        let failed: Vec<&str> = libtest::tests_that_were("FAILED", &finished.output).collect();
        println!("coverage: the instrumented tests did not all pass: {}, {}", finished.status, failed.join(", "));
    }

    let mut summary = Command::new(&program);
    summary.args(["llvm-cov", "report", "--json", "--summary-only"]);
    let coverage = Coverage::of(&workspace.root, &serde_json::from_str(&process::stdout_of(&mut summary)?)?)?;
    print!("{}", coverage.markdown());
    if write {
        page::write(&workspace.root.join(PAGE), MARKS, &coverage.markdown())?;
    }
    let share = coverage.total().percent();
    if share < TARGET {
        println!("coverage: the tests run {share:.1}% of the lines; at least {TARGET}% are asked for");
    }
    Ok(Verdict::good_if(share >= TARGET))
}

#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    all: u64,
    run: u64,
}

impl Lines {
    fn percent(self) -> f64 {
        100.0 * self.run as f64 / self.all.max(1) as f64
    }

    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.run += other.run;
    }
}

/// Lines of each crate, by its folder.
#[derive(Debug)]
struct Coverage(BTreeMap<String, Lines>);

impl Coverage {
    /// Reads the summary that `cargo llvm-cov report --json` prints.
    fn of(root: &Path, summary: &Value) -> Result<Self> {
        let files = summary["data"][0]["files"].as_array().context("the summary of coverage names no files")?;
        let mut crates: BTreeMap<String, Lines> = BTreeMap::new();
        for file in files {
            let name = file["filename"].as_str().context("a file of the summary has no name")?;
            let path = Path::new(name).strip_prefix(root).unwrap_or(Path::new(name));
            let folder = path.strip_prefix("crates").unwrap_or(path).iter().next();
            let count =
                |key: &str| file["summary"]["lines"][key].as_u64().context("a file of the summary has no lines");
            let lines = Lines { all: count("count")?, run: count("covered")? };
            crates.entry(folder.unwrap_or_default().to_string_lossy().into_owned()).or_default().add(lines);
        }
        Ok(Self(crates))
    }

    fn total(&self) -> Lines {
        let mut total = Lines::default();
        self.0.values().for_each(|&lines| total.add(lines));
        total
    }

    fn markdown(&self) -> String {
        let mut table = "| crate | lines | run by tests |\n| --- | ---: | ---: |\n".to_owned();
        let total = ("all".to_owned(), self.total());
        for (name, lines) in self.0.iter().chain([(&total.0, &total.1)]) {
            // Writing to a string cannot fail.
            writeln!(table, "| {name} | {} | {:.1}% |", lines.all, lines.percent()).ok();
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_added_up_by_crate() {
        let file = |name: &str, count: u64, covered: u64| json!({ "filename": name, "summary": { "lines": { "count": count, "covered": covered } } });
        let files = [
            file("/repository/crates/engine/src/run.rs", 100, 90),
            file("/repository/crates/engine/src/gate.rs", 100, 81),
            file("/repository/xtask/src/main.rs", 10, 4),
        ];
        let coverage = Coverage::of(Path::new("/repository"), &json!({ "data": [{ "files": files }] })).unwrap();
        expect![[r#"
            | crate | lines | run by tests |
            | --- | ---: | ---: |
            | engine | 200 | 85.5% |
            | xtask | 10 | 40.0% |
            | all | 210 | 83.3% |
        "#]]
        .assert_eq(&coverage.markdown());
    }

    #[test]
    fn a_summary_without_files_is_an_error() {
        assert!(Coverage::of(Path::new("/repository"), &json!({})).is_err());
    }
}
