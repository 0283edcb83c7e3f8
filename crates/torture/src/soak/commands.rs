//! A person at another terminal, who stops, writes to and releases running tasks all the time.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::house::{House, Listed};
use crate::crash::random::Random;

/// The longest pause between two commands.
const PAUSE_MS: u64 = 1000;

/// Counts of the commands given, and of those that came too late.
#[derive(Debug, Default)]
pub(super) struct Commands {
    sent: Tried,
    released: Tried,
    stopped: Tried,
}

#[derive(Debug, Default)]
struct Tried {
    done: u64,
    late: u64,
}

impl Commands {
    /// Gives one command after the other, until the soak is over.
    pub(super) fn go_on(house: &House, mut random: Random, over: &AtomicBool) -> Result<Self> {
        let mut commands = Self::default();
        while !over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(random.below(PAUSE_MS)));
            let running: Vec<Listed> = house.running()?.into_iter().filter(|task| task.depth > 0).collect();
            if running.is_empty() {
                continue;
            }
            let task = random.pick(&running).task_id.as_str();
            match random.below(6) {
                0..=2 => commands.send(house, task)?,
                3 | 4 => commands.released.count(house.ask(&["tasks", "release", task])?.status),
                _ => commands.stop(house, task)?,
            }
        }
        Ok(commands)
    }

    /// Stops a task, and notes it for the checker: a journal keeps the newest commands only.
    fn stop(&mut self, house: &House, task: &str) -> Result<()> {
        let mut stops = File::options().create(true).append(true).open(house.path("stops.jsonl"))?;
        writeln!(stops, "{}", json!({ "type": "stop", "task": task }))?;
        self.stopped.count(house.ask(&["tasks", "stop", task])?.status);
        Ok(())
    }

    /// Writes to a task, and notes the sender's receipt for the checker.
    fn send(&mut self, house: &House, task: &str) -> Result<()> {
        let text = format!("A word of the person: {}.", self.sent.done + self.sent.late);
        let output = house.ask(&["tasks", "send", task, &text, "--json"])?;
        self.sent.count(output.status);
        if output.status.success() {
            let told: Value = serde_json::from_slice(&output.stdout).context("a receipt that is not JSON")?;
            let mut receipts = File::options().create(true).append(true).open(house.path("receipts.jsonl"))?;
            writeln!(receipts, "{}", json!({ "text": text, "state": told["state"] }))?;
        }
        Ok(())
    }
}

impl Tried {
    fn count(&mut self, status: ExitStatus) {
        *(if status.success() { &mut self.done } else { &mut self.late }) += 1;
    }
}

impl fmt::Display for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, released, stopped } = self;
        write!(f, "commands: {sent} sent, {released} released, {stopped} stopped")
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} too late)", self.done, self.late)
    }
}
