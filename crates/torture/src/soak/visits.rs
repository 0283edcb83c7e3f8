//! Processes that come and go while the host stays: run to their end, killed and resumed, or detached.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::house::House;
use super::script;
use crate::crash::live::{Ended, PATIENCE};
use crate::crash::random::Random;

/// The longest life of a process that is killed, and the longest pause between two visits.
const LIFE_MS: u64 = 3000;
const PAUSE_MS: u64 = 1500;
/// Starts that may be in vain before a visit is given up.
const MAX_STARTS: u64 = 20;
/// Message when nothing is left to resume.
const NOTHING_LEFT: &str = "no task of this project was interrupted";
/// Message when another process holds a part of what is to be resumed.
const HELD: &str = "wait for it, or stop it first";

/// Counts of the visits and their endings.
#[derive(Debug, Default)]
pub(super) struct Visits {
    pub(super) begun: u64,
    pub(super) kills: u64,
    /// Visits that nobody waited for.
    pub(super) apart: u64,
}

impl Visits {
    /// Makes one visit after the other, until the soak is over.
    pub(super) fn go_on(house: &House, mut random: Random, over: &AtomicBool) -> Result<Self> {
        let mut visits = Self::default();
        while !over.load(Ordering::Relaxed) {
            visits.begun += 1;
            let prompt = script::lead(&format!("v{}", visits.begun), &mut random);
            if random.one_in(4) {
                visits.apart += 1;
                leave_apart(house, &prompt)?;
            } else {
                visits.kills += run(house, &prompt, &mut random)?;
            }
            thread::sleep(Duration::from_millis(random.below(PAUSE_MS)));
        }
        Ok(visits)
    }
}

/// A task of which a process of its own takes care.
fn leave_apart(house: &House, prompt: &str) -> Result<()> {
    let words = ["task", "--description", "Visit", "--prompt", prompt, "--field", "run_in_background=true"];
    let ended = house.start(&words)?.kill_after(PATIENCE)?;
    if !ended.status.success() {
        bail!("a task was not taken into the background: {}\n{}", ended.status, ended.stderr);
    }
    Ok(())
}

/// Runs it to its end, with kills on the way or without. Says how many there were.
fn run(house: &House, prompt: &str, random: &mut Random) -> Result<u64> {
    let mut kills = 0;
    let mut words = vec!["run", prompt];
    for _ in 0..MAX_STARTS {
        let life = if random.one_in(2) { PATIENCE } else { Duration::from_millis(random.below(LIFE_MS)) };
        let ended = house.start(&words)?.kill_after(life)?;
        match ended.status.code() {
            None if ended.was_killed() => kills += 1,
            // Another process ends a part of it at this moment.
            Some(1) if ended.stderr.contains(HELD) => {}
            _ => return expected(&ended).map(|()| kills),
        }
        words = vec!["resume"];
    }
    bail!("N11 `{prompt}` does not come to an end, however often it is resumed")
}

/// A visit completes, is stopped, or was killed before anybody knew of it.
fn expected(ended: &Ended) -> Result<()> {
    match ended.status.code() {
        Some(0) => Ok(()),
        Some(1) if ended.stderr.contains("cancelled") || ended.stderr.contains(NOTHING_LEFT) => Ok(()),
        _ => bail!("a visit ended with {}:\n{}", ended.status, ended.stderr),
    }
}

/// Waits until no task runs.
pub(super) fn wait_for_all(house: &House) -> Result<()> {
    let began = Instant::now();
    loop {
        let running = house.running()?;
        if running.is_empty() {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            bail!("N11 still running although all is over: {running:?}");
        }
        thread::sleep(Duration::from_millis(100));
    }
}
