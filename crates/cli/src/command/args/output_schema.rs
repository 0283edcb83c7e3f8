//! `--output-schema`: a JSON schema from a file. The engine judges its content.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::error::CommandError;

/// Larger than any usable schema, however it is formatted.
const MAX_BYTES: u64 = 1 << 20;

pub(in crate::command) fn read(path: &Path) -> Result<Value, CommandError> {
    let mut text = String::new();
    let file = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    file.map_err(|error| CommandError::usage(format!("the schema {} cannot be read: {error}", path.display())))?;
    let schema = serde_json::from_str(&text);
    schema.map_err(|error| CommandError::usage(format!("the schema {} is not valid JSON: {error}", path.display())))
}
