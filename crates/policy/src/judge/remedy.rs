//! Advice for people: the rules that would have allowed a call.

use sortie_protocol::Resource;
use sortie_shell_reader::analyse;

use super::allow_rule;
use super::line::{Line, Uncovered, WorkspaceWrites};
use crate::matching::{CalledTool, RuleList};
use crate::rule::Places;

/// Returns the narrowest rules that together cover this call.
///
/// Empty if no pattern can, or if the target of the call is unknown: allowing all calls of such a tool would be bad
/// advice.
pub fn remedies(tool: &str, resource: &Resource, places: &Places) -> Vec<String> {
    let Resource::Command { line, directory } = resource else {
        return allow_rule::for_call(tool, resource).into_iter().collect();
    };
    let analysis = analyse(line, places.absolute(directory).as_deref());
    let Ok(line) = Line::new(CalledTool::named(tool), &analysis, places) else { return Vec::new() };
    match line.uncovered_by(&RuleList::default(), WorkspaceWrites::NeedRule) {
        Uncovered::Gaps(gaps) => allow_rule::for_gaps(&gaps, places.root.as_deref()).unwrap_or_default(),
        Uncovered::Nothing | Uncovered::Whole => Vec::new(),
    }
}

/// Returns the rule that covers a call in every workspace.
///
/// `None` for a command: in another workspace it may run a different program, so people write such rules by hand.
pub fn lasting_remedy(tool: &str, resource: &Resource, places: &Places) -> Option<String> {
    match resource {
        Resource::Path(path) => allow_rule::for_call(tool, &Resource::Path(places.root.as_ref()?.join(path))),
        resource => allow_rule::for_call(tool, resource),
    }
}
