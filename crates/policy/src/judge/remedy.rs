//! The rules that would have allowed a call, as advice for people.

use sortie_protocol::Resource;
use sortie_shell_reader::analyse;

use super::allow_rule;
use super::line::{Line, Uncovered, WorkspaceWrites};
use crate::matching::{CalledTool, RuleList};
use crate::rule::Places;

/// The narrowest rules that cover this call together.
///
/// None where no pattern can, or where it is not known what the call would touch: to allow all calls of such a tool is
/// nobody's advice.
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

/// The rule that covers a call in every workspace.
///
/// None for a command: what it runs is another one's elsewhere, so that a rule for it is written by hand.
pub fn lasting_remedy(tool: &str, resource: &Resource, places: &Places) -> Option<String> {
    match resource {
        Resource::Path(path) => allow_rule::for_call(tool, &Resource::Path(places.root.as_ref()?.join(path))),
        resource => allow_rule::for_call(tool, resource),
    }
}
