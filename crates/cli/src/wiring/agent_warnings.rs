//! Warnings about agent files at the start of a run, few and the worst first.

use std::cmp::Reverse;

use sortie_agents::{Finding, Registry, Weight};

use crate::error;
use crate::text::{neutral, width};

/// A run is about something else: more than this is one line that says where to look.
const MOST: usize = 3;
/// Files that were set aside do nothing, and anybody can ship any number of them.
const MOST_SET_ASIDE: usize = 20;
/// A finding quotes the file that it is about, which may be anybody's.
const COLUMNS: usize = 240;

/// Warns on stderr of the files that a run does without, or has only in part.
pub(crate) fn complain(agents: &Registry) {
    let shown = most_telling(agents.findings());
    for finding in &shown {
        error::warn(&width::cut(&neutral::line(&plainly(finding)), COLUMNS));
    }
    let hidden = agents.findings().len() - shown.len();
    if hidden > 0 {
        error::note(&format!(
            "there is more to say about agent files ({hidden} findings); `sortie agents check` shows all"
        ));
    }
}

/// What a person must hear, the weightiest first. Who takes the place of whom is never left out for the sake of other
/// findings, however many of those a repository has: only the user's own files can be displaced.
fn most_telling(findings: &[Finding]) -> Vec<&Finding> {
    let mut shown = Vec::new();
    for (weight, most) in
        [(Weight::Displacing, usize::MAX), (Weight::SetAside, MOST_SET_ASIDE), (Weight::Ordinary, MOST)]
    {
        let mut of_weight: Vec<_> = findings.iter().filter(|finding| finding.weight == weight).collect();
        of_weight.sort_by_key(|finding| Reverse(finding.severity));
        // One line more would say no more than the line that it saves.
        let most = if of_weight.len() == most.saturating_add(1) { of_weight.len() } else { most };
        shown.extend(of_weight.into_iter().take(most));
    }
    shown
}

/// A finding for a line that has a label already.
pub(crate) fn plainly(finding: &Finding) -> String {
    let Finding { path, line, message, fix, .. } = finding;
    match (finding.is_error(), line) {
        (true, Some(line)) => format!("{path} is not used: line {line}: {message}; {fix}"),
        (true, None) => format!("{path} is not used: {message}; {fix}"),
        (false, Some(line)) => format!("{path}:{line}: {message}; {fix}"),
        (false, None) => format!("{path}: {message}; {fix}"),
    }
}
