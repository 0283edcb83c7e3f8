//! Kills at random instants: rounds of many agents, each killed a few times and then brought to its end.

use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Result, bail};

use super::death::Death;
use super::errand::Errand;
use super::live::Ended;
use super::mix;
use super::options::Options;
use super::programs::Programs;
use super::random::Random;
use super::site::Root;
use super::tally::Tally;
use super::workers::{all_good, locked};
use super::world::{Life, Start, World};

const AGENTS: std::ops::Range<u64> = 8..65;
/// The longest time that a process of a round is let live: a while, and more for more agents.
const LIFE_MS: u64 = 150;
const LIFE_MS_PER_AGENT: u64 = 6;
/// Most acts of other processes while one process of a round lives.
const MAX_ERRANDS: u64 = 2;
/// Starts that may be in vain before a round is given up.
const MAX_STARTS: u32 = 20;

/// Plays rounds until there were as many kills as wanted. Stops at the first that goes wrong.
pub(super) fn all_survive(programs: &Programs, options: &Options, total: &Mutex<Tally>) -> Result<bool> {
    let rounds = options.round.map_or(0..u64::MAX, |round| round..round + 1);
    let rounds = rounds.take_while(|_| options.round.is_some() || locked(total).deaths() < options.cycles);
    all_good(rounds, |round| {
        let mut tally = Tally { rounds: 1, ..Tally::default() };
        let good = survives(programs, options.seed, round, &mut tally);
        let mut total = locked(total);
        *total += tally;
        if total.rounds.is_multiple_of(20) {
            eprintln!("    {} rounds, {} kills", total.rounds, total.kills);
        }
        good
    })
}

fn survives(programs: &Programs, seed: u64, round: u64, tally: &mut Tally) -> Result<bool> {
    let mut random = Random::new(seed, round);
    let n_agents = AGENTS.start + random.below(AGENTS.end - AGENTS.start).min(random.below(AGENTS.end - AGENTS.start));
    let script = mix::script(&mut random, n_agents);
    let mut world = World::new(programs, &script)?;
    let replay = format!("--seed {seed} --round {round}");
    if let Err(error) = play(&mut world, &mut random, n_agents, tally) {
        complain(world, &[format!("{error:#}")], &replay);
        return Ok(false);
    }
    let verdict = world.check(true)?;
    tally.checks += 1;
    tally.count += verdict.count;
    if !verdict.breaches.is_empty() {
        complain(world, &verdict.breaches, &replay);
        return Ok(false);
    }
    Ok(true)
}

/// Plays a run, killed a few times, to its end; in some rounds a follow-up comes after that.
fn play(world: &mut World, random: &mut Random, n_agents: u64, tally: &mut Tally) -> Result<()> {
    kill_some(world, Start::Run, random, n_agents, tally)?;
    go_on(world, tally)?;
    if random.one_in(3) {
        kill_some(world, Start::FollowUp, random, n_agents, tally)?;
        go_on(world, tally)?;
    }
    Ok(())
}

/// Starts and kills it, and starts it again, a few times.
fn kill_some(world: &mut World, mut start: Start, random: &mut Random, n_agents: u64, tally: &mut Tally) -> Result<()> {
    for _ in 0..2 + random.below(6) {
        let time = Duration::from_micros(random.below((LIFE_MS + LIFE_MS_PER_AGENT * n_agents) * 1000));
        let errands: Vec<Errand> = (0..random.below(MAX_ERRANDS + 1)).map(|_| Errand::draw(random, time)).collect();
        let (race, look, detach) = (random.one_in(8), random.one_in(2), random.one_in(8));
        // Two that race are killed: the end of the second tells whether it was refused.
        let death = Some(Death::draw(random)).filter(|_| !race).unwrap_or(Death::Kill);
        let life = Life { start, crash: None, detach, time, death, errands: &errands };
        let ended = if race && start == Start::Resume {
            tally.races += 1;
            let first = world.start(&life)?;
            refused_or_first(&world.live(&life)?)?;
            first.kill_after(time)?
        } else {
            let ended = world.live(&life)?;
            // A process that is left says so in words, and has no outcome.
            if !detach {
                death.check(&ended)?;
            }
            tally.signals += u64::from(death != Death::Kill && !ended.was_killed());
            ended
        };
        tally.errands += errands.len() as u64;
        tally.kills += u64::from(ended.was_killed());
        // Half of the time a killed process has no time to disappear before its task is taken over.
        if look || !ended.was_killed() {
            start = match checked(world, tally)? {
                Root::Absent => Start::Run,
                Root::Open | Root::Unknown => Start::Resume,
                Root::Ended => return Ok(()),
            };
        } else {
            start = Start::Resume;
        }
    }
    Ok(())
}

/// Checks that the second of two simultaneous restarts was refused, unless it came first.
fn refused_or_first(ended: &Ended) -> Result<()> {
    let refused = ["wait for it, or stop it first", "no task of this project was interrupted", "has been taken over"];
    if ended.was_killed() || ended.status.success() || refused.iter().any(|words| ended.said(words)) {
        return Ok(());
    }
    bail!("N8 one of two simultaneous resumes ended with {}:\n{}", ended.status, ended.stderr)
}

/// Brings the run to its end, from wherever it is.
pub(super) fn go_on(world: &mut World, tally: &mut Tally) -> Result<()> {
    let mut last = String::new();
    for _ in 0..MAX_STARTS {
        let start = match checked(world, tally)? {
            Root::Absent => Start::Run,
            Root::Open => Start::Resume,
            Root::Ended => return Ok(()),
            Root::Unknown => bail!("N1 nobody knows how far it came"),
        };
        last = world.live(&Life::whole(start))?.stderr;
    }
    bail!("N11 it does not come to an end, however often it is resumed:\n{last}")
}

/// Has the checker look at a run that was killed.
fn checked(world: &World, tally: &mut Tally) -> Result<Root> {
    let verdict = world.check(false)?;
    tally.checks += 1;
    if verdict.breaches.is_empty() { Ok(verdict.root) } else { bail!("{}", verdict.breaches.join("\n")) }
}

/// Prints the faults, the place to look at them, and the command that repeats them.
pub(super) fn complain(world: World, breaches: &[String], replay: &str) {
    let folder = world.keep();
    println!("\n{}", breaches.join("\n"));
    println!("what it left is in {}", folder.display());
    println!("to see it again: cargo xtask crash {replay}\n");
}
