//! Totals of what was tried and checked.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use serde::Deserialize;

/// Counts of the checker in one run, by its own names.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Count(BTreeMap<String, u64>);

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rounds: u64,
    /// Kills at a random instant.
    pub(super) kills: u64,
    /// Processes that ended after a signal at a random instant, or by themselves just before it.
    pub(super) signals: u64,
    /// Kills at a named point.
    pub(super) crashes: u64,
    /// Times that two processes resumed one task at once.
    pub(super) races: u64,
    /// Acts of other processes on tasks of a run.
    pub(super) errands: u64,
    pub(super) checks: u64,
    /// Sum over the runs that had ended.
    pub(super) count: Count,
}

impl Tally {
    /// Ends at a random instant.
    pub(super) fn deaths(&self) -> u64 {
        self.kills + self.signals
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        for (what, number) in other.0 {
            *self.0.entry(what).or_default() += number;
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.kills += other.kills;
        self.signals += other.signals;
        self.crashes += other.crashes;
        self.races += other.races;
        self.errands += other.errands;
        self.checks += other.checks;
        self.count += other.count;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, kills, signals, crashes, races, errands, checks, count } = self;
        writeln!(
            f,
            "{rounds} rounds, {kills} kills and {signals} signals at random instants, {crashes} kills at named points, \
             {races} races of two, {errands} errands, {checks} checks"
        )?;
        write!(f, "{count}")
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted: Vec<String> =
            self.0.iter().map(|(what, number)| format!("{} {number}", what.replace('_', " "))).collect();
        f.write_str(&counted.join(", "))
    }
}
