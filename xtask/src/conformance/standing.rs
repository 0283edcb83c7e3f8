//! The standing of a statement after a run of the tests.

use std::fmt;

use super::claim;
use super::statement::Statement;
use sortie_workshop::libtest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing<'a> {
    /// At least one test that checks it passed, and none failed.
    Passed,
    /// These tests that check it failed.
    Failed(Vec<&'a str>),
    /// No test can see it; this command checks it.
    CheckedBy(&'a str),
    /// It cannot be checked before this exists.
    WaitsFor(&'a str),
    /// The list says that it waits, but this test checks it already.
    WaitsNoLonger(&'a str),
    /// There is nothing to check.
    Informative,
    /// No test checks it, and the list gives no reason.
    Missing,
}

/// The tests of one run, with the statements that each checks.
#[derive(Debug)]
pub(super) struct Tests<'a> {
    passed: Vec<(&'a str, Vec<String>)>,
    failed: Vec<(&'a str, Vec<String>)>,
}

impl<'a> Tests<'a> {
    pub(super) fn of(output: &'a str) -> Self {
        let that_were = |verdict| libtest::tests_that_were(verdict, output).map(|test| (test, claim::ids(test)));
        Self { passed: that_were("ok").collect(), failed: that_were("FAILED").collect() }
    }

    pub(super) fn standing(&self, id: &str, statement: &'a Statement) -> Standing<'a> {
        let failed: Vec<&str> = checking(&self.failed, id).collect();
        let passed = checking(&self.passed, id).next();
        match (&statement.waits_for, passed) {
            _ if !failed.is_empty() => Standing::Failed(failed),
            (None, _) if let Some(command) = &statement.checked_by => Standing::CheckedBy(command),
            (Some(_), Some(test)) => Standing::WaitsNoLonger(test),
            (Some(capability), None) => Standing::WaitsFor(capability),
            (None, Some(_)) => Standing::Passed,
            (None, None) if statement.informative => Standing::Informative,
            (None, None) => Standing::Missing,
        }
    }

    /// Ids that tests claim, with the test, in the order of the run.
    pub(super) fn claims(&self) -> impl Iterator<Item = (&'a str, &str)> {
        self.passed.iter().chain(&self.failed).flat_map(|(test, ids)| ids.iter().map(|id| (*test, id.as_str())))
    }
}

fn checking<'a>(tests: &[(&'a str, Vec<String>)], id: &str) -> impl Iterator<Item = &'a str> {
    tests.iter().filter(move |(_, ids)| ids.iter().any(|known| known == id)).map(|(test, _)| *test)
}

impl Standing<'_> {
    pub(super) fn is_good(&self) -> bool {
        matches!(self, Self::Passed | Self::CheckedBy(_) | Self::WaitsFor(_) | Self::Informative)
    }
}

impl fmt::Display for Standing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(tests) => write!(f, "FAILED: {}", tests.join(", ")),
            Self::CheckedBy(command) => write!(f, "checked by `{command}`"),
            Self::WaitsFor(capability) => write!(f, "waits for {capability}"),
            Self::WaitsNoLonger(test) => write!(f, "NO LONGER WAITS: {test} checks it"),
            Self::Informative => f.write_str("informative"),
            Self::Missing => f.write_str("MISSING"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
test s2::s2_01_s2_02_works ... ok
test s2::s2_02_breaks ... FAILED
test s2::s2_03_already_works ... ok
";

    fn standing(id: &str, waits_for: Option<&str>, informative: bool) -> String {
        let waits_for = waits_for.map(str::to_owned);
        let (level, says) = ("M".to_owned(), String::new());
        let statement = Statement { level, says, waits_for, checked_by: None, informative };
        let tests = Tests::of(OUTPUT);
        let standing = tests.standing(id, &statement);
        format!("{standing} ({})", standing.is_good())
    }

    #[test]
    fn a_statement_passes_when_one_of_its_tests_did_and_none_failed() {
        assert_eq!(standing("S2-01", None, false), "passed (true)");
        assert_eq!(standing("S2-02", None, false), "FAILED: s2::s2_02_breaks (false)");
    }

    #[test]
    fn a_statement_without_a_test_says_what_it_waits_for_or_is_missing() {
        assert_eq!(standing("S2-04", Some("shell"), false), "waits for shell (true)");
        assert_eq!(standing("S2-04", None, true), "informative (true)");
        assert_eq!(standing("S2-04", None, false), "MISSING (false)");
    }

    #[test]
    fn a_statement_with_a_test_does_not_wait() {
        let expected = "NO LONGER WAITS: s2::s2_03_already_works checks it (false)";
        assert_eq!(standing("S2-03", Some("shell"), false), expected);
    }
}
