//! Questions that a person answers with yes or no before a command has any effect.

use std::io::{self, BufRead as _, IsTerminal as _};

use rustix::termios::{QueueSelector, tcflush};

use crate::text::terminal::is_in_background;
use crate::text::write_stderr;

/// Answer to such a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    Yes,
    /// Anything but a yes, the end of the input included.
    No,
    /// No person can see the question and answer it.
    Nobody,
}

/// Shows `subject` and then the question on stderr, and reads one line. Without a person, nothing is shown.
pub(crate) fn ask(subject: &str, question: &str) -> Consent {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() || is_in_background() {
        return Consent::Nobody;
    }
    write_stderr(subject);
    // Earlier input did not answer this question.
    tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
    write_stderr(&format!("{question} [y/N] "));
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    if !line.ends_with('\n') {
        write_stderr("\n");
    }
    let is_yes = read.is_ok() && ["y", "yes"].contains(&line.trim().to_lowercase().as_str());
    if is_yes { Consent::Yes } else { Consent::No }
}
