//! Long texts in the user's pager, on the terminal of the questions.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::task::spawn_blocking;

use crate::error;
use crate::text::write_stderr;

/// Shows a text, and returns when the person has left it. If the question is cancelled meanwhile, the pager ends. If
/// there is no pager, the text is printed.
pub(super) async fn show(pager: &OsStr, text: String) {
    if let Err(error) = page(pager, &text).await {
        error::warn(&format!("the pager `{}` could not be used ({error})", pager.display()));
        write_stderr(&text);
    }
}

async fn page(pager: &OsStr, text: &str) -> io::Result<()> {
    // The terminal is on stderr: stdout may lead to a file or to another program.
    let terminal = io::stderr().as_fd().try_clone_to_owned()?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped()).stdout(terminal);
    let mut child = command.spawn()?;
    let mut ends = EndOnDrop(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    let (mut input, text) = (child.stdin.take(), text.to_owned());
    let status = spawn_blocking(move || {
        if let Some(input) = &mut input {
            // Whoever has seen enough leaves before the end.
            input.write_all(text.as_bytes()).unwrap_or_default();
        }
        drop(input);
        child.wait()
    });
    let status = status.await.map_err(io::Error::other)??;
    ends.0 = None;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

/// Ends the pager of a question that is cancelled.
struct EndOnDrop(Option<Pid>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if let Some(pager) = self.0 {
            kill_process(pager, Signal::TERM).unwrap_or_default();
        }
    }
}
