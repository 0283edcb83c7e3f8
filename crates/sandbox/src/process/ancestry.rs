//! Looks for a keeper among the ancestors of this process, which means that a task's command started it.

use std::fs;

use crate::process::fork_server::NAME;

/// True if a keeper is among the ancestors of this process: a task's command started it, directly or indirectly. If
/// processes cannot be inspected, none is found.
pub fn is_below_a_command() -> bool {
    let mut next = parent_of(std::process::id());
    while let Some(ancestor) = next {
        let line = fs::read(format!("/proc/{ancestor}/cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).next() == Some(NAME.as_bytes()) {
            return true;
        }
        next = parent_of(ancestor);
    }
    false
}

/// The current parent of a process, original or adoptive; `None` for the first process.
fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    (parent != 0).then_some(parent)
}
