//! Guard of commands that only a person may run: sending to, stopping and resuming tasks.
//!
//! Agents have tools for this, which know who calls, whom the caller can reach and what it was granted. Commands that
//! an agent runs know none of that, so they are refused here, whatever their environment says. Commands that only look
//! are allowed.

use sortie_sandbox::process::is_below_a_command;

use crate::environment::Environment;
use crate::error::{CommandError, ErrorKind};
use crate::settings::Settings;

/// Refuses if a task's command started this process, directly or through others.
pub(super) fn only_for_persons(settings: &Settings) -> Result<(), CommandError> {
    if !is_of_an_agent(&settings.environment) {
        return Ok(());
    }
    let message = "this is a command of an agent, and only a person may message, stop or resume tasks this way";
    Err(CommandError::new(ErrorKind::Unready, message)
        .hint("agents have tools for it: SendMessage, TaskStop, and Task with `resume`"))
}

/// Refuses a command that changes the files of other programs, on the same condition.
pub(super) fn never_for_agents(environment: &Environment) -> Result<(), CommandError> {
    if !is_of_an_agent(environment) {
        return Ok(());
    }
    let message = "this is a command of an agent, and only a person may add programs to a host";
    Err(CommandError::new(ErrorKind::Unready, message))
}

fn is_of_an_agent(environment: &Environment) -> bool {
    is_below_a_command() || environment.is_of_a_command()
}
