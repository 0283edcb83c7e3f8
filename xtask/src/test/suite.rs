//! One suite: the tests of one crate, run within a budget.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use sortie_workshop::libtest::{self, Count};
use sortie_workshop::process::{self, Finished};
use sortie_workshop::{Package, TestBinary, cargo};

use super::report::Row;
use crate::conformance;

/// Minutes that a suite may take. A suite that needs more is too slow to be run often; make it faster first.
const USUAL_BUDGET: u64 = 5;
// The command line has three binaries of tests, and each of their tests starts the program. Policy decides a million
// calls. The reader of command lines is held against a hundred thousand lines of a real shell.
const BUDGETS: &[(&str, u64)] = &[("cli", 20), ("policy", 10), ("shell-reader", 10)];
/// Building is part of this one: rustdoc compiles as it goes.
const DOC_BUDGET: u64 = 10;

/// Extent of a run of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All tests of all crates.
    Everything,
    /// All tests of some crates.
    Named,
    /// A first answer: without [`LONG`], and with [`QUICK_CASES`].
    Quick,
}

/// Cases of the tests that make their own, in a quick run.
const QUICK_CASES: &str = "10000";
/// Read by the tests that make their own cases.
const CASES: &str = "SORTIE_CASES";
/// Tests that a quick run leaves out: they repeat a run for each step that it can be killed at, or a thousand times.
const LONG: &[(&str, &[&str])] = &[("engine", &["every_event::", "endurance::"])];
/// Threads for each processor in a quick run: most tests wait for something most of the time.
const QUICK_THREADS: usize = 4;

impl Extent {
    fn apply(self, command: &mut Command, folder: &str) {
        if self != Self::Quick {
            return;
        }
        let threads = QUICK_THREADS * std::thread::available_parallelism().map_or(1, usize::from);
        fewer_cases(command);
        command.env("RUST_TEST_THREADS", threads.to_string());
        let long = LONG.iter().filter(|(name, _)| *name == folder).flat_map(|(_, tests)| *tests);
        long.for_each(|tests| _ = command.args(["--skip", tests]));
    }
}

/// Lets tests that generate their cases make only [`QUICK_CASES`].
pub(crate) fn fewer_cases(command: &mut Command) {
    command.env(CASES, QUICK_CASES);
}

/// Runs all binaries of one crate, one after the other.
pub(super) fn run<'a>(
    package: &Package,
    binaries: impl Iterator<Item = &'a TestBinary>,
    python: Option<&Path>,
    extent: Extent,
) -> Result<Row> {
    let budget = budget(package.folder());
    let mut row = Row::suite(package.folder(), budget);
    let mut integration_tests = 0;
    for binary in binaries {
        let mut command = binary.command(package, python);
        extent.apply(&mut command, package.folder());
        let finished = process::within(command, budget.saturating_sub(row.elapsed))?;
        let verdict = judge(&finished, &format!("{} ({})", package.folder(), binary.target), || list(package, binary));
        if binary.target == "it" {
            integration_tests = verdict.count.passed + verdict.count.failed;
        }
        if !verdict.failures.is_empty() {
            println!("{}", finished.output);
        }
        row.elapsed += finished.elapsed;
        row.count += verdict.count;
        row.failures.extend(verdict.failures);
        if binary.target == conformance::TARGET {
            let root = package.directory().join("../..");
            let findings = conformance::findings(&root, &finished.output)?;
            row.failures.extend(findings.into_iter().map(|finding| format!("conformance: {finding}")));
        }
    }
    row.failures.extend(emptiness(package, row.count, integration_tests));
    Ok(row)
}

/// The examples in the documentation of these crates.
pub(super) fn run_doc_tests(packages: &[&Package]) -> Result<Row> {
    let budget = Duration::from_mins(DOC_BUDGET);
    let mut command = cargo();
    command.args(["test", "--doc", "--no-fail-fast"]);
    for package in packages.iter().filter(|package| package.has_library()) {
        command.args(["--package", &package.name]);
    }
    let finished = process::within(command, budget)?;
    let verdict = judge(&finished, "doc tests", Vec::new);
    if !verdict.failures.is_empty() {
        println!("{}", finished.output);
    }
    let mut row = Row::suite("doc tests", budget);
    row.elapsed = finished.elapsed;
    row.count = verdict.count;
    row.failures = verdict.failures;
    Ok(row)
}

fn budget(folder: &str) -> Duration {
    let minutes = BUDGETS.iter().find(|(name, _)| *name == folder).map_or(USUAL_BUDGET, |&(_, minutes)| minutes);
    Duration::from_mins(minutes)
}

/// All tests of a binary, so that those which did not end can be named.
fn list(package: &Package, binary: &TestBinary) -> Vec<String> {
    let output = process::stdout_of(binary.command(package, None).arg("--list")).unwrap_or_default();
    libtest::listed(&output).map(str::to_owned).collect()
}

