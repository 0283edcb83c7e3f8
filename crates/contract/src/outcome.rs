//! Meaning of an outcome for every dialect: its cause, its ending, and whether it is a cached one.

pub(crate) mod cause;
pub(crate) mod ending;
pub(crate) mod given_again;
