//! The time from the end of a background sub-agent to the next model request of the agent that waits for it.

use anyhow::{Result, bail};

use super::figure::{Figure, Unit};
use super::program::Sortie;
use super::sample::Sample;
use super::server::Server;
use super::{Bench, script};

/// Wake-ups in one run: its conversation grows by each.
const TIMES: usize = 25;
/// Long enough for the parent to have ended its turn.
const REPLY_MS: u32 = 20;
const TARGET_MS: f64 = 5.0;

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let server = Server::start(bench, "wake", &script::wake_ups(TIMES, REPLY_MS))?;
    let sortie = Sortie {
        program: &bench.sortie,
        home: bench.path("wake-home"),
        workspace: bench.sources()?,
        base_url: server.base_url(),
    };
    let (mut main, mut relay) = (Sample::default(), Sample::default());
    for _ in 0..bench.runs {
        for (prompt, n_parents, sample) in [(script::WAKEFUL, 1, &mut main), (script::RELAYED, 2, &mut relay)] {
            sortie.run(prompt)?;
            let traffic = server.take()?;
            let before = sample.values().count();
            traffic.wake_ups(n_parents).for_each(|time| sample.push_ms(time));
            let n_woken = sample.values().count() - before;
            if n_woken != TIMES {
                bail!("{n_woken} wake-ups were seen, not {TIMES}");
            }
        }
    }
    Ok([
        figures("Waking an idle main agent: its sub-agent's last byte to its next request", &main),
        figures("— one that is itself a sub-agent", &relay),
    ]
    .into_iter()
    .flatten()
    .collect())
}

fn figures(what: &str, sample: &Sample) -> [Figure; 2] {
    [
        Figure::of(what, sample, Unit::Milliseconds).at_most(TARGET_MS),
        Figure::new("— 99 % within", sample.all_but_one_in(100), Unit::Milliseconds).at_most(TARGET_MS),
    ]
}
