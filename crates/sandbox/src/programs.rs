//! Programs that run without walls: the user's own, within bounds of time, and the child processes that git needs.
//!
//! Nothing that an agent, or a project that nobody trusts, has a say in may be started here.

pub(crate) mod child_process;
mod user_program;
mod user_service;

pub use user_program::{OwnProgram, OwnProgramEnded, OwnProgramError};
pub use user_service::{OwnService, OwnServiceError, RunningService, ServicePipes};
