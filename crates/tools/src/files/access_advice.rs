//! Advice for a model whose path could not be opened.

use sortie_protocol::file_name::{spelled, unspelled};
use std::path::Path;

use sortie_protocol::nearest;
use sortie_sandbox::{AccessError, Workspace};

use crate::answer::tool_error::ToolError;

/// Adds advice on what to do instead to the error.
pub(crate) fn with_advice(workspace: &Workspace, path: &str, error: AccessError) -> ToolError {
    let advice = match error {
        AccessError::IsDirectory { .. } => Some("use LS to list it".to_owned()),
        AccessError::NotFound { .. } => similar(workspace, path).map(|name| format!("did you mean `{name}`?")),
        _ => None,
    };
    let plain = ToolError::from(error);
    match advice {
        Some(advice) => ToolError { text: format!("{}; {advice}", plain.text), ..plain },
        None => plain,
    }
}

/// Returns a similar name in the same directory. In another directory it would mean another file.
fn similar(workspace: &Workspace, path: &str) -> Option<String> {
    const MAX_NAMES: usize = 2000;
    let wanted = Path::new(path).file_name()?.to_str()?;
    let parent = Path::new(path).parent()?.to_str().filter(|parent| !parent.is_empty()).unwrap_or(".");
    let relative = workspace.resolve(parent).ok()?.relative;
    let entries = workspace.read_dir(&relative).ok()?;
    let names: Vec<String> = entries.take(MAX_NAMES).filter_map(|entry| Some(spelled(&entry.ok()?.name))).collect();
    let name = nearest(wanted, names.iter().map(String::as_str))?;
    Some(spelled(&relative.join(unspelled(name))))
}
