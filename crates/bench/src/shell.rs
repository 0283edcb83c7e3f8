//! Commands in walls against bubblewrap, with the same view of files and the same namespaces, alternating in one run.

use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use sortie_workshop::{install_if_missing, process};

use super::Bench;
use super::figure::{Figure, Unit};
use super::sample::Sample;

/// More runs would add nothing: each run of the example repeats itself many times.
const MAX_RUNS: usize = 5;
/// Least ratio of our commands to those of bubblewrap.
const TARGET: f64 = 2.0;
/// Milliseconds within which 99 of 100 commands end, eight at a time.
const P99_TARGET: f64 = 30.0;

/// Output of `shell_rate` about one kind of walls, with this many commands at a time.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Rate {
    who: Who,
    parallel: usize,
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Who {
    Ours,
    Bubblewrap,
    /// Bubblewrap with the machine's network.
    Open,
    /// `bash` without walls.
    Plain,
}

/// All runs of `shell_rate`.
struct Runs(Vec<Vec<Rate>>);

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    install_if_missing("bwrap", "bubblewrap", "the figures about commands in walls")?;
    let shell_rate = bench.example("sortie-sandbox", "shell_rate")?;
    let runs = (0..bench.runs.min(MAX_RUNS)).map(|_| {
        // Not where temporary files are: commands have their own there.
        let mut command = Command::new(&shell_rate);
        command.arg(&bench.sortie).current_dir(&bench.workspace.target);
        let text = process::stdout_of(&mut command)?;
        serde_json::from_str(&text).context("shell_rate wrote something unexpected")
    });
    Ok(Runs(runs.collect::<Result<_>>()?).figures())
}

impl Runs {
    fn figures(&self) -> Vec<Figure> {
        vec![
            self.ratio("Commands in walls against bubblewrap, one at a time", 1, Who::Bubblewrap).at_least(TARGET),
            self.ratio("— against bubblewrap with the network open", 1, Who::Open),
            self.ratio("— against `bash` without walls", 1, Who::Plain),
            self.ratio("— eight at a time, against bubblewrap", 8, Who::Bubblewrap).at_least(TARGET),
            self.time("— one at a time, half of them within", 1, |rate| rate.p50_ms),
            self.time("— one at a time, 99 % within", 1, |rate| rate.p99_ms),
            self.time("— eight at a time, half of them within", 8, |rate| rate.p50_ms),
            self.time("— eight at a time, 99 % within", 8, |rate| rate.p99_ms).at_most(P99_TARGET),
        ]
    }

    /// Compares our number of commands with the other's, in each run.
    fn ratio(&self, what: &str, parallel: usize, other: Who) -> Figure {
        let ours = self.sample(Who::Ours, parallel, |rate| rate.per_second);
        let others = self.sample(other, parallel, |rate| rate.per_second);
        let ratio: Sample = ours.values().zip(others.values()).map(|(ours, other)| ours / other).collect();
        let write = |sample: &Sample| Unit::PerSecond.write(sample.median());
        let name = if other == Who::Plain { "bash" } else { "bubblewrap" };
        Figure::of(what, &ratio, Unit::Times).peers(format!("{} ({name}); in walls {}", write(&others), write(&ours)))
    }

    fn time(&self, what: &str, parallel: usize, value: fn(&Rate) -> f64) -> Figure {
        let theirs = Unit::Milliseconds.write(self.sample(Who::Bubblewrap, parallel, value).median());
        let ours = self.sample(Who::Ours, parallel, value);
        Figure::of(what, &ours, Unit::Milliseconds).peers(format!("{theirs} (bubblewrap)"))
    }

    /// One value of each run. A run without the value adds none, and a sample without values misses its target.
    fn sample(&self, who: Who, parallel: usize, value: fn(&Rate) -> f64) -> Sample {
        let is_it = |rate: &&Rate| rate.who == who && rate.parallel == parallel;
        self.0.iter().filter_map(|run| run.iter().find(is_it)).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::figure::table;
    use super::*;

    fn rate(who: Who, parallel: usize, per_second: f64) -> Rate {
        Rate { who, parallel, per_second, p50_ms: 1000.0 / per_second, p99_ms: 20_000.0 / per_second }
    }

    #[test]
    fn runs_become_figures() {
        let run = |factor: f64| {
            let at_one = [(Who::Ours, 450.0), (Who::Bubblewrap, 200.0), (Who::Open, 225.0), (Who::Plain, 900.0)]
                .map(|(who, per_second)| rate(who, 1, per_second * factor));
            let at_eight = [rate(Who::Ours, 8, 800.0 * factor), rate(Who::Bubblewrap, 8, 500.0)];
            at_one.into_iter().chain(at_eight).collect()
        };
        let figures = Runs(vec![run(1.0), run(2.0), run(0.5)]).figures();
        expect![[r#"
            | What | Median | Spread | Target | | Peers on the same work |
            | --- | ---: | ---: | ---: | --- | --- |
            | Commands in walls against bubblewrap, one at a time | 2.25 × | 2.25 × – 2.25 × | ≥ 2 × | met | 200/s (bubblewrap); in walls 450/s |
            | — against bubblewrap with the network open | 2 × | 2 × – 2 × |  |  | 225/s (bubblewrap); in walls 450/s |
            | — against `bash` without walls | 0.5 × | 0.5 × – 0.5 × |  |  | 900/s (bash); in walls 450/s |
            | — eight at a time, against bubblewrap | 1.6 × | 0.8 × – 3.2 × | ≥ 2 × | missed | 500/s (bubblewrap); in walls 800/s |
            | — one at a time, half of them within | 2.22 ms | 1.11 ms – 4.44 ms |  |  | 5 ms (bubblewrap) |
            | — one at a time, 99 % within | 44.4 ms | 22.2 ms – 88.9 ms |  |  | 100 ms (bubblewrap) |
            | — eight at a time, half of them within | 1.25 ms | 0.62 ms – 2.5 ms |  |  | 2 ms (bubblewrap) |
            | — eight at a time, 99 % within | 25 ms | 12.5 ms – 50 ms | ≤ 30 ms | met | 40 ms (bubblewrap) |
        "#]].assert_eq(&table(&figures));
    }

    #[test]
    fn a_rate_without_a_measurement_misses_its_target() {
        let figures = Runs(vec![vec![rate(Who::Ours, 1, 450.0)]]).figures();
        assert_eq!(figures.iter().filter(|figure| figure.is_missed()).count(), 3);
    }
}
