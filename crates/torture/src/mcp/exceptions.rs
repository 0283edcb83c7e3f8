//! Checks of the conformance suite that fail, with reasons: a list in the crate's tests, repeated in the documentation.
//!
//! The list must be exact: an unlisted failure is a finding, and so is a listed check that passes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::suite::{Result as SuiteResult, Who};

const LIST: &str = "crates/mcp/tests/conformance.toml";
const PAGE: &str = "docs/mcp.md";
const BEGIN: &str = "<!-- conformance: written by `cargo xtask mcp --write` -->";
const END: &str = "<!-- end of conformance -->";

#[derive(Debug, Deserialize)]
pub(super) struct Exceptions {
    #[serde(rename = "exception", default)]
    all: Vec<Exception>,
}

/// Scenarios that do not pass, for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    server: Who,
    /// Each with the checks that do not hold; all others of the scenario do. Without any, the whole scenario is meant.
    scenarios: BTreeMap<String, Vec<String>>,
    reason: String,
}

impl Exceptions {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
        toml::from_str(&text).with_context(|| format!("{LIST} is not what it should be"))
    }

    /// Differences between the runs of the suite against one server and the list, both ways.
    pub(super) fn findings(&self, who: Who, results: &[SuiteResult]) -> Vec<String> {
        let mut findings = Vec::new();
        let mut needed = BTreeSet::new();
        for result in results {
            for (check, why) in &result.broken {
                match self.excuse(who, &result.scenario, check) {
                    Some(excuse) => drop(needed.insert(excuse)),
                    None => findings.push(format!("{who}, {}: {}, {check}: {why}", result.revision, result.scenario)),
                }
            }
        }
        let listed = self.all.iter().filter(|exception| exception.server == who).flat_map(Exception::excuses);
        let stale = listed.filter(|excuse| !needed.contains(excuse));
        findings.extend(stale.map(|(scenario, check)| {
            let check = check.map(|check| format!(", {check}")).unwrap_or_default();
            format!("{who}: {scenario}{check} holds everywhere or is not tried; take it from {LIST}")
        }));
        findings
    }

    /// True if the list has every failure of these results.
    pub(super) fn cover(&self, who: Who, results: &[SuiteResult]) -> bool {
        let mut broken = results.iter().flat_map(|result| result.broken.keys().map(|check| (&result.scenario, check)));
        broken.all(|(scenario, check)| self.excuse(who, scenario, check).is_some())
    }

    /// The entry that excuses a check.
    fn excuse<'a>(&'a self, who: Who, scenario: &str, check: &str) -> Option<(&'a str, Option<&'a str>)> {
        let mut excuses = self.all.iter().filter(|exception| exception.server == who).flat_map(Exception::excuses);
        excuses.find(|(named, checks)| *named == scenario && checks.is_none_or(|named| named == check))
    }

    /// The list as it stands in the documentation, where scenarios stand for the checks in them.
    fn table(&self) -> String {
        let mut table = "| program | why | scenarios |\n|---|---|---|\n".to_owned();
        for Exception { server, scenarios, reason } in &self.all {
            let scenarios: Vec<String> = scenarios.keys().map(|scenario| format!("`{scenario}`")).collect();
            writeln!(table, "| {server} | {reason} | {} |", scenarios.join(", ")).ok();
        }
        table
    }

    pub(super) fn page_findings(&self, root: &Path) -> Vec<String> {
        let page = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
        let current = replaced(&page, &self.table()).is_some_and(|current| current == page);
        let stale = format!("{PAGE} has another list than {LIST}; run `cargo xtask mcp --write`");
        if current { Vec::new() } else { vec![stale] }
    }

    pub(super) fn write(&self, root: &Path) -> Result<()> {
        let page = std::fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
        let page =
            replaced(&page, &self.table()).with_context(|| format!("{PAGE} has no place marked for the list"))?;
        std::fs::write(root.join(PAGE), page).with_context(|| format!("cannot write {PAGE}"))
    }
}

impl Exception {
    fn excuses(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.scenarios.iter().flat_map(|(scenario, checks)| {
            let whole = checks.is_empty().then_some((scenario.as_str(), None));
            whole.into_iter().chain(checks.iter().map(|check| (scenario.as_str(), Some(check.as_str()))))
        })
    }
}

/// The page with another table between the marks.
fn replaced(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exceptions() -> Exceptions {
        toml::from_str(
            r#"
            [[exception]]
            server = "sortie"
            reason = "it has no such tool"
            [exception.scenarios]
            tools-call-image = []
            server-stateless = ["no-log"]
            "#,
        )
        .unwrap()
    }

    fn result(scenario: &str, broken: &[&str]) -> SuiteResult {
        let broken = broken.iter().map(|check| ((*check).to_owned(), "it says so".to_owned())).collect();
        SuiteResult { revision: "2025-11-25".to_owned(), scenario: scenario.to_owned(), broken }
    }

    #[test]
    fn a_listed_failure_is_fine() {
        let results =
            [result("tools-call-image", &["a", "b"]), result("server-stateless", &["no-log"]), result("ping", &[])];
        assert_eq!(exceptions().findings(Who::Sortie, &results), Vec::<String>::new());
    }

    #[test]
    fn an_unlisted_failure_is_a_finding() {
        let results = [result("tools-call-image", &["a"]), result("server-stateless", &["no-log", "other"])];
        assert_eq!(
            exceptions().findings(Who::Sortie, &results),
            ["sortie mcp, 2025-11-25: server-stateless, other: it says so"]
        );
        let of_the_other = exceptions().findings(Who::Fixture, &[result("tools-call-image", &["a"])]);
        assert_eq!(of_the_other, ["fixture, 2025-11-25: tools-call-image, a: it says so"]);
    }

    #[test]
    fn a_run_is_covered_when_all_its_failures_are_listed() {
        assert!(exceptions().cover(Who::Sortie, &[result("server-stateless", &["no-log"]), result("ping", &[])]));
        assert!(!exceptions().cover(Who::Sortie, &[result("server-stateless", &["no-log", "other"])]));
        assert!(!exceptions().cover(Who::Fixture, &[result("server-stateless", &["no-log"])]));
    }

    #[test]
    fn a_listed_check_that_passes_is_a_finding() {
        let results = [result("tools-call-image", &[]), result("server-stateless", &["no-log"])];
        assert_eq!(
            exceptions().findings(Who::Sortie, &results),
            [
                "sortie mcp: tools-call-image holds everywhere or is not tried; take it from crates/mcp/tests/conformance.toml"
            ]
        );
    }

    #[test]
    fn the_page_has_a_row_for_each_reason() {
        let page = replaced(&format!("# MCP\n{BEGIN}\nold\n{END}\nafter\n"), &exceptions().table()).unwrap();
        expect_test::expect![[r#"
            # MCP
            <!-- conformance: written by `cargo xtask mcp --write` -->

            | program | why | scenarios |
            |---|---|---|
            | sortie mcp | it has no such tool | `server-stateless`, `tools-call-image` |

            <!-- end of conformance -->
            after
        "#]]
        .assert_eq(&page);
    }
}
