//! Reads a small file of the workspace.

use std::io::Read as _;

use sortie_sandbox::{AccessError, Workspace};

/// The file's first `most` bytes: as many as that mean that there may be more. `None` where there is no file; the error
/// says in words why an existing one was not read.
pub(crate) fn read_bounded(workspace: &Workspace, path: &str, most: usize) -> Result<Option<Vec<u8>>, String> {
    let file = match workspace.open_file(path) {
        Ok(file) => file,
        Err(AccessError::NotFound { .. } | AccessError::Vanished { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(Some(bytes))
}
