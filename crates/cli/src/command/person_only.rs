//! Guard of commands that only a person may run: sending to, stopping and resuming tasks.
//!
//! Agents have tools for this, which know who calls, whom the caller can reach and what it was granted. Commands that
//! an agent runs know none of that, so they are refused here, whatever their environment says. Commands that only look
//! are allowed.

use sortie_sandbox::process::is_below_a_command;

use crate::error::{CommandError, ErrorKind};
use crate::settings::Settings;

/// Refuses if a task's command started this process, directly or through others.
pub(super) fn only_for_persons(settings: &Settings) -> Result<(), CommandError> {
    if !is_below_a_command() && !settings.environment.is_of_a_command() {
        return Ok(());
    }
    let message = "this is a command of an agent, and only a person may message, stop or resume tasks this way";
    Err(CommandError::new(ErrorKind::Unready, message)
        .hint("agents have tools for it: SendMessage, TaskStop, and Task with `resume`"))
}
