//! Group commit: how appends share transactions, wait for each other and fail.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use sortie_journal::{Durability, Entry, Journal, JournalError, SqliteJournal, TaskState};
use tokio::task::unconstrained;

use crate::support::{Place, append, noticed, render, resumed, started, task};

/// Another program's write transaction: nothing is committed while it is held.
fn hold_the_write_lock(place: &Place) -> rusqlite::Connection {
    let connection = place.sql();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

#[tokio::test]
async fn a_thousand_simultaneous_synced_appends_share_a_few_commits() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();
    let before = journal.commits();

    let held = hold_the_write_lock(&place);
    let mut all = Box::pin(join_all((0..1000).map(|_| append(&journal, [noticed(task('a'), "one of many")]))));
    assert!(unconstrained(&mut all).now_or_never().is_none(), "all are queued now, and none is acknowledged");
    drop(held);
    for acknowledged in all.await {
        acknowledged.unwrap();
    }

    let commits = journal.commits() - before;
    assert!(commits <= 3, "1000 appends took {commits} commits");
    assert_eq!(journal.read(task('a')).unwrap().len(), 1001);
}

#[tokio::test]
async fn a_refused_append_leaves_the_rest_of_its_batch_alone() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a')), started(task('b'))]).await.unwrap();
    append(&journal, [Entry { attempt: 2, ..noticed(task('a'), "taken over") }]).await.unwrap();
    let before = journal.commits();

    let held = hold_the_write_lock(&place);
    let mut all = Box::pin(join_all([
        append(&journal, vec![noticed(task('b'), "one")]),
        append(&journal, vec![noticed(task('b'), "lost with it"), noticed(task('a'), "too late")]),
        append(&journal, vec![noticed(task('b'), "two")]),
    ]));
    assert!((&mut all).now_or_never().is_none());
    drop(held);
    let verdicts = all.await;

    assert!(matches!(verdicts[..], [Ok(()), Err(JournalError::Fenced { ours: 1, current: 2, .. }), Ok(())]));
    assert!(journal.commits() - before <= 2, "they were one batch, or the first was alone");
    assert_eq!(
        render(&journal.read(task('b')).unwrap()),
        "bbbb 1 task_started\nbbbb 2 noticed one\nbbbb 3 noticed two\n"
    );
}

#[tokio::test]
async fn an_ordered_append_does_not_wait_for_its_commit_until_the_queue_is_full() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();

    let held = hold_the_write_lock(&place);
    let mut queued = 0;
    let waits = loop {
        let mut one_more = journal.append(vec![noticed(task('a'), "more")], Durability::Ordered);
        match unconstrained(&mut one_more).now_or_never() {
            Some(has_its_place) => has_its_place.unwrap(),
            None => break one_more,
        }
        queued += 1;
        assert!(queued < 100_000, "the queue has no end");
    };
    assert!(queued >= 1000, "{queued} did not have to wait");
    drop(held);
    waits.await.unwrap();

    append(&journal, [noticed(task('a'), "last")]).await.unwrap();
    assert_eq!(journal.read(task('a')).unwrap().len(), queued + 3);
}

#[tokio::test]
async fn an_attempt_that_lost_an_ordered_append_gets_errors_from_then_on() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a')), started(task('b'))]).await.unwrap();
    append(&journal, [Entry { attempt: 2, ..noticed(task('a'), "taken over") }]).await.unwrap();

    let over_both = vec![noticed(task('b'), "lost"), noticed(task('a'), "too late")];
    journal.append(over_both, Durability::Ordered).await.unwrap();
    for _ in 0..2 {
        let told = append(&journal, [noticed(task('b'), "with a hole before it")]).await;
        assert!(matches!(told, Err(JournalError::Fenced { .. })), "{told:?}");
    }
    let told = journal.append(vec![noticed(task('b'), "nor this")], Durability::Ordered).await;
    assert!(matches!(told, Err(JournalError::Fenced { .. })), "{told:?}");
    assert_eq!(journal.read(task('b')).unwrap().len(), 1);

    append(&journal, [Entry { attempt: 2, ..noticed(task('b'), "a new attempt") }]).await.unwrap();
    append(&journal, [Entry { attempt: 2, ..noticed(task('a'), "going on") }]).await.unwrap();
}

