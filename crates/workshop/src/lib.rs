//! Owns what `xtask`, `bench` and `torture` share: running other programs, the workspace as cargo describes it, test
//! binaries and their output. It also installs what tests need, and gives the verdict of a command.
//!
//! It links none of the crates of the program, so that `cargo xtask` builds while one of them does not compile.

#![expect(clippy::print_stderr, reason = "its output is for the person who runs a command")]

pub mod libtest;
mod package;
pub mod page;
pub mod process;
pub mod python;
mod test_binary;
mod verdict;
mod workspace;

pub use package::{install_crate, install_if_missing};
pub use test_binary::{TestBinary, build_tests, built};
pub use verdict::Verdict;
pub use workspace::{Dependency, Package, Target, Workspace, cargo, host};