struct Judgement {
    count: Count,
    failures: Vec<String>,
}

/// Judges a finished run. Calls `list` only if the runner did not get to its end.
fn judge(finished: &Finished, who: &str, list: impl FnOnce() -> Vec<String>) -> Judgement {
    let output = &finished.output;
    let mut failures: Vec<String> =
        libtest::tests_that_were("FAILED", output).map(|test| format!("{who}: {test}")).collect();
    let totals = libtest::totals(output).filter(|_| !finished.overran);
    let count = totals.unwrap_or_else(|| Count {
        passed: libtest::tests_that_were("ok", output).count() as u64,
        // The run itself failed, in addition to its tests.
        failed: failures.len() as u64 + 1,
        ignored: 0,
    });
    if totals.is_none() {
        let ended: HashSet<&str> =
            ["ok", "FAILED", "ignored"].iter().flat_map(|verdict| libtest::tests_that_were(verdict, output)).collect();
        let unfinished: Vec<String> = list().into_iter().filter(|test| !ended.contains(test.as_str())).collect();
        let why =
            if finished.overran { "killed: its budget is used up".to_owned() } else { finished.status.to_string() };
        failures.push(format!("{who}: did not get to its end ({why}); not ended: {}", unfinished.join(", ")));
    } else if !finished.status.success() && count.failed == 0 {
        failures.push(format!("{who}: {} although no test failed", finished.status));
    }
    if count.ignored > 0 {
        failures.push(format!("{who}: {} tests are ignored; run them or delete them", count.ignored));
    }
    Judgement { count, failures }
}

/// Refuses a suite that tests nothing: nobody would notice.
fn emptiness(package: &Package, count: Count, integration_tests: u64) -> Option<String> {
    let folder = package.folder();
    if package.directory().join("tests/it/main.rs").exists() && integration_tests == 0 {
        return Some(format!("{folder}: tests/it is there, but none of its tests ran"));
    }
    let empty = count.passed + count.failed == 0;
    empty.then(|| format!("{folder}: no test ran"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn finished(output: &str, wait_status: i32, overran: bool) -> Finished {
        let status = ExitStatus::from_raw(wait_status);
        Finished { status, output: output.to_owned(), elapsed: Duration::from_secs(1), overran }
    }

    fn judged(finished: &Finished) -> (Count, Vec<String>) {
        let all = || ["a", "b", "c"].map(str::to_owned).to_vec();
        let Judgement { count, failures } = judge(finished, "journal (it)", all);
        (count, failures)
    }

    #[test]
    fn a_good_run_has_no_failures() {
        let output = "test a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(judged(&finished(output, 0, false)), (Count { passed: 1, failed: 0, ignored: 0 }, vec![]));
    }

    #[test]
    fn a_suite_that_was_killed_fails_and_names_what_had_not_ended() {
        let (count, failures) = judged(&finished("test a ... ok\ntest b ... FAILED\n", 9, true));
        assert_eq!(count, Count { passed: 1, failed: 2, ignored: 0 });
        assert_eq!(
            failures,
            ["journal (it): b", "journal (it): did not get to its end (killed: its budget is used up); not ended: c"]
        );
    }

    #[test]
    fn a_suite_that_dies_without_a_word_fails() {
        let (count, failures) = judged(&finished("", 6, false));
        assert_eq!(count.failed, 1);
        assert!(failures[0].ends_with("not ended: a, b, c"), "{failures:?}");
    }

    #[test]
    fn a_bad_exit_without_a_failed_test_is_a_failure() {
        let output = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(judged(&finished(output, 1 << 8, false)).1.len(), 1);
    }

    #[test]
    fn an_ignored_test_is_a_failure() {
        let output = "test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(
            judged(&finished(output, 0, false)).1,
            ["journal (it): 1 tests are ignored; run them or delete them"]
        );
    }

    #[test]
    fn a_crate_whose_tests_do_not_run_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let package = |name: &str| {
            let package: Package = serde_json::from_value(serde_json::json!({
                "id": name, "name": name, "version": "0.1.0", "dependencies": [], "targets": [],
                "manifest_path": folder.path().join(name).join("Cargo.toml"),
            }))
            .unwrap();
            package
        };
        let one = Count { passed: 1, failed: 0, ignored: 0 };
        assert_eq!(emptiness(&package("a"), Count::default(), 0), Some("a: no test ran".to_owned()));
        assert_eq!(emptiness(&package("a"), one, 0), None);

        std::fs::create_dir_all(folder.path().join("a/tests/it")).unwrap();
        std::fs::write(folder.path().join("a/tests/it/main.rs"), "").unwrap();
        let forgotten = Some("a: tests/it is there, but none of its tests ran".to_owned());
        assert_eq!(emptiness(&package("a"), one, 0), forgotten);
        assert_eq!(emptiness(&package("a"), one, 1), None);
    }
}
