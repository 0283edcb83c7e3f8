//! Orders of a host for the process that runs its background tasks.

use serde::{Deserialize, Serialize};

use crate::{TaskId, TaskRequest};

/// Order for a background process. Its own settings bound the task, as they would bound a call of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BackgroundOrder {
    /// Start a task, or resume the one that the request names.
    Start { request: Box<TaskRequest> },
    /// Resume a task that no process runs any more.
    Resume {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
}
