//! Token counts: estimates before a call, and checks of what providers report after it.

pub mod estimate;
pub(crate) mod usage_check;
