//! Dialects of the Task tool: accepted input and answers. Test names and messages contain statement ids.

#![expect(clippy::expect_used, reason = "a failing test may panic")]

mod all;
mod arbitrary;
mod child;
mod delegate;
mod envelope;
mod envelope_output;
mod for_hosts;
mod result;
mod sample;
mod side_by_side;
mod sortie;
mod typed;
