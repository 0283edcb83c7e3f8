//! Damage that SQLite would not notice: rows that differ from what was written.

use expect_test::{Expect, expect};
use rusqlite::types::Value;
use sha2::{Digest, Sha256};
use sortie_journal::{CommandId, Journal, JournalError, Position, Scope, TaskQuery, TaskState};
use sortie_protocol::{Command, Fact, Status, Timestamp};

use crate::support::{Place, append, ended, noticed, render, started, started_by, task};

/// A journal with a task of five events, its child with one, and a change made behind the journal's back.
async fn damaged_by(change: &str) -> Place {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a')), started_by(task('a'), task('b'), task('a'))]).await.unwrap();
    append(&journal, ["two", "three", "four", "five"].map(|text| noticed(task('a'), text))).await.unwrap();
    drop(journal);
    let changed = place.sql().execute(change, ()).unwrap();
    assert_eq!(changed, 1, "{change}");
    place
}

async fn check_read(change: &str, expected: Expect) {
    let place = damaged_by(change).await;
    expected.assert_eq(&place.open().read(task('a')).unwrap_err().to_string());
}

/// Checks a change of a task's row that brings a matching checksum.
async fn check_read_signed(change: &str, expected: Expect) {
    let place = damaged_by(change).await;
    sign(&place.sql());
    expected.assert_eq(&place.open().read(task('a')).unwrap_err().to_string());
}

/// The documented rule for the checksum of a row, without the journal's own code.
#[derive(Default)]
struct Marking(u64);

impl Marking {
    fn numbers(&mut self, numbers: &[i64]) {
        for number in numbers {
            let mixed = (self.0 ^ number.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 32);
        }
    }

    fn text(&mut self, text: &[u8]) {
        self.numbers(&[(text.len() as u64).cast_signed()]);
        for piece in text.chunks(8) {
            let word = (0..8).map(|at| i64::from(piece.get(at).copied().unwrap_or_default()) << (8 * at)).sum();
            self.numbers(&[word]);
        }
    }
}

/// Gives the row of task `a` the checksum that matches its content.
fn sign(sql: &rusqlite::Connection) {
    let columns =
        "number, task, coalesce(parent, ''), root, depth, agent, title, workspace, started, attempt, owner_pid,
        owner_started, leg, last_seq, updated, coalesce(status, ''), coalesce(ended_seq, 0), children, log_sum, going,
        owner_space, worked, coalesce(admitted, 0), heard, admitted IS NOT NULL";
    let query = format!("SELECT {columns} FROM tasks WHERE task = 'aaaaaaaaaaaa'");
    let mark = sql.query_row(&query, (), |row| {
        let number = |column: usize| row.get::<_, i64>(column).unwrap();
        let text = |column: usize| row.get_ref(column).unwrap().as_bytes().unwrap().to_vec();
        let mut origin = Marking::default();
        for column in 1..=3 {
            origin.text(&text(column));
        }
        origin.numbers(&[number(4)]);
        for column in 5..=7 {
            origin.text(&text(column));
        }
        origin.numbers(&[number(8)]);
        let mut whole = Marking::default();
        whole.numbers(&[number(0), origin.0.cast_signed()]);
        whole.numbers(&[9, 10, 11, 20, 12, 13, 14].map(number));
        whole.text(&text(15));
        whole.numbers(&[16, 17].map(number));
        whole.text(&text(18));
        whole.numbers(&[19, 21, 24, 22, 23].map(number));
        Ok(whole.0.cast_signed())
    });
    sql.execute("UPDATE tasks SET row_mark = ?1 WHERE task = 'aaaaaaaaaaaa'", [mark.unwrap()]).unwrap();
}

