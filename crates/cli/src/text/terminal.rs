//! The terminal on stderr: its size, lines broken to fit it, and text written to it as it is.

use std::io::{self, IsTerminal as _, Write as _};

use super::width;

/// Abilities of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalKind {
    /// It can move its cursor, so that lines can be redrawn.
    Smart,
    /// It only takes lines, or there is no word of what it can do.
    Dumb,
}

/// Writes a text to stderr as it is.
pub(crate) fn write_stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    // A display that nobody can see any more must not end the run.
    io::stderr().lock().write_all(text.as_bytes()).unwrap_or_default();
}

/// Columns of the terminal on stderr, or the usual number where there is none.
pub(crate) fn columns() -> usize {
    extent(rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_col), 80)
}

/// Rows of the terminal on stderr, or the usual number where there is none.
pub(crate) fn rows() -> usize {
    extent(rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_row), 24)
}

/// Breaks the lines of a text between words so that they fit the terminal on stderr. Without one it stays as it is.
pub(crate) fn fitted(text: &str) -> String {
    if io::stderr().is_terminal() { broken(text, columns()) } else { text.to_owned() }
}

fn broken(text: &str, columns: usize) -> String {
    let lines = text.split('\n').flat_map(|line| width::wrap_line(line, columns));
    lines.collect::<Vec<_>>().join("\n")
}

fn extent(given: Option<u16>, usual: usize) -> usize {
    given.filter(|count| *count > 0).map_or(usual, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_the_end_is_broken_between_words() {
        let said = "note: the provider reported no usage; it was estimated\nchanged: a.rs\n";
        let expected = "note: the provider reported no usage;\nit was estimated\nchanged: a.rs\n";
        assert_eq!((broken(said, 38), broken(said, 80)), (expected.to_owned(), said.to_owned()));
    }
}
