//! The last step of every decoder: one shape of reply, whatever habits the server has.

use std::collections::HashSet;

use sortie_protocol::{CallId, Part, Reply, StopReason, ToolCall, Usage};

use super::is_blank;

/// Makes the reply from what a decoder gathered.
///
/// Empty text is left out, every call has an id of its own, and the stop reason agrees with the calls. Arguments stay as
/// they came when the output cap cut them: who runs the call must see that.
pub(super) fn assemble(mut parts: Vec<Part>, said: StopReason, usage: Usage, model: String) -> Reply {
    parts.retain(|part| !matches!(part, Part::Text { text } if text.is_empty()));
    let has_calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    let stop = match said {
        StopReason::End | StopReason::Calls if has_calls => StopReason::Calls,
        StopReason::Calls => StopReason::End,
        other => other,
    };
    let mut taken = HashSet::new();
    for part in &mut parts {
        let Part::Call(call) = part else { continue };
        if stop != StopReason::Length && is_blank(&call.arguments) {
            "{}".clone_into(&mut call.arguments);
        }
        give_own_id(call, &mut taken);
    }
    Reply { parts, stop, usage, model }
}

/// Some servers send no id, or the same one twice.
fn give_own_id(call: &mut ToolCall, taken: &mut HashSet<CallId>) {
    while call.id.0.is_empty() || taken.contains(&call.id) {
        // Without randomness the number of ids so far still tells the calls of this reply apart.
        let random = getrandom::u64().unwrap_or(taken.len() as u64);
        call.id = CallId(format!("call_{random:016x}"));
    }
    taken.insert(call.id.clone());
}
