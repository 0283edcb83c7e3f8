//! A directory for temporary files, where there is no private `/tmp`: of the command alone, and gone with it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use crate::process::plan::Plan;
use crate::process::report::{During, Failure};

pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one, and has the plan use it.
    pub(super) fn make(plan: &mut Plan) -> Result<Self, Failure> {
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

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left for whoever clears `/tmp`; the outcome of the command does not depend on it.
        fs::remove_dir_all(&self.0).ok();
    }
}
