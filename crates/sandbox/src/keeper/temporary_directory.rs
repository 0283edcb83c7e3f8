//! A directory for the temporary files of one command, where there is no private `/tmp`. Removed with the command.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

pub(super) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// Creates one, and puts it into the plan.
    pub(super) fn make(plan: &mut Plan) -> Result<Self, KeeperFailure> {
        let making = || "making a directory for temporary files".to_owned();
        let random = getrandom::u64().map_err(io::Error::other).during(making)?;
        let path = PathBuf::from(format!("/tmp/sortie-{random:016x}"));
        DirBuilder::new().mode(0o700).create(&path).during(making)?;
        plan.environment.retain(|(name, _)| name != "TMPDIR");
        plan.environment.push(("TMPDIR".into(), path.clone().into()));
        plan.writable.push(path.clone());
        Ok(Self(path))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // If it cannot be removed, that is left to the cleaning of `/tmp`; the outcome of the command does not depend
        // on it.
        fs::remove_dir_all(&self.0).ok();
    }
}
