//! Owns what `xtask`, `bench` and `torture` share: running other programs, the workspace as cargo describes it,
//! installing what tests need, and the verdict of a command.
//!
//! It links none of the crates of the program, so that `cargo xtask` builds while one of them does not compile.

#![expect(clippy::print_stderr, reason = "its output is for the person who runs a command")]

mod package;
pub mod process;
pub mod python;
mod verdict;
mod workspace;

pub use package::install_if_missing;
pub use verdict::Verdict;
pub use workspace::{Dependency, Package, Target, Workspace, cargo, host};
