//! `cargo xtask hosts`: whether Sortie is a good guest in the programs that people use it in.
//!
//! Four hosts come from npm, unchanged and at fixed versions. The very lines of `sortie mcp install` set each up, and a
//! scripted model drives it. A host that cannot be had fails like a scenario that does not hold. Nothing of the
//! program is linked here.

mod app_server;
mod host;
mod options;
mod outcome;
mod record;
mod scenario;
mod script;
mod site;
mod stage;

use std::time::Instant;

use anyhow::Result;
use sortie_workshop::{Verdict, Workspace, page};

use self::host::Host;
use self::options::Options;
use self::outcome::{Column, Outcome};
use self::scenario::SCENARIOS;
use self::stage::Stage;

const PAGE: &str = "docs/mcp.md";
const MARKS: page::Marks =
    page::Marks { begin: "<!-- hosts: written by `cargo xtask hosts --write` -->", end: "<!-- end of hosts -->" };

/// `[--only NAMES] [--write]`
pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let Some(options) = Options::parse(flags) else { return Ok(Verdict::WrongUsage) };
    let workspace = Workspace::load()?;
    let began = Instant::now();
    let Some(stage) = Stage::prepare(&workspace)? else { return Ok(Verdict::Bad) };
    println!("installed and built in {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    // Two at once: most of the time a host waits for another process.
    let mut columns = Vec::new();
    for hosts in options.hosts.chunks(2) {
        columns.extend(std::thread::scope(|scope| {
            let running: Vec<_> = hosts.iter().map(|host| scope.spawn(|| column(&stage, *host))).collect();
            running.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
        }));
    }
    println!("\n{}\nall hosts: {:.1} s", outcome::table(&columns), began.elapsed().as_secs_f64());
    let is_good = columns.len() == options.hosts.len() && columns.iter().all(Column::is_good);
    if options.write && options.hosts.len() == Host::ALL.len() {
        page::write(&workspace.root.join(PAGE), MARKS, &outcome::page(&columns))?;
    }
    Ok(Verdict::good_if(is_good))
}

/// All scenarios with one host.
fn column(stage: &Stage, host: Host) -> Column {
    let version = stage.version(host);
    let mut outcomes = Vec::new();
    for scenario in SCENARIOS {
        let began = Instant::now();
        let outcome = match &version {
            Ok(_) => (scenario.play)(stage, host).unwrap_or_else(|error| Outcome::bad(format!("{error:#}"))),
            Err(error) => Outcome::bad(format!("the host cannot be had: {error:#}")),
        };
        println!("{:<12} {:<24} {:>5.1} s  {outcome}", host.name(), scenario.name, began.elapsed().as_secs_f64());
        outcomes.push(outcome);
    }
    Column { host, version: version.unwrap_or_else(|_| "not to be had".to_owned()), outcomes }
}
