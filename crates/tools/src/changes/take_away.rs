//! Removal of files that a command made in a git directory where they have no ordinary use; people can still get them.

use sortie_protocol::file_name::spelled;
use std::path::PathBuf;

use sortie_mutant::is_out;
use sortie_sandbox::{SpillDir, Workspace};

use crate::answer::tool_error::explain;

/// Moves these files to `spill`. Returns one line about it, if there were any.
pub(super) fn take_away(workspace: &Workspace, spill: &SpillDir, useless: &[PathBuf]) -> Option<String> {
    const MAX_NAMED: usize = 5;
    let useless = if is_out("taken-away") { &[] } else { useless };
    let said: Vec<String> = useless
        .iter()
        .map(|path| {
            let name = spelled(path);
            match workspace.take_away(path, spill) {
                Ok(place) => format!("`{name}` was removed (kept as {})", place.display()),
                Err(error) => format!("`{name}` could not be removed ({}); remove it", explain(&error)),
            }
        })
        .collect();
    let n_more = said.len().saturating_sub(MAX_NAMED);
    let more = if n_more > 0 { format!(", and {n_more} more") } else { String::new() };
    let named = said.get(..said.len().min(MAX_NAMED)).filter(|named| !named.is_empty())?.join(", ");
    Some(format!("{named}{more}: it appeared while a command ran; git obeys it, and no command may create it"))
}
