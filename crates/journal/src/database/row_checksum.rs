//! Checksums of self-contained rows that are read by the hundred thousand: eight bytes, fast to compute.
//!
//! They find damage, not forgery. Each step is reversible, so two rows that differ in one place never get the same
//! checksum, whatever follows.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::tasks::progress::Origin;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowChecksum(u64);

impl RowChecksum {
    /// Checksum of the fixed part of a task.
    pub(crate) fn of_origin(origin: &Origin) -> Self {
        let mut digest = RowDigest::default();
        digest.text(origin.task_id.letters().as_bytes());
        digest.text(origin.parent_id.as_ref().map_or("", |id| id.letters()).as_bytes());
        digest.text(origin.root_id.letters().as_bytes());
        digest.number(i64::from(origin.depth));
        digest.text(origin.agent.as_bytes());
        digest.text(origin.title.as_bytes());
        digest.text(origin.workspace.as_bytes());
        digest.number(origin.started.0.cast_signed());
        digest.finish()
    }

    /// Continues this checksum with three more numbers, the second optional.
    pub(crate) fn with(self, first: i64, second: Option<i64>, third: i64) -> Self {
        let mut digest = RowDigest(self.0);
        digest.number(first);
        digest.number(i64::from(second.is_some()));
        digest.number(second.unwrap_or_default());
        digest.number(third);
        digest.finish()
    }

    /// This checksum as a number to digest.
    pub(crate) fn as_number(self) -> i64 {
        self.0.cast_signed()
    }

    pub(crate) fn of_command(number: i64, task: &str, body: &str) -> Self {
        let mut digest = RowDigest::default();
        digest.number(number);
        digest.text(task.as_bytes());
        digest.text(body.as_bytes());
        digest.finish()
    }

    pub(crate) fn of_numbers(numbers: &[i64]) -> Self {
        let mut digest = RowDigest::default();
        for number in numbers {
            digest.number(*number);
        }
        digest.finish()
    }
}

/// A number is one step. A text is its length, then one number for every eight bytes, little-endian, the last padded
/// with zeroes.
#[derive(Default)]
pub(crate) struct RowDigest(u64);

impl RowDigest {
    pub(crate) fn number(&mut self, number: i64) {
        // An odd factor and a shift by half: both are reversible.
        let mixed = (self.0 ^ number.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    pub(crate) fn text(&mut self, text: &[u8]) {
        self.number((text.len() as u64).cast_signed());
        for piece in text.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.number(i64::from_le_bytes(word));
        }
    }

    pub(crate) fn finish(self) -> RowChecksum {
        RowChecksum(self.0)
    }
}

impl ToSql for RowChecksum {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for RowChecksum {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(|number| Self(number.cast_unsigned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_bit_changes_the_checksum() {
        let text = *b"agent-abcdefghijkl, and some more of it";
        let whole = RowChecksum::of_command(1, "abc", std::str::from_utf8(&text).unwrap());
        for bit in 0..64 {
            assert_ne!(RowChecksum::of_numbers(&[7, 1 << bit, 9]), RowChecksum::of_numbers(&[7, 0, 9]), "bit {bit}");
        }
        for at in 0..text.len() {
            let mut changed = text;
            changed[at] ^= 1;
            assert_ne!(RowChecksum::of_command(1, "abc", std::str::from_utf8(&changed).unwrap()), whole, "byte {at}");
        }
    }

    #[test]
    fn texts_do_not_run_into_each_other() {
        assert_ne!(RowChecksum::of_command(1, "ab", "c"), RowChecksum::of_command(1, "a", "bc"));
        assert_ne!(RowChecksum::of_command(1, "a", ""), RowChecksum::of_command(1, "", "a"));
        assert_ne!(RowChecksum::of_command(1, "a\0", ""), RowChecksum::of_command(1, "a", ""));
    }
}
