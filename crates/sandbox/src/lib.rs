//! The only door to files: a workspace root that is pinned once, and opens that cannot leave it.

mod workspace;

pub use workspace::Workspace;
