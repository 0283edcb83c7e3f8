//! Bash and its companions, with real commands in real walls. These tests fail on a kernel that lacks a feature.

mod background;
mod changes;
mod life;
mod runs;
mod shared;
mod shell;
mod steering;
mod walls;
