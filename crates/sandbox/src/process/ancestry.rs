//! Looks among the ancestors of this process for a keeper: then a command of a task has started it.

use std::fs;

use crate::process::fork_server::NAME;

/// Whether a keeper is among the ancestors of this process: a command of a task has started it, itself or by others.
/// Where processes cannot be looked at, none is found.
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

/// The process that has started another one, or that has adopted it since; `None` of the first.
fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    (parent != 0).then_some(parent)
}
