//! Twenty children at once over HTTP: their distance from the ideal, and their processor time and memory.

use anyhow::Result;

use super::figure::{Figure, Unit};
use super::program::Sortie;
use super::sample::Sample;
use super::server::Server;
use super::{Bench, script};

const CHILDREN: usize = 20;
const REPLY_MS: u32 = 50;

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let many = Server::start(bench, "parallel", &script::reads(CHILDREN, REPLY_MS))?;
    let one = Server::start(bench, "alone", &script::reads(1, REPLY_MS))?;
    let sortie = |server| {
        let home = bench.path("parallel-home");
        bench.sources().map(|workspace| Sortie {
            program: &bench.sortie,
            home,
            workspace,
            base_url: Server::base_url(server),
        })
    };
    let (together, alone) = (sortie(&many)?, sortie(&one)?);
    alone.run(script::DELEGATED)?; // Makes the journal.
    one.take()?;

    let (mut span, mut at_once, mut cpu, mut memory) =
        (Sample::default(), Sample::default(), Sample::default(), Sample::default());
    let (mut cpu_alone, mut span_alone) = (Sample::default(), Sample::default());
    for _ in 0..bench.runs {
        cpu_alone.push_ms(alone.run(script::DELEGATED)?.cpu);
        span_alone.push_ms(one.take()?.span());
        let ran = together.run(script::DELEGATED)?;
        let traffic = many.take()?;
        span.push_ms(traffic.span());
        at_once.push(traffic.max_at_once() as f64);
        cpu.push_ms(ran.cpu);
        memory.push(ran.peak_rss as f64 / 1e6);
    }
    let ideal = f64::from(script::REPLIES_IN_A_ROW * REPLY_MS);
    Ok(vec![
        Figure::of(
            format!("{CHILDREN} children of three reads, {REPLY_MS} ms a reply, first request to last reply"),
            &span,
            Unit::Milliseconds,
        )
        .at_most(1.15 * ideal)
        .peers("0.98 s (rho, ten at once), 1.4 s (gemini-cli), 3.5 s (Claude Code), 6.0 s (Codex), 26 s (opencode)"),
        Figure::new(format!("The same against the ideal of {ideal} ms"), span.median() / ideal, Unit::Times)
            .at_most(1.15),
        Figure::new("One child, against the sum of its run's replies", span_alone.median() / ideal, Unit::Times)
            .at_most(1.05),
        Figure::of("Model requests in flight at once", &at_once, Unit::Count).at_least(CHILDREN as f64),
        Figure::new(
            "Processor time for each added child",
            (cpu.median() - cpu_alone.median()) / (CHILDREN - 1) as f64,
            Unit::Milliseconds,
        )
        .at_most(2.0)
        .peers("52 to 2,500 ms"),
        Figure::of(format!("Peak memory of the run with {CHILDREN} children"), &memory, Unit::Megabytes)
            .at_most(30.0)
            .peers("54 MB (rho), 260 to 1,500 MB (others)"),
    ])
}
