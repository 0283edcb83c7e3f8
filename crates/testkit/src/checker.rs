//! What must be true of a run however often it was killed: held against what it left behind.
//!
//! The evidence is plain data, gathered by [`Evidence::gather`] from a folder or made by hand in a test. Findings name
//! the invariant that they break. It looks at traces only; it starts, kills and mends nothing.

mod calls;
mod delivery;
mod evidence;
mod index;
mod kept;
mod mail;
mod processes;
mod requests;
mod tree;

pub use evidence::{Evidence, EvidenceError, Kept, TaskLog, Version};
pub use processes::left_below;

use serde::Serialize;

/// What a check came to.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// One line for each breach, beginning with the invariant: `N3 …`.
    pub breaches: Vec<String>,
    pub count: Count,
}

/// How much there was to be checked, so that nobody takes an empty run for a good one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    pub tasks: u64,
    pub events: u64,
    /// Events that were shown outside of the process, and so had to be in the journal.
    pub shown: u64,
    pub calls: u64,
    /// Calls that were told as unknown.
    pub unknown: u64,
    pub effects: u64,
    /// Changes of files that were told as done, and are there.
    pub changes: u64,
    /// Files that were there before the run, and are.
    pub kept: u64,
    pub requests: u64,
    pub takeovers: u64,
    pub follow_ups: u64,
    /// Legs that somebody has stopped.
    pub stops: u64,
    pub releases: u64,
    pub adoptions: u64,
    /// Times that a task had nothing to do but to wait.
    pub parked: u64,
    /// Reports that their readers did not wait for.
    pub reports_by_mail: u64,
    pub messages: u64,
    /// Messages of the person of which something was told.
    pub receipts: u64,
    pub questions: u64,
    pub answers: u64,
}

/// Whether the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It was killed and may go on: what is there must be right, and some may be missing.
    Killed,
    /// It has come to its end: nothing may be missing.
    Ended,
}

/// Checks all invariants that the evidence can show.
pub fn check(evidence: &Evidence, stage: Stage) -> Findings {
    let mut findings = Findings::default();
    let index = index::Index::new(evidence);
    tree::check(evidence, &index, stage, &mut findings);
    delivery::check(evidence, &index, stage, &mut findings);
    mail::check(evidence, &index, stage, &mut findings);
    calls::check(evidence, stage, &mut findings);
    kept::check(evidence, &mut findings);
    requests::check(evidence, stage, &mut findings);
    for path in &evidence.strays {
        findings.breach(format!("N6 nobody asked for {path}"));
    }
    findings
}

impl Findings {
    fn breach(&mut self, what: String) {
        self.breaches.push(what);
    }

    fn expect(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.breach(otherwise());
        }
    }
}
