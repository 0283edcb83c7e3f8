//! Creates a directory in the workspace, for a task that is to write in it.

use sortie_protocol::file_name::spelled;
use std::path::Path;

use crate::files::error::WriteError;
use crate::files::write::parents::Parents;
use crate::paths::{Access, GuardedRoots};

/// Implements [`Workspace::make_directory`](crate::Workspace::make_directory).
pub(super) fn make_directory(inside: &GuardedRoots, relative: &Path) -> Result<(), WriteError> {
    let path = spelled(relative);
    let place = inside.admitted(relative, Access::Write)?;
    let made = Parents::open_or_make(place.root.directory(), &place.beneath);
    made.map_err(|errno| WriteError::from_errno(&path, errno))?.keep();
    Ok(())
}
