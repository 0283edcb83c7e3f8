//! What an outcome means to every dialect: its cause, its ending, and whether it is given again.

pub(crate) mod cause;
pub(crate) mod ending;
pub(crate) mod given_again;
