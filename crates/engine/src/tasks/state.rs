//! State shared by all tasks of one engine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sortie_contract::Contract;
use sortie_journal::{Journal, JournalError};
use sortie_llm::Models;
use sortie_policy::Places;
use sortie_protocol::{Failure, Job, Reach};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_tools::{Changes, ShellSetup};
use tokio::sync::Semaphore;

use crate::budget::start_rate::StartRate;
use crate::conversation::request_size::TokenCounts;
use crate::log::notes::NoteBoards;
use crate::log::writer::{FactWriter, LegHold};
use crate::messages::running_tasks::RunningTasks;
use crate::ports::approval_queue::ApprovalQueue;
use crate::ports::hooks::Hooks;
use crate::resolve::permissions::Permissions;
use crate::resolve::remote_tools::{RemoteToolSearch, RemoteTools};
use crate::resolve::roster::Rosters;
use crate::resolve::settings::EngineSettings;
use crate::tasks::observers::Audience;
use crate::tasks::result_cache::ResultCache;
use crate::{Clock, Ids};

/// A failure of the engine itself; a task's own failure is in its outcome.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the task was aborted from outside")]
    Aborted,
}

pub(crate) struct EngineState {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) rosters: Rosters,
    pub(crate) remote_tools: Arc<dyn RemoteTools>,
    pub(crate) contract: Arc<dyn Contract>,
    pub(crate) shell: Option<Arc<ShellSetup>>,
    /// The shell with walls, for tasks that were started with them; made when the first of them resumes.
    pub(crate) confined: OnceLock<Arc<ShellSetup>>,
    /// Concurrent changes of files, by task.
    pub(crate) changes: Arc<Changes>,
    pub(crate) reports: Arc<SpillDir>,
    pub(crate) rules: EngineSettings,
    pub(crate) permissions: Permissions,
    /// Places for the judges of all tasks.
    pub(crate) places: Places,
    pub(crate) approval_queue: Arc<ApprovalQueue>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) delegation_rate: StartRate,
    pub(crate) counting: Arc<TokenCounts>,
    pub(crate) audience: Audience,
    pub(crate) present: Arc<RunningTasks>,
    pub(crate) note_boards: NoteBoards,
    pub(crate) cache: Option<Arc<ResultCache>>,
    pub(crate) hooks: Arc<dyn Hooks>,
}

impl EngineState {
    pub(crate) fn sink(&self, job: &Arc<Job>, hold: LegHold) -> FactWriter {
        FactWriter::new(Arc::clone(&self.journal), Arc::clone(&self.clock), Arc::clone(job), hold)
    }

    /// Returns the search for a task's remote tools.
    pub(crate) fn equipping(&self) -> RemoteToolSearch<'_> {
        RemoteToolSearch {
            remote_tools: self.remote_tools.as_ref(),
            contract: self.contract.as_ref(),
            rules: &self.rules,
            permissions: &self.permissions,
        }
    }

    /// Counts a delegation, and fails if there were too many in the last minute.
    pub(crate) fn check_rate(&self) -> Result<(), Failure> {
        self.delegation_rate.count(self.rules.delegations_per_minute)
    }

    /// Returns the reach of tasks here beyond the workspace.
    pub(crate) fn reach(&self) -> Reach {
        let added = self.workspace.added().map(|path| path.display().to_string()).collect();
        Reach { added, unconfined: self.shell.as_ref().is_some_and(|setup| setup.unconfined) }
    }

    /// Returns the workspace for a task with this reach.
    pub(crate) fn workspace_of(&self, reach: &Reach) -> Arc<Workspace> {
        let added: Vec<PathBuf> = reach.added.iter().map(PathBuf::from).collect();
        let all_open = self.workspace.added().all(|path| added.iter().any(|open| open == Path::new(path)));
        if all_open { Arc::clone(&self.workspace) } else { Arc::new(self.workspace.with_only(&added)) }
    }

    /// Returns the shell for a task with this reach.
    pub(crate) fn shell_of(&self, reach: &Reach) -> Option<Arc<ShellSetup>> {
        let setup = self.shell.as_ref()?;
        if setup.unconfined && !reach.unconfined {
            return Some(Arc::clone(self.confined.get_or_init(|| Arc::new(setup.confined()))));
        }
        Some(Arc::clone(setup))
    }
}
