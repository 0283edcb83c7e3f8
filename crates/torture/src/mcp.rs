//! `cargo xtask mcp`: whether programs by others that speak the Model Context Protocol understand ours, and ours
//! theirs.
//!
//! The official conformance suite judges our HTTP layer by a fixture that has what it expects, and `sortie mcp` itself.
//! Official clients use `sortie mcp`, and our agents use reference servers. What a scenario of the suite finds and may
//! find stands in a list with its reason. Nothing of the program is linked here.

mod exceptions;
mod foreign;
mod inspector;
mod place;
mod python_sdk;
mod reference;
mod served;
mod suite;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use sortie_workshop::{Verdict, Workspace, python};

use self::exceptions::Exceptions;
use self::foreign::Foreign;
use self::place::Programs;

/// All that the parts need.
struct Stage {
    programs: Programs,
    foreign: Foreign,
    python: PathBuf,
    /// Folder of our own programs in Python.
    scripts: PathBuf,
}

/// Findings of one part, each in one line.
type Findings = Vec<String>;
type Part = fn(&Stage) -> Result<Findings>;

/// Parts besides the suite.
const PARTS: [(&str, Part); 3] = [
    ("Inspector", inspector::findings),
    ("Python SDK", python_sdk::findings),
    ("reference servers", reference::findings),
];

/// `[--write]`: puts the list of what does not apply into the documentation.
pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    match flags {
        [] => Ok(Verdict::good_if(all_understand(&workspace)?)),
        [flag] if flag == "--write" => {
            Exceptions::read(&workspace.root)?.write(&workspace.root)?;
            Ok(Verdict::Good)
        }
        _ => Ok(Verdict::WrongUsage),
    }
}

/// True if all programs understand each other. Otherwise the findings are on the screen.
fn all_understand(workspace: &Workspace) -> Result<bool> {
    let exceptions = Exceptions::read(&workspace.root)?;
    let Some(programs) = Programs::build(workspace)? else { return Ok(false) };
    let foreign = Foreign::prepare(workspace)?;
    let scripts = workspace.root.join("crates/mcp/tests/python");
    let stage = Stage { programs, foreign, python: python::prepare(workspace)?, scripts };
    let mut good = tell("page", Instant::now(), &exceptions.page_findings(&workspace.root));
    let began = Instant::now();
    good &= tell("conformance suite", began, &suite::findings(&stage, &exceptions)?);
    for (name, part) in PARTS {
        let began = Instant::now();
        good &= tell(name, began, &part(&stage)?);
    }
    Ok(good)
}

/// Prints the findings of a part. True if there are none.
fn tell(part: &str, began: Instant, findings: &[String]) -> bool {
    for finding in findings {
        println!("{part}: {finding}");
    }
    println!(
        "{part}: {:.1} s, {}",
        began.elapsed().as_secs_f64(),
        if findings.is_empty() { "good" } else { "see above" }
    );
    findings.is_empty()
}
