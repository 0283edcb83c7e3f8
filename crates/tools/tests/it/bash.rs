//! Bash and its companions, with real commands in real walls. A kernel that lacks something makes these tests fail.

mod background;
mod changes;
mod life;
mod runs;
mod shared;
mod shell;
mod steering;
mod walls;
