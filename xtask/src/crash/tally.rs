//! How much was tried, and how much of it was checked.

use std::fmt;
use std::ops::AddAssign;

use serde::Deserialize;

/// What a checker counted in one run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Count {
    tasks: u64,
    events: u64,
    shown: u64,
    calls: u64,
    unknown: u64,
    effects: u64,
    /// Changes of files that were told as done, and are there.
    changes: u64,
    /// Files that were there before a run.
    kept: u64,
    requests: u64,
    takeovers: u64,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rounds: u64,
    /// Kills at a random instant.
    pub(super) kills: u64,
    /// Kills at a named point.
    pub(super) crashes: u64,
    /// Times that two processes went on with one task at once.
    pub(super) races: u64,
    pub(super) checks: u64,
    /// Of runs that had come to their end.
    pub(super) count: Count,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.events += other.events;
        self.shown += other.shown;
        self.calls += other.calls;
        self.unknown += other.unknown;
        self.effects += other.effects;
        self.changes += other.changes;
        self.kept += other.kept;
        self.requests += other.requests;
        self.takeovers += other.takeovers;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.kills += other.kills;
        self.crashes += other.crashes;
        self.races += other.races;
        self.checks += other.checks;
        self.count += other.count;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { tasks, events, shown, calls, unknown, effects, changes, kept, requests, takeovers } = self.count;
        writeln!(
            f,
            "{} rounds, {} kills at random instants, {} at named points, {} races of two, {} checks",
            self.rounds, self.kills, self.crashes, self.races, self.checks
        )?;
        write!(
            f,
            "{tasks} tasks taken over {takeovers} times, {events} events ({shown} shown before the kill), {calls} calls \
             ({unknown} told as unknown), {effects} effects, {changes} changed files, {kept} files of before, {requests} requests"
        )
    }
}
