//! The workspace and the spill directory, tried from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod another_user;
mod fixture;
mod race;
mod special;
mod spellings;
mod spill;
