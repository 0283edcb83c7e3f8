//! Tasks as several commands see them: found by id, in tree order, with their legs and activity.

mod activity;
mod legs;
mod tree_order;

use sortie_journal::{Journal, TaskHeader};

use crate::error::{CommandError, ErrorKind};
use crate::text::words;

pub(super) use activity::{Activity, Question, short};
pub(super) use legs::{Legs, worked_ms};
pub(super) use tree_order::as_tree;

/// Most ids that the error for an ambiguous prefix lists.
const MOST_CANDIDATES: usize = 8;

/// Finds the task with this id or with this unique prefix.
pub(super) fn find(journal: &dyn Journal, id: &str) -> Result<TaskHeader, CommandError> {
    let mut found = journal.find(id)?;
    match (found.pop(), found.len()) {
        (Some(header), 0) => Ok(header),
        (None, _) => Err(CommandError::new(ErrorKind::NotFound, format!("there is no task `{id}`"))
            .hint("`sortie tasks list --all` lists the newest tasks")),
        (Some(last), others) => {
            let candidates = found.iter().chain([&last]).take(MOST_CANDIDATES);
            let error = CommandError::usage(format!("`{id}` is a prefix of {} ids", others + 1));
            Err(candidates.fold(error, |error, header| {
                error.hint(format!("{} {} {}", header.task_id, header.agent, words::title(&header.title)))
            }))
        }
    }
}

pub(super) fn parse_id(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("give a task's id, or its first letters") } else { Ok(text.to_owned()) }
}