#[tokio::test]
async fn a_flipped_bit_in_any_column_of_an_event_is_found() {
    let place = damaged_by("UPDATE events SET leg = leg WHERE task = 'aaaaaaaaaaaa' AND seq = 3").await;
    place.open().read(task('a')).unwrap();

    let sql = place.sql();
    let statement = sql.prepare("SELECT * FROM events").unwrap();
    let columns = statement.column_names().collect::<Vec<_>>().join(" ");
    assert_eq!(columns, "position task seq leg time version kind sum body", "each of them is flipped below");
    for column in columns.split(' ') {
        let place = damaged_by("UPDATE events SET leg = leg WHERE task = 'aaaaaaaaaaaa' AND seq = 3").await;
        flip_a_bit(&place, column);
        let read = place.open().read(task('a'));
        assert!(matches!(read, Err(JournalError::DamagedTask { seq: 3, .. })), "{column}: {read:?}");
        let followed = place.open().read_after(Scope::All, Position(0), 100);
        let damage = matches!(followed, Err(JournalError::DamagedTask { .. } | JournalError::Damaged { .. }));
        assert!(damage, "{column}: {followed:?}");
    }
}

/// Flips the lowest bit of a value of the third event, as a failing disk would: ignoring constraints.
fn flip_a_bit(place: &Place, column: &str) {
    let connection = place.sql();
    let which = "WHERE task = 'aaaaaaaaaaaa' AND seq = 3";
    let value = connection.query_row(&format!("SELECT {column} FROM events {which}"), (), |row| row.get(0)).unwrap();
    let flipped = match value {
        // The lowest bit of a key would make it that of a neighbour; the row would be refused, not wrong.
        Value::Integer(number) if matches!(column, "position" | "seq") => Value::Integer(number ^ (1 << 20)),
        Value::Integer(number) => Value::Integer(number ^ 1),
        Value::Text(text) => {
            let mut bytes = text.into_bytes();
            *bytes.last_mut().unwrap() ^= 1;
            Value::Text(String::from_utf8(bytes).unwrap())
        }
        Value::Blob(mut bytes) => {
            bytes[7] ^= 1;
            Value::Blob(bytes)
        }
        other => panic!("{column} holds {other:?}"),
    };
    assert_eq!(connection.execute(&format!("UPDATE events SET {column} = ?1 {which}"), [flipped]).unwrap(), 1);
}

#[tokio::test]
async fn a_changed_event_is_named_with_its_number() {
    check_read(
        "UPDATE events SET body = replace(body, 'three', 'threw') WHERE task = 'aaaaaaaaaaaa' AND seq = 3",
        expect!["the log of agent-aaaaaaaaaaaa is damaged at event 3: its checksum does not match; restore the journal from a backup, or continue without this task"],
    )
    .await;
}

#[tokio::test]
async fn a_lost_event_in_the_middle_is_found() {
    check_read(
        "DELETE FROM events WHERE task = 'aaaaaaaaaaaa' AND seq = 3",
        expect!["the log of agent-aaaaaaaaaaaa is damaged at event 3: it is missing; restore the journal from a backup, or continue without this task"],
    )
    .await;
}

#[tokio::test]
async fn a_lost_tail_is_found() {
    check_read("DELETE FROM events WHERE task = 'aaaaaaaaaaaa' AND seq = 5", expect!["the log of agent-aaaaaaaaaaaa is damaged at event 5: it and all after it are missing (5 have been written); restore the journal from a backup, or continue without this task"]).await;
}

#[tokio::test]
async fn an_event_that_was_never_written_is_found() {
    check_read(
        "INSERT INTO events SELECT 100, task, 6, leg, time, version, kind, sum, body FROM events WHERE seq = 5",
        expect!["the log of agent-aaaaaaaaaaaa is damaged at event 6: its checksum does not match; restore the journal from a backup, or continue without this task"],
    )
    .await;
}

#[tokio::test]
async fn a_tail_from_another_time_is_found() {
    check_read_signed(
        "UPDATE tasks SET log_sum = zeroblob(16) WHERE task = 'aaaaaaaaaaaa'",
        expect!["the log of agent-aaaaaaaaaaaa is damaged at event 5: it is not the one that was written last; restore the journal from a backup, or continue without this task"],
    )
    .await;
}

#[tokio::test]
async fn an_event_behind_the_recorded_end_is_found() {
    check_read_signed(
        "UPDATE tasks SET last_seq = 4 WHERE task = 'aaaaaaaaaaaa'",
        expect![
            "the log of agent-aaaaaaaaaaaa is damaged at event 5: only 4 have been written; restore the journal from a backup, or continue without this task"
        ],
    )
    .await;
}

