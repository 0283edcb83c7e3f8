//! Changes made by a command: files before and after it, git repositories, and files that steer other programs.

pub(crate) mod concurrent;
mod repositories;
mod snapshot;
mod steering_files;
mod take_away;
pub(crate) mod watch;
