//! `cargo xtask mutants`: each guard is taken out, one at a time, and the test that stands for it must turn red.
//!
//! One extra build has all guards with a switch, in a folder of its own below the usual one; nothing else is built with
//! it. A test that does not notice proves nothing, and neither does one that is red with all guards in place.

mod list;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use sortie_workshop::process::{self, Finished};
use sortie_workshop::{Package, TestBinary, Verdict, Workspace, built, cargo, libtest};

use self::list::{MUTANTS, Mutant, Suite};

/// Far more than any of the tests takes; one that hangs proves nothing.
const BUDGET: Duration = Duration::from_mins(2);

/// Names the guard that is out, to the program and to tests of crates. It is not named like a setting, or the
/// program would warn about it.
const VARIABLE: &str = "MUTANT_OF_SORTIE";

/// Tries the guards with these names, or all.
pub(crate) fn run(names: &[String]) -> Result<Verdict> {
    match chosen(names) {
        Some(mutants) => Ok(Verdict::good_if(all_are_noticed(&Workspace::load()?, &mutants)?)),
        None => Ok(Verdict::WrongUsage),
    }
}

/// The guards with these names, or all without a name; `None` if a name is not on the list.
fn chosen(names: &[String]) -> Option<Vec<Mutant>> {
    if names.is_empty() {
        return Some(MUTANTS.to_vec());
    }
    names.iter().map(|name| MUTANTS.iter().find(|mutant| mutant.guard == name).copied()).collect()
}

/// True if every guard of the code is listed, and a test notices when one of `mutants` is out. Otherwise prints the
/// findings.
fn all_are_noticed(workspace: &Workspace, mutants: &[Mutant]) -> Result<bool> {
    let strays = strays(&workspace.root)?;
    for stray in &strays {
        println!("{stray}");
    }
    let suites: Vec<Suite> =
        Suite::ALL.into_iter().filter(|suite| mutants.iter().any(|mutant| mutant.suite == *suite)).collect();
    let Some(binaries) = build(workspace, &suites)? else { return Ok(false) };
    if !all_are_green(workspace, &binaries, &suites, mutants)? {
        return Ok(false);
    }
    println!("\n{:<18} {:>7}  the test that must notice", "guard", "seconds");
    let mut good = strays.is_empty();
    for mutant in mutants {
        let mut command = command_of(workspace, &binaries, mutant.suite)?;
        command.args(["--exact", mutant.test]).env(VARIABLE, mutant.guard);
        let finished = process::within(command, BUDGET)?;
        let noticed = is_red(&finished, mutant);
        good &= noticed;
        let seconds = finished.elapsed.as_secs_f64();
        let mark = if noticed { "" } else { "  NOT NOTICED" };
        println!("{:<18} {seconds:>7.1}  {}{mark}", mutant.guard, mutant.test);
        if !noticed {
            println!("{}", finished.output);
        }
    }
    let verdict = if good { "each is noticed" } else { "see above" };
    println!("{} guards: {verdict}", mutants.len());
    Ok(good)
}

/// Builds the program and the suites with switches at all guards; `None` when that does not compile.
fn build(workspace: &Workspace, suites: &[Suite]) -> Result<Option<Vec<TestBinary>>> {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut binaries = Vec::new();
    for suite in suites {
        let (package, target) = suite.target();
        let mut command = cargo();
        command
            .args(["test", "--package", package, "--test", target, "--target-dir"])
            .arg(workspace.target.join("mutants"))
            .env("RUSTFLAGS", format!("{flags} --cfg sortie_mutants").trim())
            // Nobody debugs it, and without debug information it is a third of the size.
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        match built(&mut command)? {
            Some(built) => binaries.extend(built),
            None => return Ok(None),
        }
    }
    Ok(Some(binaries))
}

