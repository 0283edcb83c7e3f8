//! A test that samples stay flat: a straight line through their floor, once the process is warm.
//!
//! In each stretch of time the lowest value counts. A burst of work gives back its memory; a leak does not.

use std::fmt::{self, Write};

use super::vitals::Vitals;

/// A series: its name, its value, and its largest growth from the end of the warm-up to the end.
type Series = (&'static str, fn(&Vitals) -> f64, Option<f64>);

const SERIES: &[Series] = &[
    ("memory MB", |vitals| vitals.memory_mb, Some(12.0)),
    ("descriptors", |vitals| vitals.descriptors, Some(10.0)),
    ("threads", |vitals| vitals.threads, Some(16.0)),
    ("processes below", |vitals| vitals.processes, Some(6.0)),
    ("journal MB", |vitals| vitals.journal_mb, None),
    ("WAL MB", |vitals| vitals.wal_mb, Some(16.0)),
];

/// The first part of the time, in which caches and pools fill.
const WARM_UP: f64 = 0.2;
/// Into how many stretches the time is divided.
const STRETCHES: usize = 15;

/// Samples of one process, each with the seconds at which it was taken.
#[derive(Debug, Default)]
pub(super) struct Trend {
    samples: Vec<(f64, Vitals)>,
}

impl Trend {
    pub(super) fn push(&mut self, seconds: f64, vitals: Vitals) {
        self.samples.push((seconds, vitals));
    }

    /// Series that have grown by more than they may.
    pub(super) fn breaches(&self) -> Vec<String> {
        if self.samples.len() < 2 * STRETCHES {
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

    /// Rise of the line through the lowest values, from the end of the warm-up to the end.
    fn growth(&self, value: fn(&Vitals) -> f64) -> f64 {
        let end = self.samples.last().map_or(0.0, |(seconds, _)| *seconds);
        let floor: Vec<(f64, f64)> = self.floor(value).filter(|(seconds, _)| *seconds > WARM_UP * end).collect();
        let (Some((first, _)), Some((last, _))) = (floor.first(), floor.last()) else { return 0.0 };
        slope(&floor) * (last - first)
    }

    /// The lowest value of each stretch, with the seconds at which that ends.
    fn floor(&self, value: fn(&Vitals) -> f64) -> impl Iterator<Item = (f64, f64)> {
        let length = self.samples.len().div_ceil(STRETCHES).max(1);
        self.samples.chunks(length).map(move |stretch| {
            let lowest = stretch.iter().map(|(_, vitals)| value(vitals)).fold(f64::INFINITY, f64::min);
            (stretch.last().map_or(0.0, |(seconds, _)| *seconds), lowest)
        })
    }
}

/// Slope of the line with the least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

/// The lowest values of each stretch of time, and below them by how much they grew.
impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = format!("{:>8}", "minutes");
        SERIES.iter().try_for_each(|(name, ..)| write!(head, "  {name:>15}"))?;
        writeln!(f, "{head}")?;
        let columns: Vec<Vec<(f64, f64)>> = SERIES.iter().map(|(_, value, _)| self.floor(*value).collect()).collect();
        for (row, (seconds, _)) in columns.first().into_iter().flatten().enumerate() {
            write!(f, "{:>8.1}", seconds / 60.0)?;
            columns.iter().try_for_each(|column| write!(f, "  {:>15.1}", column[row].1))?;
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
    fn a_series_that_stays_after_its_warm_up_is_flat() {
        let warming = trend(|second| if second < 15.0 { second } else { 30.0 + second % 3.0 });
        assert_eq!(warming.breaches(), [""; 0]);
    }

    #[test]
    fn more_work_now_and_then_is_not_growth() {
        let busier = trend(|second| if second > 50.0 && second % 4.0 > 0.0 { 60.0 } else { 30.0 });
        assert_eq!(busier.breaches(), [""; 0]);
    }

    #[test]
    fn slow_growth_without_end_is_seen() {
        let leaking = trend(|second| 30.0 + 0.2 * second + 10.0 * (second % 3.0));
        assert_eq!(leaking.breaches(), ["memory MB: grew by 16.2, and may by 12.0"]);
    }

    #[test]
    fn no_measurements_are_no_evidence() {
        assert_eq!(Trend::default().breaches(), ["there are too few samples to say anything"]);
    }

    #[test]
    fn a_table_has_a_row_for_each_stretch() {
        let table = trend(|_| 30.0).to_string();
        assert_eq!(table.lines().count(), 1 + STRETCHES + 2, "{table}");
        assert!(table.lines().next().is_some_and(|head| head.contains("descriptors")), "{table}");
    }
}
