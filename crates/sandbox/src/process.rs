//! Commands that run within walls: started by a keeper, and ended with everything that they started.
//!
//! The program runs itself again as a *fork server*, which forks a *keeper* for each command; see [`enter`]. The keeper
//! builds the walls and waits. The walls are the kernel's.

mod ancestry;
mod ending;
mod fork_server;
mod keeper_mark;
mod launch;
mod output;
mod probe;
mod running;

pub use ancestry::is_below_a_command;
pub use ending::{Ended, How};
pub use keeper_mark::KeeperMark;
pub use launch::{Program, enter};
pub use output::{OutputCaps, OutputCount};
pub use probe::{Missing, Probe, probe};
pub use running::{Running, Stopper, spawn};

pub use crate::walls::{Environment, Network, ProcessLimits, Shell, SpawnError, Tier, Walls};
