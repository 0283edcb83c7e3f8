//! `cargo xtask crash`: kills the program again and again, and a checker judges the state after each restart.
//!
//! There are three kinds of kills. One is at random instants of seeded rounds with many agents, some after a signal.
//! One is at every named point of the code, for every tool, at each passing. The third is two restarts at once. One
//! extra build has the points, in a folder of its own below the usual one. Nothing of the program is linked here:
//! `crash-checker` judges what it left behind.

mod agent;
pub(crate) mod death;
mod errand;
mod kin;
pub(crate) mod live;
mod mix;
mod options;
mod points;
pub(crate) mod programs;
pub(crate) mod random;
mod rounds;
mod scenario;
mod script;
pub(crate) mod server;
pub(crate) mod site;
mod tally;
mod workers;
mod world;

use std::sync::Mutex;
use std::time::Instant;

use anyhow::Result;
use sortie_workshop::{Verdict, Workspace};

use self::options::Options;
use self::programs::Programs;
use self::workers::locked;

pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let Some(options) = Options::parse(flags) else { return Ok(Verdict::WrongUsage) };
    Ok(Verdict::good_if(survives(&Workspace::load()?, &options)?))
}

/// True if every run was right after every kill. Otherwise the fault and the command that repeats it are on the screen.
fn survives(workspace: &Workspace, options: &Options) -> Result<bool> {
    let strays = points::strays(&workspace.root)?;
    for stray in &strays {
        println!("{stray}");
    }
    let Some(programs) = Programs::build(workspace)? else { return Ok(false) };
    let mut good = strays.is_empty();
    let began = Instant::now();
    let tally = Mutex::default();
    if let Some(only) = &options.point {
        good &= points::survives_one(&programs, only, &tally)?;
    } else {
        good &= rounds::all_survive(&programs, options, &tally)?;
        if options.points {
            good &= points::all_survive(&programs, &tally)?;
        }
    }
    let (tally, seconds) = (locked(&tally), began.elapsed().as_secs_f64());
    println!("\n{tally}\n{seconds:.0} s; {}", if good { "nothing is wrong" } else { "see above" });
    Ok(good)
}
