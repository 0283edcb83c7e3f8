//! A process of its own for background work: this program once more. It is outside the session of its caller, so that
//! the end of the caller does not end the work.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::Command;

use crate::error::CommandError;

/// Refuses files that can be read only once, such as `<(…)`: the other process would find them empty.
pub(crate) fn check_files(named: &[&Path]) -> Result<(), CommandError> {
    let is_pipe = |path: &&&Path| path.metadata().is_ok_and(|found| found.file_type().is_fifo());
    match named.iter().find(is_pipe) {
        None => Ok(()),
        Some(pipe) => {
            let pipe = pipe.display();
            let message = format!("{pipe} can be read only once, but the process of background tasks reads it again");
            Err(CommandError::usage(message).hint("give it as a file, or leave out `run_in_background`"))
        }
    }
}

/// This program with these arguments, in the caller's environment and directory.
pub(crate) fn this_program(arguments: impl IntoIterator<Item = OsString>) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// Arguments of this process.
pub(crate) fn own_arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1)
}

/// Leaves the caller's session, so that its end does not end the work.
pub(crate) fn leave_session() {
    // Fails for the leader of a process group, as a shell's child may be; it keeps getting its terminal's signals.
    rustix::process::setsid().ok();
}