/// True if every test passes while no guard is out.
fn all_are_green(workspace: &Workspace, binaries: &[TestBinary], suites: &[Suite], mutants: &[Mutant]) -> Result<bool> {
    for &suite in suites {
        let tests: BTreeSet<&str> =
            mutants.iter().filter(|mutant| mutant.suite == suite).map(|mutant| mutant.test).collect();
        let mut command = command_of(workspace, binaries, suite)?;
        command.arg("--exact").args(&tests);
        let finished = process::within(command, BUDGET)?;
        let passed = libtest::totals(&finished.output).map_or(0, |count| count.passed);
        if !finished.status.success() || passed != tests.len() as u64 {
            println!("{}", finished.output);
            println!("{passed} of {} tests are green with every guard in its place", tests.len());
            return Ok(false);
        }
    }
    Ok(true)
}

fn command_of(workspace: &Workspace, binaries: &[TestBinary], suite: Suite) -> Result<Command> {
    let (name, target) = suite.target();
    let package: &Package =
        workspace.packages.iter().find(|package| package.name == name).with_context(|| format!("no crate {name}"))?;
    let is_it = |binary: &&TestBinary| binary.package == package.id && binary.target == target;
    let binary = binaries.iter().find(is_it).with_context(|| format!("cargo built no {target} of {name}"))?;
    Ok(binary.command(package, None))
}

/// True if the one test ran and failed, and nothing else happened.
fn is_red(finished: &Finished, mutant: &Mutant) -> bool {
    let failed: Vec<&str> = libtest::tests_that_were("FAILED", &finished.output).collect();
    !finished.overran && failed == [mutant.test]
}

/// Guards in the code that no test stands for, and guards on the list that no code has.
fn strays(root: &Path) -> Result<Vec<String>> {
    let mut named = BTreeSet::new();
    for source in sources(&root.join("crates"))? {
        named.extend(guards_in(&std::fs::read_to_string(source)?));
    }
    let listed: BTreeSet<String> = MUTANTS.iter().map(|mutant| mutant.guard.to_owned()).collect();
    let unproved = named.difference(&listed).map(|guard| format!("the guard `{guard}` is not on the list of mutants"));
    let absent =
        listed.difference(&named).map(|guard| format!("the guard `{guard}` on the list is nowhere in the code"));
    Ok(unproved.chain(absent).collect())
}

/// The Rust files of all crates' `src`, but for the one crate that defines the switch.
fn sources(crates: &Path) -> Result<Vec<PathBuf>> {
    let mut ahead = Vec::new();
    for krate in std::fs::read_dir(crates)? {
        let krate = krate?;
        ahead.extend((krate.file_name() != "mutant").then(|| krate.path().join("src")));
    }
    let mut files = Vec::new();
    while let Some(path) = ahead.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                ahead.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn guards_in(text: &str) -> impl Iterator<Item = String> {
    text.split("is_out(\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn finished(output: &str, overran: bool) -> Finished {
        Finished { status: ExitStatus::from_raw(0), output: output.to_owned(), elapsed: Duration::ZERO, overran }
    }

    #[test]
    fn only_the_test_itself_can_notice() {
        let mutant = &MUTANTS[0];
        let red = format!("test {} ... FAILED\n", mutant.test);
        assert!(is_red(&finished(&red, false), mutant));
        assert!(!is_red(&finished(&red, true), mutant), "it hangs");
        assert!(!is_red(&finished(&red.replace("FAILED", "ok"), false), mutant));
        assert!(!is_red(&finished("", false), mutant), "no such test");
    }

    #[test]
    fn guards_are_chosen_by_their_names() {
        let name = |at: usize| MUTANTS[at].guard.to_owned();
        assert_eq!(chosen(&[]), Some(MUTANTS.to_vec()));
        assert_eq!(chosen(&[name(3), name(1)]), Some(vec![MUTANTS[3], MUTANTS[1]]));
        assert_eq!(chosen(&[name(0), "no guard".to_owned()]), None);
    }

    #[test]
    fn no_guard_is_listed_twice() {
        let guards: BTreeSet<&str> = MUTANTS.iter().map(|mutant| mutant.guard).collect();
        assert_eq!(guards.len(), MUTANTS.len());
    }

    #[test]
    fn the_list_the_code_and_the_page_agree() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!(strays(&root).unwrap(), [""; 0]);
        let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
        let told: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(guard, _)| guard).collect();
        let listed: Vec<&str> = MUTANTS.iter().map(|mutant| mutant.guard).collect();
        assert_eq!(told, listed);
    }
}
