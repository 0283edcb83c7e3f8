//! `cargo xtask soak`: one process that lives for an hour under random load, and must neither grow nor lose anything.
//!
//! A main agent (the host) keeps starting sub-agents, in the foreground and the background, in several levels, with
//! tools and questions. Meanwhile other processes come and go, some of them killed, and a person stops, writes to and
//! releases tasks, all in one journal. Memory, descriptors, threads and processes of the host are sampled; in the end
//! `crash-checker` looks at everything.

mod commands;
mod house;
mod options;
mod script;
mod trend;
mod visits;
mod vitals;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use sortie_workshop::{Verdict, Workspace};

use self::commands::Commands;
use self::house::House;
use self::options::Options;
use self::trend::Trend;
use self::visits::Visits;
use self::vitals::Vitals;
use crate::crash::programs::Programs;
use crate::crash::random::Random;

const SAMPLED_EVERY: Duration = Duration::from_secs(2);
/// Time limit of the host, as a multiple of the time that it was asked for.
const PATIENCE: u32 = 3;

pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let Some(options) = Options::parse(flags) else { return Ok(Verdict::WrongUsage) };
    let Some(programs) = Programs::build(&Workspace::load()?)? else { return Ok(Verdict::Bad) };
    println!("soak of about {} minutes, seed {}", options.minutes, options.seed);
    let house = House::new(&programs, &script::rules(options.seed, options.minutes))?;
    let mut breaches = match soak(&house, options) {
        Ok(breaches) => breaches,
        Err(error) => vec![format!("{error:#}")],
    };
    let verdict = house.check()?;
    println!("{}", verdict.count);
    breaches.extend(verdict.breaches);
    if breaches.is_empty() {
        println!("nothing is wrong");
        return Ok(Verdict::Good);
    }
    println!("\n{}\nwhat it left is in {}", breaches.join("\n"), house.keep().display());
    println!("to see it again: cargo xtask soak --minutes {} --seed {}", options.minutes, options.seed);
    Ok(Verdict::Bad)
}

/// Runs all of them, and returns the faults.
fn soak(house: &House, options: Options) -> Result<Vec<String>> {
    let over = AtomicBool::new(false);
    let host = house.start(&["run", script::HOST, "--agent", "host"])?;
    let process = host.id();
    let patience = PATIENCE * Duration::from_mins(options.minutes);
    let (ended, trend, visits, commands) = thread::scope(|scope| {
        let visits = scope.spawn(|| Visits::go_on(house, Random::new(options.seed, 1), &over));
        let commands = scope.spawn(|| Commands::go_on(house, Random::new(options.seed, 2), &over));
        let sampler = scope.spawn(|| sample(process, house, &over));
        let ended = host.kill_after(patience);
        over.store(true, Ordering::Relaxed);
        let trend = sampler.join().ok().context("the sampler panicked");
        let visits = visits.join().ok().context("the visits panicked").flatten();
        let commands = commands.join().ok().context("the commands panicked").flatten();
        (ended, trend, visits, commands)
    });
    let (ended, trend) = (ended?, trend?);
    println!("\n{trend}");
    let mut breaches = trend.breaches();
    if !ended.status.success() {
        breaches.push(format!("the host ended with {}:\n{}", ended.status, ended.stderr));
    }
    let Visits { begun, kills, apart } = visits?;
    println!("{begun} visits, {apart} of them left to themselves, {kills} kills; {}", commands?);
    visits::wait_for_all(house)?;
    Ok(breaches)
}

/// Looks at the host until it has ended.
fn sample(process: u32, house: &House, over: &AtomicBool) -> Trend {
    let began = Instant::now();
    let mut trend = Trend::default();
    while !over.load(Ordering::Relaxed) {
        // It may have ended a moment ago.
        if let Ok(vitals) = Vitals::of(process, &house.path("state/journal.db")) {
            trend.push(began.elapsed().as_secs_f64(), vitals);
        }
        thread::sleep(SAMPLED_EVERY);
    }
    trend
}
