//! One line of the result: the quantity, its value, its target, and the values of other programs.

use std::fmt::{self, Write};

use super::sample::Sample;

#[derive(Debug)]
pub(super) struct Figure {
    what: String,
    value: f64,
    spread: Option<(f64, f64)>,
    unit: Unit,
    /// Upper limit of the value.
    at_most: Option<f64>,
    /// Lower limit of the value.
    at_least: Option<f64>,
    peers: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Microseconds,
    Milliseconds,
    Seconds,
    Megabytes,
    Times,
    Count,
    PerSecond,
    Percent,
}

impl Figure {
    pub(super) fn new(what: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { what: what.into(), value, spread: None, unit, at_most: None, at_least: None, peers: String::new() }
    }

    /// The median and the spread of repeated measurements.
    pub(super) fn of(what: impl Into<String>, sample: &Sample, unit: Unit) -> Self {
        Self { spread: Some(sample.spread()), ..Self::new(what, sample.median(), unit) }
    }

    pub(super) fn at_most(self, target: f64) -> Self {
        Self { at_most: Some(target), ..self }
    }

    pub(super) fn at_least(self, target: f64) -> Self {
        Self { at_least: Some(target), ..self }
    }

    /// Adds the figures of other programs for the same work.
    pub(super) fn peers(self, peers: impl Into<String>) -> Self {
        Self { peers: peers.into(), ..self }
    }

    /// A value that is not a number misses every target.
    pub(super) fn is_missed(&self) -> bool {
        let above =
            self.at_most.is_some_and(|target| !matches!(self.value.partial_cmp(&target), Some(order) if order.is_le()));
        let below = self
            .at_least
            .is_some_and(|target| !matches!(self.value.partial_cmp(&target), Some(order) if order.is_ge()));
        above || below
    }

    fn target(&self) -> String {
        match (self.at_most, self.at_least) {
            (Some(target), _) => format!("≤ {}", self.unit.write(target)),
            (None, Some(target)) => format!("≥ {}", self.unit.write(target)),
            (None, None) => String::new(),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (target {})", self.what, self.unit.write(self.value), self.target())
    }
}

impl Unit {
    pub(super) fn write(self, value: f64) -> String {
        let number = match value.abs() {
            _ if self == Self::Count || self == Self::PerSecond => grouped(value),
            below if below < 10.0 => format!("{value:.2}"),
            below if below < 100.0 => format!("{value:.1}"),
            _ => grouped(value),
        };
        let number =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number };
        match self {
            Self::Microseconds => format!("{number} µs"),
            Self::Milliseconds => format!("{number} ms"),
            Self::Seconds => format!("{number} s"),
            Self::Megabytes => format!("{number} MB"),
            Self::Times => format!("{number} ×"),
            Self::Count => number,
            Self::PerSecond => format!("{number}/s"),
            Self::Percent => format!("{number} %"),
        }
    }
}

/// A whole number with its thousands set apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let behind = digits.len() - index;
        if index > 0 && behind.is_multiple_of(3) && digit.is_ascii_digit() && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// All figures as a Markdown table.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut table = String::from(
        "| What | Median | Spread | Target | | Peers on the same work |\n| --- | ---: | ---: | ---: | --- | --- |\n",
    );
    for figure in figures {
        let spread = figure.spread.map_or_else(String::new, |(low, high)| {
            format!("{} – {}", figure.unit.write(low), figure.unit.write(high))
        });
        let verdict = match figure.target().as_str() {
            "" => "",
            _ if figure.is_missed() => "missed",
            _ => "met",
        };
        // Writing to a string cannot fail.
        writeln!(
            table,
            "| {} | {} | {spread} | {} | {verdict} | {} |",
            figure.what,
            figure.unit.write(figure.value),
            figure.target(),
            figure.peers
        )
        .ok();
    }
    table
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn figures_become_a_table() {
        let sample: Sample = [11.25, 12.5, 40.0].into_iter().collect();
        let figures = [
            Figure::of("start", &sample, Unit::Milliseconds).at_most(20.0).peers("47 ms (a)"),
            Figure::new("at once", 19.0, Unit::Count).at_least(20.0),
            Figure::new("events", 123_456.7, Unit::PerSecond),
        ];
        expect![[r"
            | What | Median | Spread | Target | | Peers on the same work |
            | --- | ---: | ---: | ---: | --- | --- |
            | start | 12.5 ms | 11.2 ms – 40 ms | ≤ 20 ms | met | 47 ms (a) |
            | at once | 19 |  | ≥ 20 | missed |  |
            | events | 123,457/s |  |  |  |  |
        "]]
        .assert_eq(&table(&figures));
        assert_eq!(figures[1].to_string(), "at once: 19 (target ≥ 20)");
    }

    #[test]
    fn a_figure_without_a_measurement_misses_its_target() {
        assert!(Figure::new("x", f64::NAN, Unit::Count).at_most(1.0).is_missed());
        assert!(Figure::new("x", f64::NAN, Unit::Count).at_least(1.0).is_missed());
    }
}
