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

/// Mark that some programs put before a text; it is not part of it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads stdin to its end, without a byte order mark, but at most one byte more than `most`.
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
        Ok(text) => Input::Text(match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) => text.to_owned(),
            None => text,
        }),
        Err(error) => Input::NotText { byte: error.utf8_error().valid_up_to() + 1 },
    })
}
