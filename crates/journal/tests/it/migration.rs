//! Journals of older versions, from files that those versions wrote.

use expect_test::expect;
use sortie_journal::{Entry, Holder, Journal, SqliteJournal, TaskHeader, TaskState};
use sortie_protocol::Status;

use crate::support::{Place, append, noticed, render, resumed, task};

/// A journal of version 1 as a plain file.
fn version_1() -> Place {
    older(include_str!("../golden/version_1.sql"))
}

/// A journal of version 2 as a plain file.
fn version_2() -> Place {
    older(include_str!("../golden/version_2.sql"))
}

fn older(written: &str) -> Place {
    let place = Place::new();
    place.sql().execute_batch(written).unwrap();
    place
}

fn list(journal: &dyn Journal) -> String {
    let line =
        |header: TaskHeader| format!("{} leg {} {:?} {}\n", header.task_id, header.leg, header.state, header.updated);
    journal.tasks(10).unwrap().into_iter().map(line).collect()
}

#[tokio::test]
async fn a_journal_of_version_1_keeps_its_content_and_accepts_more() {
    let place = version_1();
    let journal = place.open();
    assert_eq!(journal.format_version().unwrap(), 4);
    let (a, b, c) = (task('a'), task('b'), task('c'));
    expect![[r#"
        agent-cccccccccccc leg 1 Interrupted 1970-01-01T00:00:04.000Z
        agent-bbbbbbbbbbbb leg 1 Ended(Partial) 1970-01-01T00:00:01.000Z
        agent-aaaaaaaaaaaa leg 2 Ended(Failed) 1970-01-01T00:00:03.000Z
    "#]]
    .assert_eq(&list(&journal));
    expect![[r#"
        aaaa 1 task_started
        aaaa 2 task_admitted
        aaaa 3 child_started
        aaaa 4 child_ended
        aaaa 5 task_ended
        aaaa 6 noticed a follow-up
        aaaa 7 task_ended
        cccc 1 task_started
        cccc 2 noticed still at it
    "#]]
    .assert_eq(&render(&[journal.read(a).unwrap(), journal.read(c).unwrap()].concat()));
    assert_eq!(journal.ending(a).unwrap().unwrap().status, Status::Failed);
    assert_eq!(journal.ending(b).unwrap().unwrap().status, Status::Partial);
    assert_eq!(journal.ending(c).unwrap(), None);
    assert_eq!(journal.tree(a).unwrap().len(), 2);

    let standing = journal.standing(c).unwrap();
    assert_eq!((standing.attempt, standing.state, standing.holder), (3, TaskState::Interrupted, Holder::Nobody));
    append(&journal, [Entry { attempt: standing.next_attempt().unwrap(), ..resumed(c, 1) }]).await.unwrap();
    append(&journal, [resumed(a, 3), Entry { leg: 3, ..noticed(a, "on") }]).await.unwrap_err();
    append(&journal, [Entry { attempt: 2, ..resumed(a, 3) }]).await.unwrap();
    assert_eq!(journal.read(a).unwrap().len(), 8);
    assert_eq!(journal.end().unwrap().0, 14);
}

#[test]
fn a_reader_migrates_it_too() {
    let place = version_1();
    assert_eq!(SqliteJournal::open_read_only(&place.path()).unwrap().tasks(10).unwrap().len(), 3);
    assert_eq!(place.open().format_version().unwrap(), 4);
}

#[tokio::test]
async fn a_journal_of_version_2_gets_the_working_time_of_its_tasks() {
    let place = version_2();
    let journal = place.open();
    let worked = |header: TaskHeader| format!("{} {:?} {:?}\n", header.task_id, header.state, header.worked.known());
    let told: String = journal.tasks(10).unwrap().into_iter().map(worked).collect();
    expect![[r#"
        agent-cccccccccccc Interrupted 3s
        agent-bbbbbbbbbbbb Ended(Completed) 1.9s
        agent-aaaaaaaaaaaa Ended(Failed) 0ns
    "#]]
    .assert_eq(&told);
    append(&journal, [Entry { attempt: 3, ..resumed(task('c'), 1) }]).await.unwrap();
    assert_eq!(journal.read(task('c')).unwrap().len(), 5);
}

#[test]
fn damage_in_version_2_is_still_damage_afterwards() {
    let place = version_2();
    place.sql().execute("UPDATE tasks SET title = 'Look at it' WHERE task = 'bbbbbbbbbbbb'", ()).unwrap();
    let refused = place.open().tasks(10).unwrap_err();
    assert!(refused.to_string().contains("the header of agent-bbbbbbbbbbbb does not match"), "{refused}");
}

/// A program of an older version that has the file open while a newer one migrates it would write rows with wrong
/// checksums.
#[test]
fn a_program_of_an_older_version_cannot_keep_writing_to_a_migrated_file() {
    for (place, column) in [(version_1(), "last_sum = zeroblob(16)"), (version_2(), "mark = 7")] {
        let older = place.sql();
        let update = format!("UPDATE tasks SET leg = 3, last_seq = 9, {column} WHERE task = 'aaaaaaaaaaaa'");
        older.prepare_cached(&update).unwrap();
        drop(place.open());
        let refused = older.prepare_cached(&update).and_then(|mut statement| statement.execute(())).unwrap_err();
        assert!(refused.to_string().contains("no such column"), "{refused}");
    }
}
