//! Hostile commands against the walls: each wall has a test that fails without it. All of them run as root and as a
//! user without privileges; they fail on a kernel that lacks something.

mod attributes;
mod cell;
mod environment;
mod exhaustion;
mod files;
mod hidden;
mod kernel;
mod life;
mod limits;
mod meanwhile;
mod modes;
mod network;
mod output;
mod protected;
mod victim;
