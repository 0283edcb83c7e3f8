//! A reader of the output of Rust's test runner. Only the runner's own lines count.

use std::iter::Sum;
use std::ops::AddAssign;

/// Counts of tests by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut sum, count| {
            sum += count;
            sum
        })
    }
}

/// The sum of all closing lines; `None` when the runner did not get as far as to write one.
pub fn totals(output: &str) -> Option<Count> {
    let mut lines = output.lines().filter_map(closing_line).peekable();
    lines.peek()?;
    Some(lines.sum())
}

/// `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`
fn closing_line(line: &str) -> Option<Count> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number =
        |word: &str| counts.split("; ").find_map(|part| part.strip_suffix(word)?.trim_end().parse::<u64>().ok());
    Some(Count { passed: number("passed")?, failed: number("failed")?, ignored: number("ignored")? })
}

/// Names of the tests that ended with `verdict`: `ok` or `FAILED`.
pub fn tests_that_were<'a>(verdict: &'a str, output: &'a str) -> impl Iterator<Item = &'a str> {
    output.lines().filter_map(move |line| {
        let (name, found) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        (found == verdict).then_some(name)
    })
}

/// Names in the output of `--list`.
pub fn listed(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| line.strip_suffix(": test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 3 tests
test a::works ... ok
test b::breaks ... FAILED
test c::waits ... ignored

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 1 test
test src/lib.rs - a (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s
";

    #[test]
    fn closing_lines_are_added_up() {
        assert_eq!(totals(OUTPUT), Some(Count { passed: 2, failed: 1, ignored: 1 }));
    }

    #[test]
    fn a_runner_that_died_has_no_totals() {
        assert_eq!(totals("running 3 tests\ntest a::works ... ok\n"), None);
    }

    #[test]
    fn names_come_by_verdict() {
        assert_eq!(tests_that_were("FAILED", OUTPUT).collect::<Vec<_>>(), ["b::breaks"]);
        assert_eq!(tests_that_were("ok", OUTPUT).count(), 2);
        assert_eq!(listed("a::works: test\nb::breaks: test\n\n2 tests, 0 benchmarks\n").count(), 2);
    }
}
