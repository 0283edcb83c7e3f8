//! `strace`, with which a test watches what the program asks the kernel for.

use anyhow::Result;
use sortie_workshop::{Package, install_if_missing};

/// The test that needs it. It is for Linux alone, like the program.
const TEST: &str = "tests/it/hostile.rs";

/// Whether one of these crates has such a test.
pub(super) fn needed_by(packages: &[&Package]) -> bool {
    cfg!(target_os = "linux") && packages.iter().any(|package| package.directory().join(TEST).exists())
}

/// Makes sure that it is there, installing it where that is possible.
pub(crate) fn prepare() -> Result<()> {
    install_if_missing("strace", "strace", "the tests of the cli")
}
