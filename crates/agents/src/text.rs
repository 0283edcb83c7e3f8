//! Letters that deceive: characters that cannot be seen, and names that look like other names.

pub(crate) mod hidden_characters;
pub(crate) mod letter_folding;
pub(crate) mod look_alike;
