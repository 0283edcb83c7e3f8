//! The dialects of the Task tool: what they accept, what they answer. Statement ids stand in names and messages.

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
