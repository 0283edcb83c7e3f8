//! Commands of a task: started in their walls, in the foreground or the background, and ended with the task.
//!
//! It does not decide what a command may do: the gate has judged the line, and [`ShellReach`] reports what the grant
//! leaves of the machine. The sandbox builds the walls.
//!
//! [`ShellReach`]: crate::port::shell_reach::ShellReach

pub(crate) mod background;
pub(crate) mod excerpt;
pub(crate) mod finished;
mod foreground;
pub(crate) mod launcher;
pub(crate) mod recent_output;
mod redact_output;
pub(crate) mod setup;
pub(crate) mod shells;
mod stop_on_cancel;
mod walls_hint;
