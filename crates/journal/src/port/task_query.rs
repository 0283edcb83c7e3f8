//! The question which tasks a list is about.

use sortie_protocol::TaskId;

use crate::port::task_header::{TaskHeader, TaskState};

/// A question for headers. The default one asks for all tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskQuery {
    /// Only tasks in one of these states; any state if there are none.
    pub states: Vec<TaskState>,
    /// Only tasks of this workspace.
    pub workspace: Option<String>,
    /// Only tasks without a parent.
    pub roots_only: bool,
    /// The last task of the page before: only tasks that started before it.
    pub behind: Option<TaskId>,
    pub limit: usize,
}

impl Default for TaskQuery {
    fn default() -> Self {
        Self { states: Vec::new(), workspace: None, roots_only: false, behind: None, limit: usize::MAX }
    }
}

impl TaskQuery {
    /// Whether the list has this task, wherever its page begins and ends.
    pub(crate) fn admits(&self, header: &TaskHeader) -> bool {
        (self.states.is_empty() || self.states.contains(&header.state))
            && self.workspace.as_ref().is_none_or(|workspace| *workspace == header.workspace)
            && !(self.roots_only && header.parent_id.is_some())
    }

    /// Whether only tasks can be meant whose newest leg has not ended.
    pub(crate) fn is_about_open_legs(&self) -> bool {
        let open = |state: &TaskState| matches!(state, TaskState::Running | TaskState::Interrupted);
        !self.states.is_empty() && self.states.iter().all(open)
    }
}
