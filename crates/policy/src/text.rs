//! Text in the forms that are compared or shown: folded names, character pairs, terminal-safe output.

mod bigrams;
mod fold;
pub mod neutral;

use std::path::Path;

use sortie_protocol::file_name::spelled;

pub(crate) use sortie_shell_reader::printable;

pub(crate) use self::bigrams::{Bigrams, EDGE};
pub(crate) use self::fold::{Spelling, fold};

/// Formats a path for messages: short, and without control characters.
pub(crate) fn printable_path(path: &Path) -> String {
    printable(&spelled(path))
}
