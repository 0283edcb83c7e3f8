//! Meaning of an outcome for every dialect: its cause, its ending, its calls without success, and whether it is cached.

pub(crate) mod cause;
pub(crate) mod ending;
pub(crate) mod given_again;
pub(crate) mod without_success;
