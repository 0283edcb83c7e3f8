//! Bounded text from stdin.

use std::io::{self, Read as _};

use super::CommandError;

/// Input that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Text(String),
    /// Not UTF-8; the first wrong byte, counted from 1.
    NotText {
        byte: usize,
    },
    /// Longer than the bound.
    TooLong,
}

/// Reads stdin to its end, but at most one byte more than `most`.
pub(crate) fn read_stdin(most: usize) -> Result<Input, CommandError> {
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    io::stdin()
        .lock()
        .take(bound)
        .read_to_end(&mut bytes)
        .map_err(|error| CommandError::usage(format!("stdin cannot be read: {error}")))?;
    if bytes.len() > most {
        return Ok(Input::TooLong);
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Input::Text(text),
        Err(error) => Input::NotText { byte: error.utf8_error().valid_up_to() + 1 },
    })
}
