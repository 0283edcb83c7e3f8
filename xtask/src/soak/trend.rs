//! Whether what was sampled stays flat: a straight line through it, once it is warm.

use std::fmt::{self, Write};

use super::vitals::Vitals;

/// What is looked at: its name, its value, and by how much it may grow from the end of the warm-up to the end.
type Series = (&'static str, fn(&Vitals) -> f64, Option<f64>);

const SERIES: &[Series] = &[
    ("memory MB", |vitals| vitals.memory_mb, Some(8.0)),
    ("descriptors", |vitals| vitals.descriptors, Some(6.0)),
    ("threads", |vitals| vitals.threads, Some(16.0)),
    ("processes below", |vitals| vitals.processes, Some(6.0)),
    ("journal MB", |vitals| vitals.journal_mb, None),
    ("WAL MB", |vitals| vitals.wal_mb, Some(16.0)),
];

/// The first part of the time, in which caches and pools fill.
const WARM_UP: f64 = 0.2;
/// Rows of the table.
const ROWS: usize = 12;

/// Samples of one process, each with the seconds at which it was taken.
#[derive(Debug, Default)]
pub(super) struct Trend {
    samples: Vec<(f64, Vitals)>,
}

impl Trend {
    pub(super) fn push(&mut self, seconds: f64, vitals: Vitals) {
        self.samples.push((seconds, vitals));
    }

    /// What has grown by more than it may.
    pub(super) fn breaches(&self) -> Vec<String> {
        if self.warm().len() < 2 {
            return vec!["there are too few samples to say anything".to_owned()];
        }
        let bounded = SERIES.iter().filter_map(|(name, value, bound)| bound.map(|bound| (name, value, bound)));
        bounded
            .filter_map(|(name, value, bound)| {
                let growth = self.growth(*value);
                (growth > bound).then(|| format!("{name}: grew by {growth:.1}, and may by {bound:.1}"))
            })
            .collect()
    }

    /// By how much the line through the samples rises from the end of the warm-up to the end.
    fn growth(&self, value: fn(&Vitals) -> f64) -> f64 {
        let warm = self.warm();
        let (Some((first, _)), Some((last, _))) = (warm.first(), warm.last()) else { return f64::NAN };
        let points: Vec<(f64, f64)> = warm.iter().map(|(seconds, vitals)| (*seconds, value(vitals))).collect();
        slope(&points) * (last - first)
    }

    fn warm(&self) -> &[(f64, Vitals)] {
        let end = self.samples.last().map_or(0.0, |(seconds, _)| *seconds);
        &self.samples[self.samples.partition_point(|(seconds, _)| *seconds < WARM_UP * end)..]
    }
}

/// Of the straight line with the least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

/// The means of equal stretches of time, and below them by how much each grew.
impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = format!("{:>8}", "minutes");
        SERIES.iter().try_for_each(|(name, ..)| write!(head, "  {name:>15}"))?;
        writeln!(f, "{head}")?;
        let length = self.samples.len().div_ceil(ROWS).max(1);
        for stretch in self.samples.chunks(length) {
            let until = stretch.last().map_or(0.0, |(seconds, _)| *seconds);
            write!(f, "{:>8.1}", until / 60.0)?;
            for (_, value, _) in SERIES {
                let mean = stretch.iter().map(|(_, vitals)| value(vitals)).sum::<f64>() / stretch.len() as f64;
                write!(f, "  {mean:>15.1}")?;
            }
            writeln!(f)?;
        }
        write!(f, "{:>8}", "growth")?;
        SERIES.iter().try_for_each(|(_, value, _)| write!(f, "  {:>+15.1}", self.growth(*value)))?;
        write!(f, "\n{:>8}", "at most")?;
        SERIES.iter().try_for_each(|(_, _, bound)| match bound {
            Some(bound) => write!(f, "  {bound:>+15.1}"),
            None => write!(f, "  {:>15}", "–"),
        })?;
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(memory: impl Fn(f64) -> f64) -> Trend {
        let vitals =
            Vitals { memory_mb: 0.0, descriptors: 20.0, threads: 8.0, processes: 2.0, journal_mb: 1.0, wal_mb: 4.0 };
        let samples = (0..100).map(f64::from).map(|second| (second, Vitals { memory_mb: memory(second), ..vitals }));
        Trend { samples: samples.collect() }
    }

    #[test]
    fn what_warms_up_and_then_stays_is_flat() {
        let warming = trend(|second| if second < 15.0 { second } else { 30.0 + second % 3.0 });
        assert_eq!(warming.breaches(), [""; 0]);
    }

    #[test]
    fn what_grows_slowly_and_for_ever_is_seen() {
        let leaking = trend(|second| 30.0 + 0.2 * second + second % 3.0);
        assert_eq!(leaking.breaches(), ["memory MB: grew by 15.8, and may by 8.0"]);
    }

    #[test]
    fn nothing_is_no_evidence() {
        assert_eq!(Trend::default().breaches(), ["there are too few samples to say anything"]);
    }

    #[test]
    fn a_table_has_a_row_for_each_stretch() {
        let table = trend(|_| 30.0).to_string();
        assert_eq!(table.lines().count(), 1 + ROWS + 2, "{table}");
        assert!(table.lines().next().is_some_and(|head| head.contains("descriptors")), "{table}");
    }
}
