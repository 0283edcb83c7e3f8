//! The template for a new agent's file.

const DRAFT: &str = include_str!("draft.md");

/// A commented agent file in our dialect, valid as it is. `name` must be valid for such a file.
pub fn draft(name: &str) -> String {
    DRAFT.replace("{name}", name)
}

/// True for the description of a draft that nobody has completed.
pub fn is_draft_description(description: &str) -> bool {
    let mut drafted = DRAFT.lines().filter_map(|line| line.strip_prefix("description: "));
    drafted.any(|drafted| drafted == description.trim())
}
