//! Checksums, because SQLite has none of its own.
//!
//! Those of events are chained per task. The chain begins with what is fixed about the task, and its end stands in the
//! task's row, so that a lost tail shows. Every other row that is believed has a sum of its own.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};

use super::row::{StoredEvent, TaskTail};
use crate::task::Origin;

/// The first half of a SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum([u8; 16]);

impl Sum {
    /// What the chain of a task begins with.
    pub(super) fn of_origin(origin: &Origin) -> Self {
        let mut digest = Digestion::default();
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

    /// The sum of a task's row: where it came from, how far it has come, and where its chain ends.
    pub(super) fn of_task(task: &TaskTail) -> Self {
        let TaskTail { number, origin_sum, progress, log_sum, going } = task;
        let mut digest = Digestion::default();
        digest.number(*number);
        digest.text(&origin_sum.0);
        digest.number(i64::from(progress.attempt));
        digest.number(i64::from(progress.owner.pid));
        digest.number(progress.owner.started.cast_signed());
        digest.number(i64::from(progress.leg));
        digest.number(progress.last_seq.cast_signed());
        digest.number(progress.updated.0.cast_signed());
        digest.text(progress.status.map(|status| status.to_string()).unwrap_or_default().as_bytes());
        digest.number(progress.ended_seq.unwrap_or_default().cast_signed());
        digest.number(i64::from(progress.children));
        digest.text(&log_sum.0);
        digest.number(i64::from(*going));
        digest.finish()
    }

    /// The sum of a few numbers that belong together.
    pub(super) fn of_numbers(numbers: &[i64]) -> Self {
        let mut digest = Digestion::default();
        for number in numbers {
            digest.number(*number);
        }
        digest.finish()
    }

    /// The sum of a command.
    pub(super) fn of_command(number: i64, task: &str, body: &str) -> Self {
        let mut digest = Digestion::default();
        digest.number(number);
        digest.text(task.as_bytes());
        digest.text(body.as_bytes());
        digest.finish()
    }

    /// The sum of an event, over the one before it and all that is stored of this one.
    pub(super) fn of_event(previous: Self, event: &StoredEvent<'_>) -> Self {
        let mut digest = Digestion::default();
        digest.text(&previous.0);
        digest.number(event.position);
        digest.text(event.task);
        digest.number(event.seq);
        digest.number(event.leg);
        digest.number(event.time);
        digest.number(event.version);
        digest.text(event.kind);
        digest.text(event.body);
        digest.finish()
    }
}

/// Numbers are eight little-endian bytes; texts follow their length, so that no two rows read the same.
#[derive(Default)]
struct Digestion(Sha256);

impl Digestion {
    fn number(&mut self, number: i64) {
        self.0.update(number.to_le_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    fn finish(self) -> Sum {
        let whole: [u8; 32] = self.0.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Sum(half)
    }
}

impl ToSql for Sum {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Sum {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let sum = bytes
            .try_into()
            .map_err(|_| FromSqlError::InvalidBlobSize { expected_size: 16, blob_size: bytes.len() })?;
        Ok(Self(sum))
    }
}
