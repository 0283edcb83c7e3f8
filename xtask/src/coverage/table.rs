//! The table: lines and lines that were run, by crate and in all.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::AddAssign;
use std::path::PathBuf;

use anyhow::{Context, Result};
use sortie_workshop::Workspace;

use super::lcov::Lines;
use crate::tidy;

/// More than this many of a hundred lines are to be run by tests.
const TARGET: f64 = 80.0;

#[derive(Debug, Default)]
pub(super) struct Table {
    crates: BTreeMap<String, Count>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    lines: usize,
    run: usize,
}

impl Table {
    /// Counts the lines of all crates that are not tests.
    pub(super) fn of(workspace: &Workspace, files: &BTreeMap<PathBuf, Lines>) -> Result<Self> {
        let mut table = Self::default();
        for (path, lines) in files {
            let Some(package) = workspace.packages.iter().find(|package| path.starts_with(package.directory())) else {
                continue;
            };
            let name = path.strip_prefix(&workspace.root).unwrap_or(path).to_string_lossy();
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            table.add(package.folder(), lines, &tidy::test_lines(&name, text));
        }
        Ok(table)
    }

    fn add(&mut self, folder: &str, lines: &Lines, tests: &HashSet<usize>) {
        let count = self.crates.entry(folder.to_owned()).or_default();
        for (_, &was_run) in lines.iter().filter(|(number, _)| !tests.contains(number)) {
            *count += Count { lines: 1, run: usize::from(was_run) };
        }
    }

    fn total(&self) -> Count {
        let mut total = Count::default();
        self.crates.values().for_each(|&count| total += count);
        total
    }

    pub(super) fn is_good(&self) -> bool {
        self.total().percent() > TARGET
    }
}

impl Count {
    /// Nothing is not covered.
    fn percent(self) -> f64 {
        if self.lines == 0 { 0.0 } else { 100.0 * self.run as f64 / self.lines as f64 }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.run += other.run;
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<12} {:>7} {:>7} {:>8}", "crate", "lines", "run", "percent")?;
        let mut row = |name: &str, count: Count, note: &str| {
            writeln!(f, "{name:<12} {:>7} {:>7} {:>8.1}{note}", count.lines, count.run, count.percent())
        };
        for (folder, &count) in &self.crates {
            row(folder, count, "")?;
        }
        row("all", self.total(), if self.is_good() { "" } else { "  TOO LITTLE" })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn table(engine_lines_run: usize) -> Table {
        let mut table = Table::default();
        let lines = |run: usize| (1..=10).map(|number| (number, number <= run)).collect::<Lines>();
        table.add("engine", &lines(engine_lines_run), &HashSet::new());
        table.add("journal", &lines(10), &HashSet::from([9, 10]));
        table
    }

    #[test]
    fn lines_of_tests_do_not_count() {
        expect![[r#"

            crate          lines     run  percent
            engine            10       7     70.0
            journal            8       8    100.0
            all               18      15     83.3
        "#]]
        .assert_eq(&table(7).to_string());
    }

    #[test]
    fn too_few_lines_are_a_failure() {
        assert!(table(7).is_good());
        assert!(!table(6).is_good());
        assert!(!Table::default().is_good(), "no lines at all are no success");
        expect![[r#"

            crate          lines     run  percent
            engine            10       6     60.0
            journal            8       8    100.0
            all               18      14     77.8  TOO LITTLE
        "#]]
        .assert_eq(&table(6).to_string());
    }
}
