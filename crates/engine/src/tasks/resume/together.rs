//! The rule that a task and the tasks it waits for are resumed together, or not at all.
//!
//! A child resumed alone would find its parent's call answered without it. A parent resumed without a child that
//! another process has would have the same work done twice.

use std::collections::HashSet;

use sortie_journal::{Journal, TaskHeader, TaskState};
use sortie_protocol::{Failure, FailureCode, TaskId};

use crate::conversation::load_task::{LoadedTask, Unseen, expecting, standing};
use crate::ports::failure::journal_failure;

/// Refuses to resume a child alone if its interrupted parent waits for it.
pub(crate) fn refuse_alone(journal: &dyn Journal, loaded: &LoadedTask, unseen: Unseen) -> Result<(), Failure> {
    let (job, standing) = (&loaded.past.job, &loaded.standing);
    let parent = job.parent.filter(|_| standing.state == TaskState::Interrupted);
    let Some((parent, _)) = expecting(journal, parent, job.task) else { return Ok(()) };
    let (task, root) = (job.task, job.root);
    let how = if unseen == Unseen::AreGone { "take over" } else { "resume" };
    let message =
        format!("{task} works for {}, which waits for it; {how} {root}, and it resumes with it", parent.job.task);
    Err(Failure::new(FailureCode::WaitedFor, message).about([root.to_string()]))
}

/// Refuses to resume a task while another process has a task that it waits for, directly or through others.
pub(crate) fn refuse_without(journal: &dyn Journal, task: TaskId, unseen: Unseen) -> Result<(), Failure> {
    let mut below = journal.tree(task).map_err(journal_failure)?;
    below.retain(|header| header.task_id != task && !matches!(header.state, TaskState::Ended(_)));
    if below.iter().all(|header| header.state == TaskState::Interrupted) {
        return Ok(());
    }
    let mut resuming = HashSet::from([task]);
    // Parents before their children.
    for TaskHeader { task_id, parent_id, .. } in below {
        let waiting = expecting(journal, parent_id, task_id).map(|(past, _)| past.job.task);
        let Some(waiting) = waiting.filter(|waiting| resuming.contains(waiting)) else { continue };
        standing(journal, task_id, unseen)?.next_attempt().map_err(journal_failure).map_err(|held| {
            let message = format!("{waiting} waits for a sub-agent that another process has: {held}");
            Failure { message, ..held }
        })?;
        resuming.insert(task_id);
    }
    Ok(())
}
