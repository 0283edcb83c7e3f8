//! Second check of each path, at the door to the files: a link swapped in after the first check leads nowhere.

use std::path::Path;
use std::sync::Arc;

use sortie_mutant::is_out;
use sortie_policy::{Decision, Judge};
use sortie_protocol::Resource;
use sortie_sandbox::{Access, Guard};

use crate::ports::approval::{Approvals, PinnedTool};

/// Looks at each path that a call is about to use.
#[derive(Debug)]
pub(crate) struct PathGuard {
    pub(crate) tool: String,
    pub(crate) judge: Arc<Judge>,
    pub(crate) approvals: Arc<Approvals>,
    /// What a person has approved for this call alone.
    pub(crate) approved: Option<Resource>,
}

impl PathGuard {
    /// For what the engine itself reads: nobody is asked, so that what would need approval is refused.
    pub(crate) fn of_reading(judge: Judge) -> Self {
        Self { tool: "Read".to_owned(), judge: Arc::new(judge), approvals: Arc::default(), approved: None }
    }

    /// Whoever approved of looking into a directory has approved of what is in it; a change is approved for one file.
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
        // Whatever it does there, it is this tool that does it: rules for other readers do not bind it, its own do.
        let tool = &self.tool;
        let resource = Resource::Path(path.to_owned());
        match self.judge.decide(tool, &resource) {
            Decision::Allow => Ok(()),
            Decision::Ask(_) if self.is_approved(path, access) => Ok(()),
            Decision::Ask(_) if self.approvals.cover(PinnedTool::builtin(tool), &resource) => Ok(()),
            Decision::Ask(ground) | Decision::Deny(ground) => Err(ground.to_string()),
        }
    }
}
