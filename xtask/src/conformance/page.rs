//! The table: on the screen, in the documentation, and the findings about it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use super::standing::{Standing, Tests};
use super::statement::{Statement, Statements};

/// Every statement with its standing.
#[derive(Debug)]
pub(super) struct Page<'a> {
    designs: Vec<Section<'a>>,
    /// Tests that check a statement which is on no list.
    strays: Vec<String>,
}

#[derive(Debug)]
struct Section<'a> {
    title: &'a str,
    rows: Vec<(&'a str, &'a Statement, Standing<'a>)>,
}

const OPENING: &str = "\
# Conformance

Five contracts follow the Task tool designs of five kinds of host; the [README](../README.md#in-place-of-another-task-tool)
describes these hosts. This page lists every requirement of the designs, and how Sortie meets it.
`cargo xtask conformance --write` makes it from the list in `crates/cli/tests/conformance/statements.toml` and a run of the
tests in that folder. The tests drive the built program against a scripted model server, and judge by what the models
really received.

| Level | Meaning |
|---|---|
| M | must |
| O | may or should |
| D | deferred by the design itself |
| F | plans of the design for the future |
| G | guidance for models and people |
| I | information, nothing to check |

Ids name the contract: `S0` is `envelope`, `S1` `result`, `S2` `delegate`, `S3` `typed` and `S4` `child`. `P` is the protocol
of `envelope`. The number is the requirement's.
";

const COUNTS_HEAD: &str = "\
| design | statements | passed | by another command | wait | informative |
|---|--:|--:|--:|--:|--:|
";

impl<'a> Page<'a> {
    /// Makes the page of a run; `output` is the text that the test binary wrote.
    pub(super) fn of(statements: &'a Statements, output: &'a str) -> Self {
        let tests = Tests::of(output);
        let designs = statements.designs.iter().map(|design| Section {
            title: &design.title,
            rows: statements.of(design).map(|(id, statement)| (id, statement, tests.standing(id, statement))).collect(),
        });
        let unknown = tests.claims().filter(|(_, id)| !statements.statements.contains_key(*id));
        let strays = unknown.map(|(test, id)| format!("{test} checks {id}, which is on no list")).collect();
        Self { designs: designs.collect(), strays }
    }

    /// One line for each statement, then the counts.
    pub(super) fn lines(&self) -> String {
        let mut text = String::new();
        for (id, statement, standing) in self.designs.iter().flat_map(|section| &section.rows) {
            writeln!(text, "{id} {} {standing} · {}", statement.level, statement.says).ok();
        }
        text + "\n" + &self.counts()
    }

    fn counts(&self) -> String {
        let mut text = COUNTS_HEAD.to_owned();
        let mut total = [0; 5];
        for section in &self.designs {
            let counts = section.counts();
            total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            let [all, passed, elsewhere, waiting, informative] = counts;
            writeln!(text, "| {} | {all} | {passed} | {elsewhere} | {waiting} | {informative} |", section.title).ok();
        }
        let [all, passed, elsewhere, waiting, informative] = total;
        writeln!(text, "| **all** | **{all}** | **{passed}** | **{elsewhere}** | **{waiting}** | **{informative}** |")
            .ok();
        text
    }

    /// The page as it stands in the documentation.
    fn markdown(&self) -> String {
        let mut text = format!("{OPENING}\n{}", self.counts());
        for section in &self.designs {
            writeln!(text, "\n## {}\n\n| id | level | statement | |\n|---|---|---|---|", section.title).ok();
            for (id, statement, standing) in &section.rows {
                writeln!(text, "| {id} | {} | {} | {standing} |", statement.level, statement.says).ok();
            }
        }
        text
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        std::fs::write(path, self.markdown()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Findings, each in one line.
    pub(super) fn findings(&self, committed: &Path) -> Result<Vec<String>> {
        let rows = self.designs.iter().flat_map(|section| &section.rows);
        let bad = rows.filter(|(_, _, standing)| !standing.is_good());
        let mut findings: Vec<String> = bad.map(|(id, _, standing)| format!("{id}: {standing}")).collect();
        findings.extend(self.strays.iter().cloned());
        let kept =
            std::fs::read_to_string(committed).with_context(|| format!("cannot read {}", committed.display()))?;
        if findings.is_empty() && kept != self.markdown() {
            findings.push("the page is out of date; run `cargo xtask conformance --write`".to_owned());
        }
        Ok(findings)
    }
}

impl Section<'_> {
    /// Counts the statements, and those of each good standing.
    fn counts(&self) -> [usize; 5] {
        let count = |wanted: fn(&Standing<'_>) -> bool| self.rows.iter().filter(|(_, _, it)| wanted(it)).count();
        [
            self.rows.len(),
            count(|standing| *standing == Standing::Passed),
            count(|standing| matches!(standing, Standing::CheckedBy(_))),
            count(|standing| matches!(standing, Standing::WaitsFor(_))),
            count(|standing| *standing == Standing::Informative),
        ]
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn statements() -> Statements {
        let text = r#"
            designs = [{ id = "S2", title = "The second contract" }]
            [statements]
            S2-01 = { level = "M", says = "it works" }
            S2-02 = { level = "F", says = "it will work", waits_for = "shell" }
            S2-03 = { level = "I", says = "why", informative = true }
            S2-05 = { level = "M", says = "it is covered", checked_by = "cargo xtask coverage" }
        "#;
        Statements::parse(text).unwrap()
    }

    #[test]
    fn the_page_has_a_row_for_each_statement_and_the_counts() {
        let statements = statements();
        let page = Page::of(&statements, "test s2::s2_01_works ... ok\n");
        let markdown = page.markdown();
        expect![[r#"
            | design | statements | passed | by another command | wait | informative |
            |---|--:|--:|--:|--:|--:|
            | The second contract | 4 | 1 | 1 | 1 | 1 |
            | **all** | **4** | **1** | **1** | **1** | **1** |

            ## The second contract

            | id | level | statement | |
            |---|---|---|---|
            | S2-01 | M | it works | passed |
            | S2-02 | F | it will work | waits for shell |
            | S2-03 | I | why | informative |
            | S2-05 | M | it is covered | checked by `cargo xtask coverage` |
        "#]]
        .assert_eq(markdown.strip_prefix(OPENING).unwrap().trim_start());
        assert!(page.lines().starts_with("S2-01 M passed · it works\n"), "{}", page.lines());
    }

    #[test]
    fn gaps_strays_and_a_stale_page_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (committed, statements) = (folder.path().join("page.md"), statements());
        let found = |output: &str| Page::of(&statements, output).findings(&committed).unwrap();
        std::fs::write(&committed, "old").unwrap();
        assert_eq!(found("test s2::s2_04_s2_01_x ... ok\n"), ["s2::s2_04_s2_01_x checks S2-04, which is on no list"]);
        assert_eq!(found(""), ["S2-01: MISSING"]);
        let good = "test s2::s2_01_works ... ok\n";
        assert_eq!(found(good), ["the page is out of date; run `cargo xtask conformance --write`"]);
        Page::of(&statements, good).write(&committed).unwrap();
        assert_eq!(found(good), Vec::<String>::new());
    }
}
