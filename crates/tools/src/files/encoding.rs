//! How a text file begins: its byte order mark, and how far a NUL is looked for.

/// A NUL this early means that a file is not text.
pub(crate) const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// The byte order mark, of which a file has at most one.
pub(crate) const MARK: &str = "\u{feff}";
