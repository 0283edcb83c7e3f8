//! `FileChange`: a file's text before and after an edit, and the kind of edit.

use std::path::PathBuf;

use sortie_sandbox::Stamp;

use super::file_text::FileText;

/// A change of one file, made or possible.
pub(super) struct FileChange {
    /// The resolved path: relative to the workspace, absolute in an added directory.
    pub(super) path: PathBuf,
    pub(super) before: FileText,
    pub(super) after: NewText,
    /// The stamp of the replaced file; `None` if there is none.
    pub(super) stamp: Option<Stamp>,
    /// A remark for the report.
    pub(super) note: Option<String>,
}

impl FileChange {
    pub(super) fn is_creation(&self) -> bool {
        self.stamp.is_none()
    }

    /// True if the file already has the new text.
    pub(super) fn is_void(&self) -> bool {
        !self.is_creation() && self.before.original() == self.after.text
    }
}

/// A new text, and the kind of edit that made it.
#[derive(Debug)]
pub(crate) struct NewText {
    /// Verbatim, except for a byte order mark.
    pub(crate) text: String,
    pub(crate) kind: EditKind,
}

/// The way in which a new text was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditKind {
    Wrote,
    Replaced { n_replacements: usize },
}
