//! Inherited messages of a forked task: its parent's conversation as it stood when the task started.
//!
//! Nothing is copied: when the task is loaded, `load_task.rs` reads them again from the parent's log. Both logs belong
//! to one tree, and are pruned together.

use std::collections::HashSet;

use sortie_protocol::{CallId, CallOutput, ForkedContext, Message, ToolOutput};

/// Stands for an output that the task may not see.
const WITHHELD: &str = "[withheld: your grant does not cover this call, so its output was not passed on to you]";

/// Returns the messages with which a forked task begins. `parents` is the parent's conversation.
pub(crate) fn inherited(parents: &[Message], fork: &ForkedContext) -> Vec<Message> {
    let withheld: HashSet<&CallId> = fork.withheld.iter().collect();
    let end = fork.end.min(parents.len());
    let first = parents[..end].iter().take(1);
    let rest = parents[..end].iter().skip(1 + fork.skipped);
    first.chain(rest).map(|message| without(message, &withheld)).collect()
}

/// Returns a message without the outputs of these calls. Each call keeps exactly one output.
fn without(message: &Message, withheld: &HashSet<&CallId>) -> Message {
    let mut message = message.clone();
    if let Message::Outputs { outputs } = &mut message {
        for CallOutput { output, .. } in outputs.iter_mut().filter(|output| withheld.contains(&output.call)) {
            *output = ToolOutput::done(WITHHELD, "withheld");
        }
    }
    message
}
