//! Commands in walls: a shell that can touch what its task was granted, and that ends with everything it started.
//!
//! The program runs itself again as a *stem*, of which a *keeper* is forked for each command; see [`enter`]. The keeper
//! builds the walls and waits. The walls are the
//! kernel's: nothing here reads a command, and nothing here decides who may run one.

mod ancestry;
mod encoding;
mod ending;
mod environment;
mod error;
mod filter;
mod keeper;
mod launch;
mod leftover;
mod output;
mod plan;
mod probe;
mod report;
mod running;
mod shell;
mod stem;
mod system;
mod walls;

pub use ancestry::is_below_a_command;
pub use ending::{Ended, How};
pub use environment::Environment;
pub use error::SpawnError;
pub use launch::{Program, enter};
pub use leftover::KeeperMark;
pub use output::OutputCount;
pub use probe::{Missing, Probe, probe};
pub use running::{Running, Stopper, spawn};
pub use shell::{OutputCaps, Shell};
pub(crate) use system::{end_group_with, keep_service};
pub use walls::{Network, ProcessLimits, Tier, Walls};
