//! Named places at which the process can be killed, one at a time, to test the restart.
//!
//! Only a build with `--cfg sortie_crash` can do that; `cargo xtask crash` makes one. In every other build a point does
//! nothing, no environment is read, and the compiler removes it. It does not know the points: each is named where it
//! stands, and listed in `crates/torture/src/crash`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod point;

pub use point::point;
