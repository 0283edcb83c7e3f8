//! Checksums of events, chained per task, because SQLite has none of its own.
//!
//! The chain begins with the task's origin, so that a changed header also shows. The task's row holds the end of the
//! chain, so that a lost tail shows.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};

use crate::tasks::progress::Origin;

/// The first half of a SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventChecksum([u8; 16]);

impl EventChecksum {
    /// The start of a task's chain.
    pub(crate) fn of_origin(origin: &Origin) -> Self {
        let mut digest = EventDigest::default();
        digest.text(origin.task_id.letters().as_bytes());
        digest.text(origin.parent_id.map(|id| id.letters().to_owned()).unwrap_or_default().as_bytes());
        digest.text(origin.root_id.letters().as_bytes());
        digest.number(i64::from(origin.depth));
        digest.text(origin.agent.as_bytes());
        digest.text(origin.title.as_bytes());
        digest.text(origin.workspace.as_bytes());
        digest.number(origin.started.0.cast_signed());
        digest.finish()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Numbers are eight little-endian bytes; texts are preceded by their length, so that no two rows digest the same.
#[derive(Default)]
pub(crate) struct EventDigest(Sha256);

impl EventDigest {
    pub(crate) fn number(&mut self, number: i64) {
        self.0.update(number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &[u8]) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    pub(crate) fn finish(self) -> EventChecksum {
        let whole: [u8; 32] = self.0.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        EventChecksum(half)
    }
}

impl ToSql for EventChecksum {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for EventChecksum {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let sum = bytes
            .try_into()
            .map_err(|_| FromSqlError::InvalidBlobSize { expected_size: 16, blob_size: bytes.len() })?;
        Ok(Self(sum))
    }
}
