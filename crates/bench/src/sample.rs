//! Repeated measurements of one quantity, and their summary.

use std::time::Duration;

/// Values of one kind, at least one.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    values: Vec<f64>,
}

impl Sample {
    pub(super) fn push(&mut self, value: f64) {
        self.values.push(value);
    }

    pub(super) fn push_ms(&mut self, time: Duration) {
        self.push(time.as_secs_f64() * 1000.0);
    }

    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied()
    }

    pub(super) fn median(&self) -> f64 {
        let sorted = self.sorted();
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            length if length.is_multiple_of(2) => f64::midpoint(sorted[middle - 1], sorted[middle]),
            _ => sorted[middle],
        }
    }

    /// The greatest value when one in so many, the greatest ones, are left out.
    pub(super) fn all_but_one_in(&self, count: usize) -> f64 {
        let sorted = self.sorted();
        sorted.iter().rev().nth(sorted.len() / count.max(1)).copied().unwrap_or(f64::NAN)
    }

    /// The least and the greatest value.
    pub(super) fn spread(&self) -> (f64, f64) {
        let sorted = self.sorted();
        (sorted.first().copied().unwrap_or(f64::NAN), sorted.last().copied().unwrap_or(f64::NAN))
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self { values: values.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_the_spread_the_ends() {
        let odd: Sample = [3.0, 1.0, 9.0].into_iter().collect();
        assert_eq!((odd.median(), odd.spread()), (3.0, (1.0, 9.0)));
        let even: Sample = [4.0, 1.0, 2.0, 9.0].into_iter().collect();
        assert!((even.median() - 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_worst_of_a_hundred_can_be_left_out() {
        let hundred: Sample = (1..=100).map(f64::from).collect();
        assert_eq!((hundred.all_but_one_in(100), hundred.all_but_one_in(101)), (99.0, 100.0));
        assert!(Sample::default().all_but_one_in(100).is_nan());
    }
}