#[tokio::test]
async fn a_lost_row_of_a_task_is_found() {
    check_read("DELETE FROM tasks WHERE task = 'aaaaaaaaaaaa'", expect!["the log of agent-aaaaaaaaaaaa is damaged at event 1: the row of its task is missing; restore the journal from a backup, or continue without this task"]).await;
}

#[tokio::test]
async fn a_change_in_any_column_of_a_task_is_found_by_every_query_about_it() {
    for change in [
        "number = 20",
        "parent = NULL",
        "root = 'bbbbbbbbbbbb'",
        "depth = 0",
        "agent = 'plan'",
        "title = 'look away'",
        "workspace = '/'",
        "started = 0",
        "attempt = 0",
        "owner_pid = 1",
        "owner_started = 0",
        "owner_space = 1",
        "leg = 2",
        "last_seq = 2",
        "updated = 0",
        "status = 'completed'",
        "ended_seq = 1",
        "children = 1",
        "log_sum = zeroblob(16)",
        "going = 1",
        "row_mark = 0",
        "worked = 1",
        "admitted = 0",
        "heard = 0",
    ] {
        let place = damaged_by(&format!("UPDATE tasks SET {change} WHERE task = 'bbbbbbbbbbbb'")).await;
        let journal = place.open();
        let b = task('b');
        let answers = [
            journal.read(b).map(drop),
            journal.ending(b).map(drop),
            journal.standing(b).map(drop),
            journal.find("b").map(drop),
            journal.tasks(10).map(drop),
            append(&journal, [noticed(b, "more")]).await,
        ];
        for answer in answers {
            assert!(matches!(answer, Err(JournalError::Damaged { .. })), "{change}: {answer:?}");
        }
        append(&journal, [noticed(task('a'), "unharmed")]).await.unwrap();
        journal.read(task('a')).unwrap();
    }
}

#[tokio::test]
async fn an_implausible_row_of_a_task_is_damage() {
    for change in ["status = 'jubilant'", "root = 'somewhere'", "log_sum = x'00'", "depth = -1"] {
        let place = damaged_by(&format!("UPDATE tasks SET {change} WHERE task = 'aaaaaaaaaaaa'")).await;
        let found = place.open().read(task('a'));
        assert!(matches!(found, Err(JournalError::Damaged { .. })), "{change}: {found:?}");
    }
}

#[tokio::test]
async fn a_list_notices_a_missing_task() {
    let place = damaged_by("DELETE FROM tasks WHERE task = 'bbbbbbbbbbbb'").await;
    let journal = place.open();
    for list in [journal.tasks(1), journal.find("a")] {
        let told = list.unwrap_err().to_string();
        assert!(told.contains("is damaged: 2 tasks were expected and 1 found;"), "{told}");
    }
    let told = journal.tree(task('a')).unwrap_err().to_string();
    assert!(told.contains("is damaged: agent-aaaaaaaaaaaa should have 1 children and has 0;"), "{told}");
    let open = TaskQuery { states: vec![TaskState::Running], ..TaskQuery::default() };
    assert!(matches!(journal.list(&open), Err(JournalError::Damaged { .. })));
}

#[tokio::test]
async fn changed_totals_and_commands_are_damage() {
    for column in ["tasks", "open", "number", "position", "command"] {
        let place = damaged_by(&format!("UPDATE totals SET {column} = {column} + 1")).await;
        let found = place.open().end();
        assert!(matches!(found, Err(JournalError::Damaged { .. })), "{column}: {found:?}");
    }
    let place = damaged_by("DELETE FROM totals").await;
    assert!(matches!(place.open().end(), Err(JournalError::Damaged { .. })));

    for change in ["number = 7", "task = 'aaaaaaaaaaab'", "body = replace(body, 'stop', 'step')"] {
        let place = Place::new();
        let journal = place.open();
        append(&journal, [started(task('a'))]).await.unwrap();
        journal.send(Command::Stop { task: task('a') }).await.unwrap();
        assert_eq!(place.sql().execute(&format!("UPDATE commands SET {change}"), ()).unwrap(), 1);
        let found = journal.commands_after(CommandId(0), 10);
        assert!(matches!(found, Err(JournalError::Damaged { .. })), "{change}: {found:?}");
    }
}

