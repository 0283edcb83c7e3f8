//! From the start of the process to the arrival of its first model request.

use anyhow::{Context, Result};

use super::figure::{Figure, Unit};
use super::program::Sortie;
use super::sample::Sample;
use super::server::Server;
use super::{Bench, remove, script};

const PEERS: &str = "47 ms (rho), 265 ms (Codex), 619 ms (Claude Code), 5.2 s (opencode)";

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let server = Server::start(bench, "start", &script::reads(1, 0))?;
    let sortie = Sortie {
        program: &bench.sortie,
        home: bench.path("start-home"),
        workspace: bench.sources()?,
        base_url: server.base_url(),
    };
    let (mut fresh, mut warm) = (Sample::default(), Sample::default());
    for _ in 0..bench.runs {
        remove(&sortie.home)?;
        // The first of the two makes the journal, the second finds it.
        for sample in [&mut fresh, &mut warm] {
            let ran = sortie.run(script::INLINE)?;
            let first = server.take()?.first_arrival().context("no request arrived")?;
            sample.push_ms(first.saturating_sub(ran.began));
        }
    }
    Ok(vec![
        Figure::of("Process start to first model request, existing journal", &warm, Unit::Milliseconds)
            .at_most(20.0)
            .peers(PEERS),
        Figure::of("The same, new journal", &fresh, Unit::Milliseconds).at_most(20.0),
    ])
}
