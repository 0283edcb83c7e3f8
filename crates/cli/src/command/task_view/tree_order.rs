//! Tasks in the order of their tree.

use std::collections::{HashMap, HashSet};

use sortie_journal::TaskHeader;
use sortie_protocol::TaskId;

/// Each task below the one that started it, in order of starting, as far as that one is among them; the others newest
/// first, as they came. With each, how far down it stands.
pub(in crate::command) fn as_tree<'a>(
    newest_first: impl Iterator<Item = &'a TaskHeader>,
) -> Vec<(usize, &'a TaskHeader)> {
    let headers: Vec<&TaskHeader> = newest_first.collect();
    let listed: HashSet<TaskId> = headers.iter().map(|header| header.task_id).collect();
    let mut children: HashMap<TaskId, Vec<&TaskHeader>> = HashMap::new();
    let mut tops = Vec::new();
    for header in &headers {
        match header.parent_id.filter(|parent| listed.contains(parent)) {
            Some(parent) => children.entry(parent).or_default().push(header),
            None => tops.push(*header),
        }
    }
    // Last in, first out: what comes first goes in last. Children come newest first and go out oldest first.
    let mut stack: Vec<(usize, &TaskHeader)> = tops.into_iter().rev().map(|header| (0, header)).collect();
    let mut lines = Vec::with_capacity(headers.len());
    while let Some((level, header)) = stack.pop() {
        lines.push((level, header));
        stack.extend(children.remove(&header.task_id).into_iter().flatten().map(|child| (level + 1, child)));
    }
    lines
}
