//! Acts of other processes on the tasks of a run, during the run or after it was killed.

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::live::{Live, PATIENCE};
use super::random::Random;
use super::world::World;

/// Time between two looks for a task.
const PERIOD: Duration = Duration::from_millis(2);
/// One in so many is killed itself, within this time.
const KILLED_ONE_IN: u64 = 5;
const KILLED_WITHIN_MS: u64 = 80;

/// An act on a task of another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Send,
    Release,
    Stop,
}

#[derive(Debug)]
pub(super) struct Errand {
    deed: Deed,
    /// Index of the sub-agent among those that exist at that time.
    worker: usize,
    /// Number that distinguishes it from all others.
    number: u64,
    /// Delay after the start of the run.
    after: Duration,
    /// True if the errand waits until there is a sub-agent.
    waits: bool,
    /// Time after which it is killed.
    life: Duration,
}

impl Errand {
    /// A random errand, due at some time in the life of the run.
    pub(super) fn draw(random: &mut Random, within: Duration) -> Self {
        let deed = *random.pick(&[Deed::Send, Deed::Send, Deed::Release, Deed::Stop]);
        let (worker, number) = (random.below(1 << 32) as usize, random.below(u64::MAX));
        let after = Duration::from_micros(random.below(within.as_micros() as u64 * 6 / 5));
        let (is_killed, life) = (random.one_in(KILLED_ONE_IN), random.below(KILLED_WITHIN_MS));
        let life = if is_killed { Duration::from_millis(life) } else { PATIENCE };
        Self { deed, worker, number, after, waits: false, life }
    }

    /// An errand that is done as soon as there is a sub-agent.
    pub(super) fn at_once(deed: Deed, number: u64) -> Self {
        Self { deed, worker: 0, number, after: Duration::ZERO, waits: true, life: PATIENCE }
    }

    /// Does it, unless there is no sub-agent. Returns the receipt of a message.
    pub(super) fn run(&self, world: &World, is_over: &AtomicBool) -> Result<Option<Value>> {
        thread::sleep(self.after);
        let task = loop {
            let mut workers = world.workers()?;
            if !workers.is_empty() {
                break workers.swap_remove(self.worker % workers.len());
            }
            if !self.waits || is_over.load(Ordering::Relaxed) {
                return Ok(None);
            }
            thread::sleep(PERIOD);
        };
        let words = format!("A word of the person: {}.", self.number);
        let (verb, words) = match self.deed {
            Deed::Send => ("send", Some(&words)),
            Deed::Release => ("release", None),
            Deed::Stop => ("stop", None),
        };
        let mut command = world.program();
        let stdout = world.file(&format!("told-{}", self.number));
        command.args(["tasks", verb, &task]).args(words).arg("--json").stdout(File::create(&stdout)?);
        let ended =
            Live::start(&mut command, world.file(&format!("complaint-{}", self.number)))?.kill_after(self.life)?;
        if ended.was_killed() {
            return Ok(None);
        }
        if self.deed == Deed::Stop && !ended.status.success() {
            bail!("N11 {task} was not stopped: {}", ended.stderr);
        }
        let Some(words) = words.filter(|_| ended.status.success()) else { return Ok(None) };
        let told: Value = serde_json::from_str(&fs::read_to_string(stdout)?)?;
        Ok(Some(json!({ "text": words, "state": told["state"] })))
    }
}
