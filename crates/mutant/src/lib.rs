//! Switches to remove guards, one at a time, to prove that the tests notice.
//!
//! Only a build with `--cfg sortie_mutants` can do that; `cargo xtask mutants` makes one. In every other build the
//! answer is a constant, no environment is read, and the compiler removes the question. It does not know the guards:
//! each is named where it stands, and listed with its test in `crates/torture/src/mutants`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod switch;

pub use switch::{is_out, passed_on};
