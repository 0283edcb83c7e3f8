//! Last step of every decoder: one shape of reply, whatever habits the server has.

use sortie_protocol::{Part, Reply, StopReason, Usage};

use super::is_blank;

/// Makes the reply from what a decoder gathered.
///
/// Empty text is left out, and the stop reason agrees with the calls. A reply that the provider withheld has no calls:
/// nobody vouches for them. Missing arguments are an empty object only where the provider says that its reply is whole;
/// when the output cap cut them they stay as they came, so that who runs the call sees it. Ids stay as they came too,
/// even empty or twice the same.
pub(super) fn assemble(mut parts: Vec<Part>, said: StopReason, usage: Usage, model: String) -> Reply {
    parts.retain(|part| match part {
        Part::Text { text } => !text.is_empty(),
        Part::Call(_) => said != StopReason::Refusal,
        Part::Reasoning(_) => true,
    });
    let has_calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    let stop = match said {
        StopReason::End | StopReason::Calls if has_calls => StopReason::Calls,
        StopReason::Calls => StopReason::End,
        other => other,
    };
    for part in &mut parts {
        if let Part::Call(call) = part
            && stop == StopReason::Calls
            && is_blank(&call.arguments)
        {
            "{}".clone_into(&mut call.arguments);
        }
    }
    Reply { parts, stop, usage, usage_doubted: false, model }
}
