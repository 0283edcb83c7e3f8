//! A directory made in the workspace, for a task that is to write in it.

use std::path::Path;

use super::parents::Parents;
use crate::error::WriteError;
use crate::guard::Access;
use crate::workspace::Workspace;

impl Workspace {
    /// Makes a directory and those on the way to it, by way of no link. One that is there already is as good. `relative`
    /// to the root, or absolute in an added directory, plain names only.
    pub fn make_directory(&self, relative: &Path) -> Result<(), WriteError> {
        let path = relative.to_string_lossy();
        let place = self.roots.place(relative)?;
        self.guards.require(&path, &place, Access::Write)?;
        let made = Parents::open_or_make(place.root.directory(), &place.beneath);
        made.map_err(|errno| WriteError::from_errno(&path, errno))?.keep();
        Ok(())
    }
}
