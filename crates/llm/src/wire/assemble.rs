//! Last step of every decoder: one shape of reply, whatever the server's habits.

use sortie_protocol::{Part, Reply, StopReason, Usage};

use super::is_blank;

/// Makes the reply from the parts that a decoder gathered.
///
/// Empty text is dropped, and the stop reason is made to agree with the calls. A reply that the provider withheld keeps
/// no calls, because nobody vouches for them. Missing arguments become an empty object only if the provider says that
/// its reply is complete. Arguments cut by the output cap stay as they came, so that the runner of the call notices.
/// Ids also stay as they came, even empty or duplicated ones.
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
    Reply { parts, stop, usage, usage_doubted: false, usage_high: false, model }
}
