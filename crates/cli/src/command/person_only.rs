//! Guard of commands that only a person may run: writing to tasks, stopping them and resuming them.
//!
//! An agent has tools for the same, which know who it is, whom it can reach and what it was granted. Its commands have
//! none of that, and so they are refused here, whatever their environment says. What only looks is nobody's word.

use sortie_sandbox::process::is_below_a_command;

use crate::error::{CommandError, ErrorKind};
use crate::settings::Settings;

/// Refused where a command of a task has started this process, itself or by others.
pub(super) fn only_for_persons(settings: &Settings) -> Result<(), CommandError> {
    if !is_below_a_command() && !settings.environment.is_of_a_command() {
        return Ok(());
    }
    let message = "an agent's command runs this, and only a person may write to tasks, stop them or have them go on so";
    Err(CommandError::new(ErrorKind::Unready, message)
        .hint("agents have tools for it: SendMessage, TaskStop, and Task with `resume`"))
}
