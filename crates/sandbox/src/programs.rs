//! Programs that run without walls: the user's own, within time limits, and the child processes that git needs.
//!
//! Nothing that an agent or an untrusted project can influence may be started here.

pub(crate) mod child_process;
mod user_program;
mod user_service;

pub use user_program::{OwnProgram, OwnProgramEnded, OwnProgramError};
pub use user_service::{OwnService, OwnServiceError, RunningService, ServicePipes};
