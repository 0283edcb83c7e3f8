//! The result of merging an entry into a host's file.

/// The file with the entry, or the reason why it stays as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// Whole new text of the file.
    Into(String),
    /// The file has exactly this entry.
    Present,
    /// The file has another entry of this name.
    Taken,
    /// The file is not as it should be, or has no obvious place for the entry.
    Unclear { why: String },
}

impl Merged {
    pub(super) fn unclear(why: impl Into<String>) -> Self {
        Self::Unclear { why: why.into() }
    }
}