#[tokio::test]
async fn after_a_failed_write_nothing_more_is_acknowledged() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();
    let saboteur = place.sql();
    saboteur
        .execute_batch("CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'disk on fire'); END")
        .unwrap();
    let failed = append(&journal, [noticed(task('a'), "lost")]).await.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "the journal could not be written: disk on fire; nothing after this point is recorded; free space or repair the disk, then run `sortie resume`"
    );

    saboteur.execute_batch("DROP TRIGGER full").unwrap();
    for durability in [Durability::Synced, Durability::Ordered] {
        let later = journal.append(vec![noticed(task('a'), "later")], durability).await.unwrap_err();
        assert_eq!(later.to_string(), failed.to_string());
    }
    assert_eq!(journal.read(task('a')).unwrap().len(), 1);
}

#[tokio::test]
async fn another_programs_lock_fails_only_simultaneous_writes() {
    let place = Place::new();
    let journal = SqliteJournal::open_with_patience(&place.path(), Duration::from_millis(50)).unwrap();
    append(&journal, [started(task('a')), started(task('b'))]).await.unwrap();
    let other = place.sql();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    journal.append(vec![noticed(task('a'), "lost")], Durability::Ordered).await.unwrap();
    let refused = append(&journal, [noticed(task('b'), "nor this, and that is told")]).await.unwrap_err();
    assert!(matches!(refused, JournalError::Locked { .. }), "{refused:?}");
    other.execute_batch("ROLLBACK").unwrap();
    for durability in [Durability::Synced, Durability::Ordered] {
        let later = journal.append(vec![noticed(task('a'), "behind a hole")], durability).await.unwrap_err();
        assert_eq!(later.to_string(), refused.to_string());
    }
    append(&journal, [noticed(task('b'), "once more")]).await.unwrap();
    append(&journal, [Entry { attempt: 2, ..noticed(task('a'), "a new attempt") }]).await.unwrap();
    append(&journal, [Entry { attempt: 2, ..noticed(task('a'), "and more of it") }]).await.unwrap();
    assert_eq!((journal.read(task('a')).unwrap().len(), journal.read(task('b')).unwrap().len()), (3, 2));
}

#[tokio::test]
async fn a_task_forsaken_by_its_attempt_is_interrupted_until_it_is_resumed() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();
    let state = || (journal.standing(task('a')).unwrap().state, journal.tasks(1).unwrap()[0].state);
    let why = JournalError::Write { cause: "there is no room".to_owned() };
    journal.shut_out(task('a'), 1, &why);
    assert_eq!(state(), (TaskState::Running, TaskState::Running), "somebody is still at it");
    let refused = append(&journal, [noticed(task('a'), "lost")]).await.unwrap_err();
    assert_eq!(refused.to_string(), why.to_string());
    journal.forsake(task('a'), 1, &why);
    assert_eq!(state(), (TaskState::Interrupted, TaskState::Interrupted));
    let attempt = journal.standing(task('a')).unwrap().next_attempt().unwrap();
    append(&journal, [Entry { attempt, ..resumed(task('a'), 1) }]).await.unwrap();
    assert_eq!(state(), (TaskState::Running, TaskState::Running));
}

#[tokio::test]
async fn dropping_the_journal_writes_what_is_queued() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();
    for _ in 0..500 {
        journal.append(vec![noticed(task('a'), "queued")], Durability::Ordered).await.unwrap();
    }
    drop(journal);
    assert_eq!(place.open().read(task('a')).unwrap().len(), 501);
}

#[tokio::test]
async fn an_append_that_nobody_waits_for_any_more_still_counts() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();
    let held = hold_the_write_lock(&place);
    let mut given_up = Box::pin(append(&journal, [noticed(task('a'), "given up")]));
    assert!((&mut given_up).now_or_never().is_none());
    drop(given_up);
    drop(held);
    append(&journal, [noticed(task('a'), "next")]).await.unwrap();
    assert_eq!(
        render(&journal.read(task('a')).unwrap()),
        "aaaa 1 task_started\naaaa 2 noticed given up\naaaa 3 noticed next\n"
    );
}
