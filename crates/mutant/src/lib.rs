//! Switches to remove guards, one at a time, to prove that the tests notice.
//!
//! They work only in a build with `--cfg sortie_mutants`, which `cargo xtask mutants` makes. In every other build the
//! answer is a constant, no environment is read, and the compiler removes the check. This crate does not know the
//! guards: each is named at its place in the code, and listed with its test in `xtask/src/mutants`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod switch;

pub use switch::is_out;
