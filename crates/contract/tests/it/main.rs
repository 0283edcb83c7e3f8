//! Dialects of the Task tool: accepted input and answers. Test names and messages contain statement ids.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails where it stands")]

mod all;
mod arbitrary;
mod child;
mod delegate;
mod envelope;
mod envelope_output;
mod result;
mod sample;
mod side_by_side;
mod sortie;
mod typed;
