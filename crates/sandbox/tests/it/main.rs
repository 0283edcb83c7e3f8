//! The workspace and the spill directory, tried from outside.

mod another_user;
mod fixture;
mod race;
mod special;
mod spellings;
mod spill;
