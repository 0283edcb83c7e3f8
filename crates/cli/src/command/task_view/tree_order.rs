//! Tasks in tree order.

use std::collections::{HashMap, HashSet};

use sortie_journal::TaskHeader;
use sortie_protocol::TaskId;

/// Sorts tasks into trees, each with its depth. A task follows the parent that started it, in order of start. Tasks
/// whose parent is not listed keep their order, newest first.
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
    // A stack: the first goes in last. Children arrive newest first and leave oldest first.
    let mut stack: Vec<(usize, &TaskHeader)> = tops.into_iter().rev().map(|header| (0, header)).collect();
    let mut lines = Vec::with_capacity(headers.len());
    while let Some((level, header)) = stack.pop() {
        lines.push((level, header));
        stack.extend(children.remove(&header.task_id).into_iter().flatten().map(|child| (level + 1, child)));
    }
    lines
}
