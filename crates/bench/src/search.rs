//! Grep against `rg`, on one tree, with equal patterns, rules and limits.
//!
//! Both answer with this many lines: Grep with the first in the order of paths, `rg` with the first that it finds. So
//! `rg` is free to use all cores. Each `rg` is a process of its own, so its start is part of its time. Grep is timed
//! inside its process and, for comparison, from outside.

mod tree;
mod yardstick;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::json;
use sortie_workshop::process;

use self::tree::Tree;
use self::yardstick::Ripgrep;
use super::Bench;
use super::figure::{Figure, Unit};
use super::sample::Sample;

/// Grep's own limit when none is given.
const MAX_LINES: usize = 250;
/// Largest ratio of Grep's time to that of `rg`.
const TARGET: f64 = 1.2;

struct Query {
    what: &'static str,
    pattern: &'static str,
    ignore_case: bool,
}

const QUERIES: [Query; 5] = [
    Query { what: "a literal", pattern: "deserialize_with", ignore_case: false },
    Query { what: "an identifier by regex", pattern: r"\bfn [a-z_]+_bytes\b", ignore_case: false },
    Query { what: "a literal in any case", pattern: "mutexguard", ignore_case: true },
    Query { what: "a rare word", pattern: "Knuth", ignore_case: false },
    Query { what: "a frequent word", pattern: "self", ignore_case: false },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Files,
    Content,
}

/// Output of `grep_rate`.
#[derive(Debug, Deserialize)]
struct Report {
    milliseconds: f64,
    found: String,
}

/// Repeated measurements of one search.
#[derive(Debug, Default)]
struct Searches {
    inside: Sample,
    whole: Sample,
    yardstick: Sample,
    ratio: Sample,
    found: String,
}

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let grep_rate = bench.example("sortie-tools", "grep_rate")?;
    let ripgrep = Ripgrep::install(&bench.workspace.target)?;
    let tree = Tree::of_dependencies(&bench.workspace.target)?;
    let what = format!("Files in the searched tree: sources of {} crates, {:.0} MB", tree.n_crates, tree.megabytes);
    let mut figures = vec![Figure::new(what, tree.n_files as f64, Unit::Count)];
    for query in &QUERIES {
        for mode in [Mode::Files, Mode::Content] {
            let searches = Searches::run(bench.runs, &grep_rate, &ripgrep, &tree.path, query, mode)?;
            figures.push(searches.figure(query));
        }
    }
    Ok(figures)
}

impl Searches {
    fn run(runs: usize, grep_rate: &Path, ripgrep: &Ripgrep, tree: &Path, query: &Query, mode: Mode) -> Result<Self> {
        let mut searches = Self::default();
        // The first run of each does not count: it may find a cold cache.
        for run in 0..=runs {
            let (yardstick, n_lines) = ripgrep.search(tree, query, mode)?;
            let (whole, report) = grep(grep_rate, tree, query, mode)?;
            check(query, &report.found, n_lines)?;
            if run > 0 {
                searches.inside.push(report.milliseconds);
                searches.whole.push_ms(whole);
                searches.yardstick.push_ms(yardstick);
                searches.ratio.push(report.milliseconds / (yardstick.as_secs_f64() * 1000.0));
            }
            searches.found = report.found;
        }
        Ok(searches)
    }

    fn figure(&self, query: &Query) -> Figure {
        let write = |sample: &Sample| Unit::Milliseconds.write(sample.median());
        let peers = format!(
            "{} (rg); Grep {}, {} with its process",
            write(&self.yardstick),
            write(&self.inside),
            write(&self.whole)
        );
        let what = format!("Grep against rg: {}, {}", query.what, self.found);
        Figure::of(what, &self.ratio, Unit::Times).at_most(TARGET).peers(peers)
    }
}

/// Runs one search with Grep; returns the time of the whole process, and its output.
fn grep(grep_rate: &Path, tree: &Path, query: &Query, mode: Mode) -> Result<(Duration, Report)> {
    let output_mode = match mode {
        Mode::Files => "files_with_matches",
        Mode::Content => "content",
    };
    let arguments = json!({
        "pattern": query.pattern, "-i": query.ignore_case, "output_mode": output_mode, "head_limit": MAX_LINES,
    });
    let clock = Instant::now();
    let text = process::stdout_of(Command::new(grep_rate).arg(tree).arg(arguments.to_string()))?;
    let elapsed = clock.elapsed();
    Ok((elapsed, serde_json::from_str(&text).context("grep_rate wrote something unexpected")?))
}

/// Checks that both found equally much: times of different work cannot be compared.
fn check(query: &Query, found: &str, n_lines: usize) -> Result<()> {
    let count = found.trim_start_matches("first ").split(' ').next().and_then(|count| count.parse::<usize>().ok());
    if count != Some(n_lines.min(MAX_LINES)) {
        bail!("for `{}` Grep found {found}, and rg {n_lines} lines of output", query.pattern);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_only_if_both_found_the_same_number() {
        let [query, ..] = &QUERIES;
        assert!(check(query, "64 matches in 15 files", 64).is_ok());
        assert!(check(query, "first 250 files", MAX_LINES + 1).is_ok());
        assert!(check(query, "64 matches in 15 files", 63).is_err());
        assert!(check(query, "no match", 1).is_err());
    }
}
