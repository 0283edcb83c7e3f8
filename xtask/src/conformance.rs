//! `cargo xtask conformance`: every statement of the five contracts, with the tests that check it.
//!
//! The statements are a list among the cli's tests, and each test names the statements that it checks. A statement that
//! no test checks says what it waits for; otherwise the run fails.

mod claim;
mod page;
mod standing;
mod statement;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use sortie_workshop::{Verdict, Workspace, cargo, libtest, process, python};

use self::page::Page;
use self::statement::Statements;

/// Name of the test binary and of its folder.
pub(crate) const TARGET: &str = "conformance";

const LIST: &str = "crates/cli/tests/conformance/statements.toml";
const PAGE: &str = "docs/conformance.md";
/// Time limit, building included.
const BUDGET: Duration = Duration::from_mins(20);

/// Runs the command. With `--write` it writes the page, but only after a run without a failure.
pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let write = match flags {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Ok(Verdict::WrongUsage),
    };
    let workspace = Workspace::load()?;
    let mut command = cargo();
    command.args(["test", "--quiet", "--package", "sortie", "--test", TARGET, "--", "--format", "pretty"]);
    command.env(python::VARIABLE, python::prepare(&workspace)?);
    let finished = process::within(command, BUDGET)?;
    let totals = libtest::totals(&finished.output);
    if !finished.status.success() {
        print!("{}", finished.output);
    }
    if totals.is_none() {
        println!("the tests did not get to their end");
        return Ok(Verdict::Bad);
    }
    let statements = Statements::read(&workspace.root.join(LIST))?;
    let page = Page::of(&statements, &finished.output);
    print!("{}", page.lines());
    if write && finished.status.success() {
        page.write(&workspace.root.join(PAGE))?;
    }
    let findings = page.findings(&workspace.root.join(PAGE))?;
    for finding in &findings {
        println!("failed: {finding}");
    }
    Ok(Verdict::good_if(findings.is_empty() && finished.status.success()))
}

/// Checks the table after a run of the test binary that wrote this output.
pub(crate) fn findings(root: &Path, output: &str) -> Result<Vec<String>> {
    let statements = Statements::read(&root.join(LIST))?;
    Page::of(&statements, output).findings(&root.join(PAGE))
}
