//! Refusals before any permission check: too many calls, no such tool, not offered, a reply that was cut.
//!
//! Refusals by the grant or by a person are in `permission_check.rs`.

use sortie_policy::{Decision, Ground, Rule, Why};
use sortie_protocol::{Fault, StopReason, ToolOutput};
use sortie_tools::Tool;
use tokio_util::sync::CancellationToken;

use crate::gate::{Gate, PendingCall};

/// Most calls of one reply that run. The rest is refused; a reply with far more is refused as a whole, by the caller of
/// the model.
const MAX_CALLS_PER_TURN: usize = 256;

/// Returns the output that refuses a call; `None` if it may run.
pub(crate) fn refusal(
    gate: &Gate,
    call: &PendingCall<'_>,
    ended: StopReason,
    stop: &CancellationToken,
) -> Option<ToolOutput> {
    let tool = &call.tool;
    let refused = |text: String| Some(ToolOutput::failure(text).because(Fault::NotAllowed));
    if call.index >= MAX_CALLS_PER_TURN {
        let text = format!("{tool} was not run: at most {MAX_CALLS_PER_TURN} calls can be made in one turn.");
        return Some(ToolOutput::failure(text).because(Fault::TooMany));
    }
    let Some(known) = gate.tool(call) else {
        let meant = gate.tools.suggest(tool).filter(|name| gate.offered.iter().any(|offered| offered == name));
        let hint = meant.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
        let text = format!("There is no tool `{tool}`.{hint} {}", possessions(gate));
        // The name of an existing tool in any spelling is not granted; any other name is not a tool at all.
        let is_known = tool.parse::<Rule>().is_ok_and(|rule| rule.unknown_tool_in_any_case().is_none());
        let fault = if is_known { Fault::NotAllowed } else { Fault::NoSuchTool };
        return Some(ToolOutput::failure(text).because(fault));
    };
    if !gate.offered.contains(tool) {
        return refused(format!("{tool} {}. {}", not_offered(gate, call, known.as_ref(), stop), possessions(gate)));
    }
    // Half of the arguments may be valid JSON, and servers repair JSON that they cut. Not every wire marks the end of
    // a call, so earlier calls of such a reply are not known to be whole either.
    if ended == StopReason::Length && !sortie_mutant::is_out("cut-calls") {
        let text = format!(
            "{tool} was not run: your output limit cut this reply, so none of its calls was run. Make the calls again, \
             shorter or fewer at a time."
        );
        return Some(ToolOutput::failure(text).because(Fault::Arguments));
    }
    None
}

/// Explains why the task does not have an existing tool. The call is judged by its resource, so that the text can name
/// a rule that would allow it.
fn not_offered(gate: &Gate, call: &PendingCall<'_>, tool: &dyn Tool, stop: &CancellationToken) -> String {
    let resource = tool.resource(&call.arguments, gate.context(call, &gate.workspace, stop));
    match gate.permission_check.judge.decide(&call.tool, &resource) {
        // The text lists the task's own tools after this.
        Decision::Deny(Ground { owner, why: Why::NotAdmitted { .. }, .. }) => {
            format!("is not granted to this task (by {owner})")
        }
        Decision::Deny(ground) => format!("is not granted to this task ({ground})"),
        Decision::Allow | Decision::Ask(_) => "is not available to this task".to_owned(),
    }
}

/// Lists the tools that the task has.
fn possessions(gate: &Gate) -> String {
    if gate.offered.is_empty() {
        return "You have no tools.".to_owned();
    }
    format!("You have: {}.", gate.offered.join(", "))
}
