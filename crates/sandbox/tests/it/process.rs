//! Commands in walls, tried by hostile commands: each wall has a test that fails without it. All of them run as root
//! and as a user without privileges; a kernel that lacks something makes them fail.

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
