//! The selection of tasks for a list.

use sortie_protocol::TaskId;

use crate::port::task_header::{TaskHeader, TaskState};

/// A query for headers. The default matches all tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskQuery {
    /// Only tasks in one of these states; empty for any state.
    pub states: Vec<TaskState>,
    /// Only tasks of this workspace.
    pub workspace: Option<String>,
    /// Only tasks without a parent.
    pub roots_only: bool,
    /// The last task of the previous page: only tasks that started before it.
    pub behind: Option<TaskId>,
    pub limit: usize,
}

impl Default for TaskQuery {
    fn default() -> Self {
        Self { states: Vec::new(), workspace: None, roots_only: false, behind: None, limit: usize::MAX }
    }
}

impl TaskQuery {
    /// True if the list has this task, on whatever page.
    pub(crate) fn admits(&self, header: &TaskHeader) -> bool {
        (self.states.is_empty() || self.states.contains(&header.state))
            && self.workspace.as_ref().is_none_or(|workspace| *workspace == header.workspace)
            && !(self.roots_only && header.parent_id.is_some())
    }

    /// True if only tasks with an open leg can match.
    pub(crate) fn is_about_open_legs(&self) -> bool {
        let open = |state: &TaskState| matches!(state, TaskState::Running | TaskState::Interrupted);
        !self.states.is_empty() && self.states.iter().all(open)
    }
}
