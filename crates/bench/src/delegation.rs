//! The cost of one delegation beyond doing its reads inline.

use anyhow::Result;

use super::figure::{Figure, Unit};
use super::program::Sortie;
use super::sample::Sample;
use super::server::Server;
use super::{Bench, script};

const PEERS: &str = "17 ms (deepagents), 39 ms (rho), 124 ms (Claude Code), 199 ms (Codex)";

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let server = Server::start(bench, "delegation", &script::reads(1, 0))?;
    let sortie = Sortie {
        program: &bench.sortie,
        home: bench.path("delegation-home"),
        workspace: bench.sources()?,
        base_url: server.base_url(),
    };
    sortie.run(script::INLINE)?; // Makes the journal.
    let (mut inline, mut delegated) = (Sample::default(), Sample::default());
    for _ in 0..bench.runs {
        inline.push_ms(sortie.run(script::INLINE)?.elapsed);
        delegated.push_ms(sortie.run(script::DELEGATED)?.elapsed);
    }
    Ok(vec![
        Figure::new(
            "One delegation of three reads, beyond the reads inline",
            delegated.median() - inline.median(),
            Unit::Milliseconds,
        )
        .at_most(5.0)
        .peers(PEERS),
        Figure::of("The whole run inline, four model calls", &inline, Unit::Milliseconds),
        Figure::of("The whole run delegated, six model calls", &delegated, Unit::Milliseconds),
    ])
}
