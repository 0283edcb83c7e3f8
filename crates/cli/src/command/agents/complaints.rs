//! What is wrong with agent files, said at the start of a run: briefly, the worst first.

use sortie_agents::{Finding, Registry};

use crate::error;
use crate::render::{neutral, width};

/// A run is about something else: more than this is one line that says where to look.
const MOST: usize = 3;
/// A finding quotes the file that it is about, which may be anybody's.
const COLUMNS: usize = 240;

/// Warns on stderr of the files that a run does without, or has only in part.
pub(crate) fn complain(agents: &Registry) {
    let mut findings: Vec<_> = agents.findings().iter().collect();
    findings.sort_by_key(|finding| !finding.is_error());
    let hidden = findings.len().saturating_sub(MOST);
    // One line more would say no more than the line that it saves.
    let shown = if hidden == 1 { findings.len() } else { findings.len().min(MOST) };
    for finding in &findings[..shown] {
        error::warn(&width::cut(&neutral::line(&plainly(finding)), COLUMNS));
    }
    if shown < findings.len() {
        error::note(&format!(
            "there is more to say about agent files ({hidden} findings); `sortie agents check` shows all"
        ));
    }
}

/// A finding for a line that has a label already.
pub(super) fn plainly(finding: &Finding) -> String {
    let Finding { path, line, message, fix, .. } = finding;
    match (finding.is_error(), line) {
        (true, Some(line)) => format!("{path} is not used: line {line}: {message}; {fix}"),
        (true, None) => format!("{path} is not used: {message}; {fix}"),
        (false, Some(line)) => format!("{path}:{line}: {message}; {fix}"),
        (false, None) => format!("{path}: {message}; {fix}"),
    }
}
