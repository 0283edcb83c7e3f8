//! Outcomes of scenarios, and the table of them.

use std::fmt;

use super::host::Host;
use super::scenario::SCENARIOS;

/// A scenario with one host: whether it holds, and what was seen.
pub(super) struct Outcome {
    is_good: bool,
    seen: String,
    /// Text that the host's model received, to be shown in full.
    received: Option<String>,
}

/// All scenarios with one host.
pub(super) struct Column {
    pub(super) host: Host,
    pub(super) version: String,
    pub(super) outcomes: Vec<Outcome>,
}

impl Outcome {
    pub(super) fn good(seen: impl Into<String>) -> Self {
        Self::good_if(true, seen)
    }

    pub(super) fn bad(seen: impl Into<String>) -> Self {
        Self::good_if(false, seen)
    }

    pub(super) fn good_if(is_good: bool, seen: impl Into<String>) -> Self {
        Self { is_good, seen: seen.into(), received: None }
    }

    pub(super) fn showing(self, received: impl Into<String>) -> Self {
        Self { received: Some(received.into()), ..self }
    }
}

impl Column {
    pub(super) fn is_good(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.is_good)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_good { "" } else { "FAILED: " }, self.seen)
    }
}

/// The table, and the texts that the hosts' models received.
pub(super) fn page(columns: &[Column]) -> String {
    let mut page = table(columns);
    for column in columns {
        for received in column.outcomes.iter().filter_map(|outcome| outcome.received.as_ref()) {
            let title = column.host.title();
            page += &format!("\nOne report, as the model of {title} receives it:\n\n```text\n{received}\n```\n");
        }
    }
    page
}

/// A row for each scenario, a column for each host.
pub(super) fn table(columns: &[Column]) -> String {
    let row = |head: &str, cells: Vec<String>| format!("| {head} | {} |\n", cells.join(" | "));
    let mut table = row("", columns.iter().map(|column| column.host.title().to_owned()).collect());
    table += &row("---", columns.iter().map(|_| "---".to_owned()).collect());
    table += &row("version", columns.iter().map(|column| column.version.clone()).collect());
    for (index, scenario) in SCENARIOS.iter().enumerate() {
        let cell = |column: &Column| column.outcomes.get(index).map(in_cell).unwrap_or_default();
        table += &row(scenario.title, columns.iter().map(cell).collect());
    }
    table
}

/// An outcome as one line of a table.
fn in_cell(outcome: &Outcome) -> String {
    const LONGEST: usize = 80;
    let line = outcome.seen.replace('|', "\\|").replace('<', "&lt;").split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(LONGEST).collect();
    if outcome.is_good { line } else { format!("**fails**: {line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stands_out_and_stays_in_its_cell() {
        assert_eq!(in_cell(&Outcome::good("in parallel")), "in parallel");
        assert_eq!(in_cell(&Outcome::bad("one\n| two")), "**fails**: one \\| two");
        let outcomes = SCENARIOS.iter().map(|_| Outcome::good("well")).chain([Outcome::bad("ill")]).collect();
        let column = Column { host: Host::Codex, version: "1".to_owned(), outcomes };
        assert!(!column.is_good());
        let shown = Column { outcomes: vec![Outcome::good("text").showing("A report.")], ..column };
        let block = "as the model of Codex receives it:\n\n```text\nA report.\n```\n";
        assert!(page(&[shown]).ends_with(block));
    }
}
