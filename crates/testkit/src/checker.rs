//! Invariants of a run, however often it was killed, checked against the traces that it left.
//!
//! The evidence is plain data, collected by [`Evidence::gather`] from a folder or built by a test. Findings name the
//! invariant that was broken. The checker only reads traces; it starts, kills and repairs nothing.

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

/// Result of a check.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// One line for each breach, beginning with the invariant: `N3 …`.
    pub breaches: Vec<String>,
    pub count: Count,
}

/// Amount of checked material, so that an empty run is not mistaken for a good one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    pub tasks: u64,
    pub events: u64,
    /// Events shown outside the process, which must therefore be in the journal.
    pub shown: u64,
    pub calls: u64,
    /// Calls reported as unknown.
    pub unknown: u64,
    pub effects: u64,
    /// File changes reported as done, and present.
    pub changes: u64,
    /// Files that existed before the run, and still do.
    pub kept: u64,
    pub requests: u64,
    pub takeovers: u64,
    pub follow_ups: u64,
    /// Legs stopped by somebody.
    pub stops: u64,
    pub releases: u64,
    pub adoptions: u64,
    /// Times that a task had nothing to do but wait.
    pub parked: u64,
    /// Reports that their readers did not wait for.
    pub reports_by_mail: u64,
    pub messages: u64,
    /// The person's messages with a receipt.
    pub receipts: u64,
    pub questions: u64,
    pub answers: u64,
}

/// Stage of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It was killed and may continue: everything present must be right, and some may be missing.
    Killed,
    /// It has ended: nothing may be missing.
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
