//! Second check of each path, when a file is opened: a link swapped in after the first check leads nowhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_mutant::is_out;
use sortie_policy::{Decision, Ground, Judge};
use sortie_protocol::Resource;
use sortie_sandbox::{Access, Guard, Workspace};

use crate::ports::approval::{Approvals, PinnedTool};
use crate::resolve::permissions::git_files::obeyed_by_git;

/// Guard that checks each path a call is about to use.
#[derive(Debug)]
pub(crate) struct PathGuard {
    pub(crate) tool: String,
    pub(crate) judge: Arc<Judge>,
    pub(crate) approvals: Arc<Approvals>,
    /// A person's approval for this call alone.
    pub(crate) approved: Option<Resource>,
    /// Workspace with git's own files, and the user's home; none for a guard of reading.
    pub(crate) work: Option<(Arc<Workspace>, Option<PathBuf>)>,
}

impl PathGuard {
    /// Returns the guard for the engine's own reads: nobody is asked, so a path that needs approval is refused.
    pub(crate) fn of_reading(judge: Judge) -> Self {
        Self { tool: "Read".to_owned(), judge: Arc::new(judge), approvals: Arc::default(), approved: None, work: None }
    }

    /// True if the approval covers this path. Approval to read a directory covers everything in it; approval to change
    /// covers one file.
    fn is_approved(&self, path: &Path, access: Access) -> bool {
        let Some(Resource::Path(approved)) = &self.approved else { return false };
        match access {
            Access::Read => path.starts_with(approved),
            Access::Write => path == approved,
        }
    }
}

impl Guard for PathGuard {
    fn check(&self, path: &Path, access: Access) -> Result<(), String> {
        if is_out("door-guard") {
            return Ok(());
        }
        // Judged as this tool: its own rules apply, those for other readers do not.
        let tool = &self.tool;
        let resource = Resource::Path(path.to_owned());
        if let Some((workspace, home)) = &self.work
            && access == Access::Write
            && let Some(what) = obeyed_by_git(workspace, path, home.as_deref())
        {
            return Err(Ground::protected(what).to_string());
        }
        match self.judge.decide(tool, &resource) {
            Decision::Allow => Ok(()),
            Decision::Ask(_) if self.is_approved(path, access) => Ok(()),
            Decision::Ask(_) if self.approvals.cover(PinnedTool::builtin(tool), &resource) => Ok(()),
            Decision::Ask(ground) | Decision::Deny(ground) => Err(ground.to_string()),
        }
    }
}
