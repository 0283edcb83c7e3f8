//! What a task may do: decide one call, and narrow a parent's grant for a child.
//!
//! Pure. It touches no file and knows no tool; it compares names and (later) patterns. Authority only shrinks:
//! [`narrow`] adds a layer, and a call is allowed when every layer allows it.

mod decide;

pub use decide::{Decision, decide, narrow};
