//! Text in the forms that are compared or shown: folded names, pairs of characters, output safe for a terminal.

mod bigrams;
mod fold;
pub mod neutral;

use std::path::Path;

pub(crate) use sortie_shell_reader::printable;

pub(crate) use self::bigrams::{Bigrams, EDGE};
pub(crate) use self::fold::{Spelling, fold};

/// A path as messages show it: short, and without control characters.
pub(crate) fn printable_path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
