//! Checksums of rows that stand for themselves and are read by the hundred thousand: eight bytes, quickly made.
//!
//! They find damage, not forgery. Each step can be undone, so two rows that differ in one place never come to the same mark,
//! whatever follows.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use super::row::{TaskTail, status_word, worked_columns};
use crate::Worked;
use crate::task::Origin;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark(u64);

impl Mark {
    /// Of what is fixed about a task.
    pub(super) fn of_origin(origin: &Origin) -> Self {
        let mut marking = Marking::default();
        marking.text(origin.task_id.letters().as_bytes());
        marking.text(origin.parent_id.as_ref().map_or("", |id| id.letters()).as_bytes());
        marking.text(origin.root_id.letters().as_bytes());
        marking.number(i64::from(origin.depth));
        marking.text(origin.agent.as_bytes());
        marking.text(origin.title.as_bytes());
        marking.text(origin.workspace.as_bytes());
        marking.number(origin.started.0.cast_signed());
        marking.finish()
    }

    /// Of a task's whole row.
    pub(super) fn of_task(task: &TaskTail) -> Self {
        Self::of_task_in_version_2(task).with(&task.progress.worked)
    }

    /// Of the same without how long it has worked, which that version did not know.
    pub(super) fn of_task_in_version_2(task: &TaskTail) -> Self {
        let TaskTail { number, origin_mark, progress, log_sum, going } = task;
        let mut marking = Marking::default();
        marking.number(*number);
        marking.number(origin_mark.0.cast_signed());
        marking.number(i64::from(progress.attempt));
        marking.number(i64::from(progress.owner.pid));
        marking.number(progress.owner.started.cast_signed());
        marking.number(progress.owner.space.cast_signed());
        marking.number(i64::from(progress.leg));
        marking.number(progress.last_seq.cast_signed());
        marking.number(progress.updated.0.cast_signed());
        marking.text(progress.status.map_or("", status_word).as_bytes());
        marking.number(progress.ended_seq.unwrap_or_default().cast_signed());
        marking.number(i64::from(progress.children));
        marking.text(log_sum.bytes());
        marking.number(i64::from(*going));
        marking.finish()
    }

    /// Of what this is the mark of, and how long it has worked.
    pub(super) fn with(self, worked: &Worked) -> Self {
        let mut marking = Marking(self.0);
        let (before, admitted, heard) = worked_columns(worked);
        marking.number(before);
        marking.number(i64::from(admitted.is_some()));
        marking.number(admitted.unwrap_or_default());
        marking.number(heard);
        marking.finish()
    }

    pub(super) fn of_command(number: i64, task: &str, body: &str) -> Self {
        let mut marking = Marking::default();
        marking.number(number);
        marking.text(task.as_bytes());
        marking.text(body.as_bytes());
        marking.finish()
    }

    pub(super) fn of_numbers(numbers: &[i64]) -> Self {
        let mut marking = Marking::default();
        for number in numbers {
            marking.number(*number);
        }
        marking.finish()
    }
}

/// A number is one step; a text is its length, and then a number for every eight bytes, little-endian, the last ones
/// filled up with zeroes.
#[derive(Default)]
struct Marking(u64);

impl Marking {
    fn number(&mut self, number: i64) {
        // An odd factor, and a shift by half: both can be undone.
        let mixed = (self.0 ^ number.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn text(&mut self, text: &[u8]) {
        self.number((text.len() as u64).cast_signed());
        for piece in text.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.number(i64::from_le_bytes(word));
        }
    }

    fn finish(self) -> Mark {
        Mark(self.0)
    }
}

impl ToSql for Mark {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Mark {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(|number| Self(number.cast_unsigned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_bit_changes_the_mark() {
        let text = *b"agent-abcdefghijkl, and some more of it";
        let whole = Mark::of_command(1, "abc", std::str::from_utf8(&text).unwrap());
        for bit in 0..64 {
            assert_ne!(Mark::of_numbers(&[7, 1 << bit, 9]), Mark::of_numbers(&[7, 0, 9]), "bit {bit}");
        }
        for at in 0..text.len() {
            let mut changed = text;
            changed[at] ^= 1;
            assert_ne!(Mark::of_command(1, "abc", std::str::from_utf8(&changed).unwrap()), whole, "byte {at}");
        }
    }

    #[test]
    fn texts_do_not_run_into_each_other() {
        assert_ne!(Mark::of_command(1, "ab", "c"), Mark::of_command(1, "a", "bc"));
        assert_ne!(Mark::of_command(1, "a", ""), Mark::of_command(1, "", "a"));
        assert_ne!(Mark::of_command(1, "a\0", ""), Mark::of_command(1, "a", ""));
    }
}
