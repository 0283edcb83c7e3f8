//! Terminal on stderr: its size, lines wrapped to fit it, and raw output; the shell's hold on it.

use std::io::{self, IsTerminal as _, Write as _};

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

use super::width;

/// Abilities of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalKind {
    /// Can move its cursor, so that lines can be redrawn.
    Smart,
    /// Takes lines only, or has unknown abilities.
    Dumb,
}

/// Writes a text to stderr unchanged.
pub(crate) fn write_stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    // A display that nobody can see any more must not end the run.
    io::stderr().lock().write_all(text.as_bytes()).unwrap_or_default();
}

/// True if a shell has put us in the background: reading the terminal, or clearing its input, would halt us there.
pub(crate) fn is_in_background() -> bool {
    // A terminal that we do not control halts nobody.
    tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground != getpgrp())
}

/// Columns of the terminal on stderr, or a usual number without one.
pub(crate) fn columns() -> usize {
    extent(rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_col), 80)
}

/// Rows of the terminal on stderr, or a usual number without one.
pub(crate) fn rows() -> usize {
    extent(rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_row), 24)
}

/// Wraps text between words to fit the terminal on stderr. Without one, it stays unchanged.
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
    fn final_messages_are_wrapped_between_words() {
        let said = "note: the provider reported no usage; it was estimated\nchanged: a.rs\n";
        let expected = "note: the provider reported no usage;\nit was estimated\nchanged: a.rs\n";
        assert_eq!((broken(said, 38), broken(said, 80)), (expected.to_owned(), said.to_owned()));
    }
}
