//! Bounds of a message from one task to another.

use crate::answer::phrases::bytes;
use crate::answer::tool_error::ToolError;

/// The longest message to a task, from another task or from a person.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// Returns an error if a text cannot be sent to another task; `name` is the argument with the text.
pub(crate) fn check_message(name: &str, text: &str) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::arguments(format!("nothing was sent: the {name} is empty")));
    }
    if text.len() > MAX_MESSAGE_BYTES {
        let (n_bytes, most) = (bytes(text.len() as u64), bytes(MAX_MESSAGE_BYTES as u64));
        return Err(ToolError::arguments(format!(
            "nothing was sent: the {name} has {n_bytes}, at most {most} can be sent; shorten it, or write a file and name it"
        )));
    }
    Ok(())
}
