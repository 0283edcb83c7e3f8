//! The start of a text file: its byte order mark, and how far to search for a NUL.

/// A NUL within these bytes means that a file is not text.
pub(crate) const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// The byte order mark. A file has at most one.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";
