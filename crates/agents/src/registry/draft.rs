//! The file that a new agent starts from.

/// A commented agent file in our dialect that is valid as it stands. `name` must be one that such a file may have.
pub fn draft(name: &str) -> String {
    include_str!("draft.md").replace("{name}", name)
}
