//! Changes of a task and its descendants: the recorded diffs of their tools, one per edit, in order. Files changed by
//! other means are named, without diffs.

use std::collections::BTreeSet;

use sortie_journal::{Journal, JournalError, Position, Scope, TaskHeader};
use sortie_protocol::{CallId, CallOutput, Event, Fact, TaskId};

use crate::resources::page::Page;

/// Events held in memory at once.
const AT_ONCE: usize = 256;

pub(super) fn write(journal: &dyn Journal, header: &TaskHeader, mut page: Page) -> Result<Page, JournalError> {
    let branch: BTreeSet<TaskId> = journal.tree(header.task_id)?.iter().map(|header| header.task_id).collect();
    let (scope, mut after) = (Scope::Tree(header.root_id), Position::default());
    let mut record = Record::default();
    loop {
        let events = journal.read_after(scope, after, AT_ONCE)?;
        let Some((last, _)) = events.last() else { break };
        after = *last;
        for (_, event) in events.into_iter().filter(|(_, event)| branch.contains(&event.task_id)) {
            record.see(event, &mut page);
        }
    }
    if !record.without_diff.is_empty() {
        let files: Vec<String> =
            record.without_diff.iter().map(|file| file.replace(char::is_control, "\u{fffd}")).collect();
        page.push(&format!("# changed by commands, of which no diff is kept: {}\n", files.join(", ")));
    }
    if page.is_empty() {
        page.push(&format!("# {} and those below it have changed no files\n", header.task_id));
    }
    Ok(page)
}

/// Record of a branch so far.
#[derive(Default)]
struct Record {
    without_diff: BTreeSet<String>,
    /// Calls answered by a task; their changes are in that task's own log.
    delegations: BTreeSet<(TaskId, CallId)>,
}

impl Record {
    fn see(&mut self, event: Event, page: &mut Page) {
        match event.fact {
            Fact::ChildStarted { call, .. } | Fact::ChildEnded { call, .. } => {
                self.delegations.insert((event.task_id, call));
            }
            Fact::CallFinished { output: CallOutput { call, output }, .. } => match output.diff {
                Some(diff) => page.push(&ended(diff)),
                None if self.delegations.contains(&(event.task_id, call)) => {}
                None => self.without_diff.extend(output.files_changed),
            },
            _ => {}
        }
    }
}

fn ended(mut diff: String) -> String {
    if !diff.ends_with('\n') {
        diff.push('\n');
    }
    diff
}
