//! Warnings about agent files at the start of a run: few, and the worst first.

use std::cmp::Reverse;

use sortie_agents::{Finding, Registry, Weight};

use crate::error;
use crate::text::{neutral, width};

/// Most warnings in a run; the rest become one line that points to `sortie agents check`.
const MOST: usize = 3;
/// Most warnings about ignored files, which do nothing and can be numerous.
const MOST_SET_ASIDE: usize = 20;
/// Columns of a finding, which quotes a file of anybody's.
const COLUMNS: usize = 240;

/// Warns on stderr about files that a run ignores, wholly or in part.
pub(crate) fn complain(agents: &Registry) {
    let shown = most_telling(agents.findings());
    for finding in &shown {
        error::warn(&width::cut(&neutral::line(&plainly(finding)), COLUMNS));
    }
    let hidden = agents.findings().len() - shown.len();
    if hidden > 0 {
        error::note(&format!("there are {hidden} more findings about agent files; `sortie agents check` shows all"));
    }
}

/// Findings that a person must see, the most important first. A displaced agent is always listed, however many other
/// findings a repository has: only the user's own files can be displaced.
fn most_telling(findings: &[Finding]) -> Vec<&Finding> {
    let mut shown = Vec::new();
    for (weight, most) in
        [(Weight::Displacing, usize::MAX), (Weight::SetAside, MOST_SET_ASIDE), (Weight::Ordinary, MOST)]
    {
        let mut of_weight: Vec<_> = findings.iter().filter(|finding| finding.weight == weight).collect();
        of_weight.sort_by_key(|finding| Reverse(finding.severity));
        // A line about one more finding would say no more than the finding itself.
        let most = if of_weight.len() == most.saturating_add(1) { of_weight.len() } else { most };
        shown.extend(of_weight.into_iter().take(most));
    }
    shown
}

/// Finding for a line that already has a label.
pub(crate) fn plainly(finding: &Finding) -> String {
    let Finding { path, line, message, fix, .. } = finding;
    match (finding.is_error(), line) {
        (true, Some(line)) => format!("{path} is not used: line {line}: {message}; {fix}"),
        (true, None) => format!("{path} is not used: {message}; {fix}"),
        (false, Some(line)) => format!("{path}:{line}: {message}; {fix}"),
        (false, None) => format!("{path}: {message}; {fix}"),
    }
}
