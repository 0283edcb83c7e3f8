//! Finds out which walls work on this machine, by building them.

use std::path::Path;

use crate::process::ending::How;
use crate::process::launch::Program;
use crate::process::output::OutputCaps;
use crate::process::running::spawn;
use crate::system;
use crate::walls::Environment;
use crate::walls::Shell;
use crate::walls::{Tier, Walls};

/// Walls that work, and walls that do not.
#[derive(Debug)]
pub struct Probe {
    /// The strongest tier in which a command has run.
    pub tier: Tier,
    /// The kernel's version of Landlock; 0 for none.
    pub landlock: u32,
    pub missing: Vec<Missing>,
}

/// A tier in which nothing could be run.
#[derive(Debug)]
pub struct Missing {
    pub tier: Tier,
    pub why: String,
}

/// Runs `true` in the strongest walls, then in weaker ones, until it works.
pub fn probe(program: &Program) -> Probe {
    let mut missing = Vec::new();
    let mut standing = Tier::None;
    for tier in [Tier::Namespaces, Tier::Landlock] {
        match run_true(program, tier) {
            Ok(()) => {
                standing = tier;
                break;
            }
            Err(why) => missing.push(Missing { tier, why }),
        }
    }
    Probe { tier: standing, landlock: system::landlock_version(), missing }
}

fn run_true(program: &Program, tier: Tier) -> Result<(), String> {
    let shell = Shell {
        command: "true",
        directory: Path::new("/"),
        environment: &Environment::scrubbed([], &[]),
        deadline: None,
    };
    let running = spawn(program, tier, &Walls::reading("/".into()), &shell).map_err(|error| in_full(&error))?;
    match running.finish(OutputCaps { unspilled: 0, spill: None }, &mut |_| {}) {
        Ok(ended) if ended.how == How::Exited { code: 0 } => Ok(()),
        Ok(ended) => Err(format!("`true` ended with {:?}", ended.how)),
        Err(error) => Err(error.to_string()),
    }
}

fn in_full(error: &dyn std::error::Error) -> String {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}")
}
