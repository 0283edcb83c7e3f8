//! Limits that calls are charged against: tokens, money, time, slots and the rate of new tasks.

pub(crate) mod account;
pub(crate) mod deadline;
pub(crate) mod lender;
pub(crate) mod slots;
pub(crate) mod start_rate;
pub(crate) mod usage_trust;
