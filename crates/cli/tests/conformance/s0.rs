//! Contract `envelope`.

mod asking;
mod errand;
mod failures;
mod interface;
mod models;
mod purpose;
mod resuming;
mod roles;
mod tools;
mod trace;

pub(crate) use errand::{answer, answers, arguments, delegating, printed, run, run_with, task};
