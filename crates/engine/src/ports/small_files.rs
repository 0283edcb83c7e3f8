//! Reads of small files in the workspace.

use std::io::Read as _;

use sortie_sandbox::{AccessError, Workspace};

/// Reads at most the first `most` bytes of a file; a result of that length means that there may be more. `None` if
/// there is no such file. The error says why an existing file could not be read.
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
