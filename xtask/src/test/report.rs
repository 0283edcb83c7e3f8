//! The summary: times, failures and the closing line.

use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use anyhow::Result;
use sortie_workshop::libtest::Count;

/// One step or suite.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    /// Absent for steps that are not suites of tests.
    budget: Option<Duration>,
    pub(super) elapsed: Duration,
    pub(super) count: Count,
    /// Failures, each in one line. Empty when all is well.
    pub(super) failures: Vec<String>,
}

impl Row {
    pub(super) fn suite(name: &str, budget: Duration) -> Self {
        Self { budget: Some(budget), ..Self::step(name, Duration::ZERO, None) }
    }

    /// A step that either failed, for this reason, or did not.
    pub(super) fn step(name: &str, elapsed: Duration, failure: Option<String>) -> Self {
        let failures = failure.into_iter().map(|failure| format!("{name}: {failure}")).collect();
        Self { name: name.to_owned(), budget: None, elapsed, count: Count::default(), failures }
    }

    fn tests(&self) -> String {
        self.budget.map_or_else(String::new, |_| (self.count.passed + self.count.failed).to_string())
    }

    fn seconds(&self) -> String {
        format!("{:.1}", self.elapsed.as_secs_f64())
    }

    fn budget(&self) -> String {
        self.budget.map_or_else(String::new, |budget| budget.as_secs().to_string())
    }

    /// Failed tests; a failure that is not a test's counts as one, so that a bad run never closes with `0 failed`.
    fn failed(&self) -> u64 {
        self.count.failed.max(self.failures.len() as u64)
    }
}

#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<Row>,
}

impl Report {
    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Runs a step that is not a suite of tests. `mend` says what to do when it is not good.
    pub(super) fn check(&mut self, name: &str, mend: &str, step: impl FnOnce() -> Result<bool>) -> Result<()> {
        super::announce(name);
        let began = Instant::now();
        let good = step()?;
        self.push(Row::step(name, began.elapsed(), (!good).then(|| mend.to_owned())));
        Ok(())
    }

    /// Runs a step of the set-up. Its error is a row of the report, and other steps follow.
    pub(super) fn attempt<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Option<T> {
        super::announce(name);
        let began = Instant::now();
        let result = step();
        let failure = result.as_ref().err().map(|error| format!("{error:#}"));
        self.push(Row::step(name, began.elapsed(), failure));
        result.ok()
    }

    /// The table for the documentation.
    pub(super) fn markdown(&self) -> String {
        let mut table = "| Step | Tests | Seconds | Budget |\n| --- | ---: | ---: | ---: |\n".to_owned();
        for row in &self.rows {
            writeln!(table, "| {} | {} | {} | {} |", row.name, row.tests(), row.seconds(), row.budget()).ok();
        }
        let tests: u64 = self.rows.iter().map(|row| row.count.passed).sum();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        writeln!(table, "| all, on {processors} processors | {tests} | {:.1} | |", self.total().as_secs_f64()).ok();
        table
    }

    fn total(&self) -> Duration {
        self.rows.iter().map(|row| row.elapsed).sum()
    }

    pub(super) fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.failed() == 0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<12} {:>7} {:>9} {:>7}", "suite", "tests", "seconds", "budget")?;
        for row in &self.rows {
            let mark = if row.failed() == 0 { "" } else { "  FAILED" };
            writeln!(f, "{:<12} {:>7} {:>9} {:>7}{mark}", row.name, row.tests(), row.seconds(), row.budget())?;
        }
        writeln!(f, "{:<12} {:>7} {:>9.1}\n", "all", "", self.total().as_secs_f64())?;
        for failure in self.rows.iter().flat_map(|row| &row.failures) {
            writeln!(f, "failed: {failure}")?;
        }
        let passed: u64 = self.rows.iter().map(|row| row.count.passed).sum();
        let failed: u64 = self.rows.iter().map(Row::failed).sum();
        writeln!(f, "{passed} passed, {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_summary_says_where_the_time_went_and_what_failed() {
        let mut report = Report::default();
        report.push(Row::step("format", Duration::from_millis(840), None));
        let mut suite = Row::suite("journal", Duration::from_mins(1));
        suite.elapsed = Duration::from_millis(12_345);
        suite.count = Count { passed: 41, failed: 1, ignored: 0 };
        suite.failures = vec!["journal (it): crash::loses_nothing".to_owned()];
        report.push(suite);
        expect![[r#"

            suite          tests   seconds  budget
            format                     0.8        
            journal           42      12.3      60  FAILED
            all                       13.2

            failed: journal (it): crash::loses_nothing
            41 passed, 1 failed
        "#]]
        .assert_eq(&report.to_string());
        assert!(!report.is_good());
    }

    #[test]
    fn a_run_with_a_failed_step_never_closes_with_no_failure() {
        let mut report = Report::default();
        report.push(Row::step("tidy", Duration::ZERO, Some("see above".to_owned())));
        assert!(report.to_string().ends_with("\n0 passed, 1 failed\n"));
        assert!(!report.is_good());
    }
}