#[tokio::test]
async fn damage_in_one_task_leaves_the_others_readable_and_writable() {
    let place = damaged_by("UPDATE events SET time = 0 WHERE task = 'aaaaaaaaaaaa' AND seq = 1").await;
    let journal = place.open();
    append(&journal, [noticed(task('b'), "unharmed")]).await.unwrap();
    assert_eq!(journal.read(task('b')).unwrap().len(), 2);
    assert_eq!(journal.tasks(10).unwrap().len(), 2);
}

#[tokio::test]
async fn an_old_tree_that_is_damaged_is_named_and_not_pruned() {
    let place = Place::new();
    let journal = place.open();
    for letter in ['a', 'b', 'c'] {
        append(&journal, [started(task(letter)), ended(task(letter), Status::Completed)]).await.unwrap();
    }
    let sql = place.sql();
    sql.execute("UPDATE events SET time = 0 WHERE task = 'aaaaaaaaaaaa' AND seq = 2", ()).unwrap();
    sql.execute("UPDATE tasks SET title = 'x' WHERE task = 'bbbbbbbbbbbb'", ()).unwrap();
    append(&journal, [started(task('d')), ended(task('d'), Status::Completed)]).await.unwrap();
    sql.execute("UPDATE tasks SET going = 1 WHERE task = 'dddddddddddd'", ()).unwrap();
    let pruned = journal.prune(Timestamp(2_000), &mut |gone| assert_eq!(gone, task('c'))).unwrap();
    assert_eq!((pruned.tasks.len(), pruned.damaged), (1, vec![task('d'), task('a'), task('b')]));
    assert!(matches!(journal.read(task('a')), Err(JournalError::DamagedTask { .. })), "there is something to rescue");
    assert!(matches!(journal.read(task('c')), Err(JournalError::NoSuchTask { .. })));
}

/// Written as a later version would write it, by the documented rule for checksums and without the journal's own code.
#[tokio::test]
async fn a_fact_of_a_later_version_is_kept_and_skipped() {
    let place = Place::new();
    let a = task('a');
    append(&place.open(), [started(a)]).await.unwrap();
    let sql = place.sql();
    let before: Vec<u8> = sql.query_row("SELECT log_sum FROM tasks", (), |row| row.get(0)).unwrap();
    let body = r#"{"type":"task_dreamed","of":["sheep"]}"#;
    let text = |sum: &mut Sha256, text: &[u8]| {
        sum.update((text.len() as u64).to_le_bytes());
        sum.update(text);
    };
    let mut sum = Sha256::new();
    text(&mut sum, &before);
    sum.update(2_i64.to_le_bytes());
    text(&mut sum, a.letters().as_bytes());
    for number in [2_i64, 1, 7_000, 1] {
        sum.update(number.to_le_bytes());
    }
    text(&mut sum, b"task_dreamed");
    text(&mut sum, body.as_bytes());
    let sum = &sum.finalize()[..16];
    sql.execute(
        "INSERT INTO events (position, task, seq, leg, time, version, kind, sum, body)
        VALUES (2, ?1, 2, 1, 7000, 1, 'task_dreamed', ?2, ?3)",
        (a.letters(), sum, body),
    )
    .unwrap();
    sql.execute("UPDATE tasks SET last_seq = 2, log_sum = ?1", [sum]).unwrap();
    sign(&sql);
    // The totals match an append that came after it.
    let mut totals = Marking::default();
    totals.numbers(&[1, 1, 1, 2, 0]);
    sql.execute("UPDATE totals SET position = 2, mark = ?1", [totals.0.cast_signed()]).unwrap();

    let journal = place.open();
    append(&journal, [noticed(a, "after")]).await.unwrap();
    let events = journal.read(a).unwrap();
    assert_eq!(events[1].fact, Fact::Unknown);
    assert_eq!(render(&events), "aaaa 1 task_started\naaaa 2 unknown\naaaa 3 noticed after\n");
    let kept: String = sql.query_row("SELECT body FROM events WHERE seq = 2", (), |row| row.get(0)).unwrap();
    assert_eq!(kept, body);
}
