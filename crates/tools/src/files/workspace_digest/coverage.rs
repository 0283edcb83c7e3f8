//! Paths that a call of a reading tool looks at, by its arguments.

use serde_json::{Map, Value};
use sortie_protocol::ToolCall;

use crate::files::globs::split_directory;

/// Returns all of them; empty for a tool that looks at nothing, `None` for a call that may do more or is not
/// understood.
pub(super) fn looked_at(call: &ToolCall) -> Option<Vec<String>> {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).ok()?;
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let base = || text("path").unwrap_or(".").to_owned();
    match call.tool.as_str() {
        "TodoWrite" => Some(Vec::new()),
        "LS" | "Grep" => Some(vec![base()]),
        "Read" => {
            let named: Vec<String> =
                [text("file_path"), text("path")].into_iter().flatten().map(str::to_owned).collect();
            (!named.is_empty()).then_some(named)
        }
        // A pattern may begin with a directory that a search would skip.
        "Glob" => {
            let (directory, _) = split_directory(text("pattern")?);
            let begun = std::path::Path::new(&base()).join(directory).to_string_lossy().into_owned();
            Some(vec![base(), begun])
        }
        _ => None,
    }
}
