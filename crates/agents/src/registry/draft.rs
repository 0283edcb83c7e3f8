//! The template for a new agent's file.

/// A commented agent file in our dialect, valid as it is. `name` must be valid for such a file.
pub fn draft(name: &str) -> String {
    include_str!("draft.md").replace("{name}", name)
}
