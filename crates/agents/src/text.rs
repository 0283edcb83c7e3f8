//! Deceptive letters: invisible characters, and names that look like other names.

pub(crate) mod hidden_characters;
pub(crate) mod letter_folding;
pub(crate) mod look_alike;
