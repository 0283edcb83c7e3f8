//! The promises of every journal, written once and run against each of them.

use std::time::{Duration, Instant};

use expect_test::expect;
use sortie_journal::{Durability, Entry, Journal, JournalError, MemoryJournal, Position, Scope, TaskState};
use sortie_protocol::{Fact, Status, Timestamp};

use crate::support::{Place, append, ended, entry, noticed, render, resumed, started, started_by, task};

macro_rules! over_every_journal {
    ($($test:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test]
            async fn $test() {
                super::$test(&super::MemoryJournal::new()).await;
            })*
        }

        mod sqlite {
            $(#[tokio::test]
            async fn $test() {
                let place = super::Place::new();
                super::$test(&place.open()).await;
            })*
        }
    };
}

mod listing;
mod pruning;
mod resuming;

over_every_journal![
    events_are_numbered_within_their_task_without_gaps,
    appended_events_are_read_back_unchanged,
    ordered_appends_keep_their_order,
    an_append_to_two_tasks_is_all_or_nothing,
    a_task_that_never_started_has_no_facts,
    a_task_starts_once,
    a_lower_attempt_is_shut_out_by_a_higher_one,
    an_empty_append_does_nothing,
    headers_follow_the_task_from_start_to_end,
    a_new_leg_opens_an_ended_task_again,
    a_leg_ends_once_and_only_the_end_of_a_child_follows_it,
    the_newest_ending_is_read_alone,
    newest_tasks_are_listed_first,
    a_tree_lists_parents_before_children_in_order_of_start,
    a_task_is_found_by_the_beginning_of_its_id,
    an_unknown_task_is_an_error_not_an_empty_log,
    the_log_is_followed_page_by_page_over_all_tasks,
    one_tree_can_be_followed_alone,
    waiting_ends_when_something_is_written,
    waiting_ends_when_the_time_is_up,
    unknown_facts_are_kept_and_can_be_skipped,
];

async fn events_are_numbered_within_their_task_without_gaps(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b), noticed(a, "one")]).await.unwrap();
    append(journal, [noticed(b, "two"), noticed(a, "three")]).await.unwrap();
    let both = [journal.read(a).unwrap(), journal.read(b).unwrap()].concat();
    expect![[r"
        aaaa 1 task_started
        aaaa 2 noticed one
        aaaa 3 noticed three
        bbbb 1 task_started
        bbbb 2 noticed two
    "]]
    .assert_eq(&render(&both));
}

async fn appended_events_are_read_back_unchanged(journal: &dyn Journal) {
    let (parent, child) = (task('a'), task('b'));
    let entries = [started(parent), started_by(parent, child, parent), ended(child, Status::Partial)];
    append(journal, entries.clone()).await.unwrap();

    let events = journal.read(child).unwrap();
    assert_eq!(events[0].fact, entries[1].fact);
    assert_eq!(events[1].fact, entries[2].fact);
    for event in events {
        assert_eq!((event.v, event.task_id, event.parent_id), (1, child, Some(parent)));
        assert_eq!((event.depth, event.leg, event.time), (1, 1, Timestamp(1_000)));
    }
}

async fn ordered_appends_keep_their_order(journal: &dyn Journal) {
    let a = task('a');
    journal.append(vec![started(a)], Durability::Ordered).await.unwrap();
    for number in 2..=100 {
        journal.append(vec![noticed(a, &number.to_string())], Durability::Ordered).await.unwrap();
    }
    append(journal, [noticed(a, "101")]).await.unwrap();
    for (event, number) in journal.read(a).unwrap().iter().zip(1..).skip(1) {
        assert_eq!(event.seq, number);
        assert_eq!(event.fact, Fact::Noticed { text: number.to_string() });
    }
    assert_eq!(journal.read(a).unwrap().len(), 101);
}

async fn an_append_to_two_tasks_is_all_or_nothing(journal: &dyn Journal) {
    let (a, b, c) = (task('a'), task('b'), task('c'));
    append(journal, [started(a)]).await.unwrap();
    let before = journal.end().unwrap();

    let refused = append(journal, [noticed(a, "told"), started(c), noticed(b, "never started")]).await;
    assert!(matches!(refused, Err(JournalError::NoSuchTask { .. })), "{refused:?}");
    assert_eq!(journal.end().unwrap(), before);
    assert_eq!(journal.find("").unwrap().len(), 1, "the task started in the same append is not there either");

    append(journal, [noticed(a, "after")]).await.unwrap();
    expect![[r"
        aaaa 1 task_started
        aaaa 2 noticed after
    "]]
    .assert_eq(&render(&journal.read(a).unwrap()));
}

async fn a_task_that_never_started_has_no_facts(journal: &dyn Journal) {
    let refused = append(journal, [noticed(task('a'), "too early")]).await.unwrap_err();
    assert_eq!(refused.to_string(), "no task agent-aaaaaaaaaaaa");
    assert_eq!(journal.end().unwrap(), Position(0));
}

async fn a_task_starts_once(journal: &dyn Journal) {
    append(journal, [started(task('a'))]).await.unwrap();
    let refused = append(journal, [started(task('a'))]).await.unwrap_err();
    expect!["agent-aaaaaaaaaaaa has already been started; a new task needs a new id"].assert_eq(&refused.to_string());
    assert_eq!(journal.read(task('a')).unwrap().len(), 1);
}

async fn a_lower_attempt_is_shut_out_by_a_higher_one(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b)]).await.unwrap();
    append(journal, [Entry { attempt: 2, ..noticed(a, "taken over") }]).await.unwrap();

    let fenced = append(journal, [noticed(b, "along with it"), noticed(a, "too late")]).await.unwrap_err();
    expect!["agent-aaaaaaaaaaaa has been taken over by another process (attempt 2, ours is 1); this one must stop"]
        .assert_eq(&fenced.to_string());
    append(journal, [Entry { attempt: 2, ..noticed(a, "going on") }, noticed(b, "alone")]).await.unwrap();
    let both = [journal.read(a).unwrap(), journal.read(b).unwrap()].concat();
    expect![[r"
        aaaa 1 task_started
        aaaa 2 noticed taken over
        aaaa 3 noticed going on
        bbbb 1 task_started
        bbbb 2 noticed alone
    "]]
    .assert_eq(&render(&both));
}

async fn an_empty_append_does_nothing(journal: &dyn Journal) {
    append(journal, []).await.unwrap();
    journal.append(Vec::new(), Durability::Ordered).await.unwrap();
    assert_eq!(journal.end().unwrap(), Position(0));
}

async fn headers_follow_the_task_from_start_to_end(journal: &dyn Journal) {
    let (parent, child) = (task('a'), task('b'));
    let begun = Entry { time: Timestamp(5_000), ..started_by(parent, child, parent) };
    append(journal, [started(parent), begun]).await.unwrap();
    append(journal, [Entry { time: Timestamp(6_000), ..noticed(child, "working") }]).await.unwrap();
    let header = journal.find("b").unwrap().remove(0);
    expect![[r#"
        TaskHeader {
            task_id: agent-bbbbbbbbbbbb,
            parent_id: Some(
                agent-aaaaaaaaaaaa,
            ),
            root_id: agent-aaaaaaaaaaaa,
            depth: 1,
            leg: 1,
            agent: "explore",
            title: "look at bbbbbbbbbbbb",
            workspace: "/workspace",
            state: Running,
            started: 1970-01-01T00:00:05.000Z,
            updated: 1970-01-01T00:00:06.000Z,
            worked: Worked {
                before: 0ns,
                admitted: None,
                last_heard: 1970-01-01T00:00:06.000Z,
            },
        }
    "#]]
    .assert_debug_eq(&header);

    let statuses = [Status::Completed, Status::Partial, Status::Failed, Status::Cancelled, Status::Rejected];
    for (leg, status) in (1..).zip(statuses) {
        if leg > 1 {
            append(journal, [resumed(child, leg)]).await.unwrap();
        }
        append(journal, [Entry { leg, ..ended(child, status) }]).await.unwrap();
        assert_eq!(journal.find("b").unwrap()[0].state, TaskState::Ended(status));
    }
    assert_eq!(journal.find("a").unwrap()[0].state, TaskState::Running);
}

async fn a_new_leg_opens_an_ended_task_again(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a), ended(a, Status::Completed)]).await.unwrap();
    append(journal, [resumed(a, 2)]).await.unwrap();
    let header = journal.find("a").unwrap().remove(0);
    assert_eq!((header.leg, header.state), (2, TaskState::Running));
    let legs: Vec<u32> = journal.read(a).unwrap().iter().map(|event| event.leg).collect();
    assert_eq!(legs, [1, 1, 2]);
}

async fn the_newest_ending_is_read_alone(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a), noticed(a, "one")]).await.unwrap();
    assert_eq!(journal.ending(a).unwrap(), None);
    append(journal, [ended(a, Status::Partial)]).await.unwrap();
    append(journal, [resumed(a, 2), Entry { leg: 2, ..ended(a, Status::Completed) }]).await.unwrap();
    assert_eq!(journal.ending(a).unwrap().map(|outcome| outcome.status), Some(Status::Completed));
    assert_eq!(journal.ending(task('b')).unwrap(), None, "nobody of that name");
}

async fn newest_tasks_are_listed_first(journal: &dyn Journal) {
    // Started by a clock that runs backwards: the order is the order of appending.
    for (letter, time) in [('c', 3), ('a', 2), ('b', 1)] {
        append(journal, [Entry { time: Timestamp(time), ..started(task(letter)) }]).await.unwrap();
    }
    let ids: Vec<_> = journal.tasks(2).unwrap().iter().map(|header| header.task_id).collect();
    assert_eq!(ids, [task('b'), task('a')]);
    assert_eq!(journal.tasks(usize::MAX).unwrap().len(), 3);
}

async fn a_tree_lists_parents_before_children_in_order_of_start(journal: &dyn Journal) {
    let (root, stranger) = (task('m'), task('s'));
    append(journal, [started(root), started(stranger)]).await.unwrap();
    append(journal, [started_by(root, task('z'), root), started_by(root, task('b'), root)]).await.unwrap();
    append(journal, [started_by(task('z'), task('a'), root), started_by(stranger, task('t'), stranger)]).await.unwrap();

    let letters = |of| -> String {
        journal.tree(of).unwrap().iter().map(|header| header.task_id.letters().chars().next().unwrap()).collect()
    };
    assert_eq!(letters(root), "mzba");
    assert_eq!(letters(task('z')), "za", "a task within has a tree of its own");
    assert_eq!(letters(stranger), "st");
}

async fn a_task_is_found_by_the_beginning_of_its_id(journal: &dyn Journal) {
    let ids = ["zeppelinzzzz", "abcabcabcabc", "abdabdabdabd"].map(|letters| letters.parse().unwrap());
    append(journal, ids.map(started)).await.unwrap();
    let found =
        |prefix: &str| -> Vec<_> { journal.find(prefix).unwrap().iter().map(|header| header.task_id).collect() };
    assert_eq!(found("ab"), ids[1..]);
    assert_eq!(found("agent-ab"), ids[1..]);
    assert_eq!(found("agent-abcabcabcabc"), ids[1..2]);
    assert_eq!(found("zeppelinzzzz"), ids[..1]);
    assert_eq!(found(""), ids, "oldest first");
    for nothing in ["b", "abcabcabcabca", "ab%", "AB", "agent-agent-ab", "{"] {
        assert_eq!(found(nothing), [], "{nothing}");
    }
}

async fn a_leg_ends_once_and_only_the_end_of_a_child_follows_it(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started_by(a, b, a), ended(a, Status::Failed)]).await.unwrap();
    for late in [noticed(a, "late"), ended(a, Status::Completed)] {
        let refused = append(journal, [late]).await.unwrap_err();
        assert!(matches!(refused, JournalError::LegOver { leg: 1, .. }), "{refused}");
    }
    let call = sortie_protocol::CallId::from("call_1");
    append(journal, [ended(b, Status::Completed), entry(a, Fact::ChildEnded { call, child: b, child_leg: 1 })])
        .await
        .unwrap();
    append(journal, [resumed(a, 2)]).await.unwrap();
    let refused = append(journal, [noticed(a, "of an older leg")]).await.unwrap_err();
    assert!(matches!(refused, JournalError::LegOver { leg: 1, .. }), "{refused}");
    assert_eq!(journal.tasks(2).unwrap()[1].state, TaskState::Running, "nothing of it was kept");
}

async fn one_tree_can_be_followed_alone(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b), started_by(a, task('c'), a), noticed(b, "theirs"), noticed(a, "ours")])
        .await
        .unwrap();
    let mine = journal.read_after(Scope::Tree(a), Position(1), 10).unwrap();
    expect![[r"
        cccc 1 task_started
        aaaa 2 noticed ours
    "]]
    .assert_eq(&render(mine.iter().map(|(_, event)| event)));
    assert_eq!(mine.iter().map(|(position, _)| position.0).collect::<Vec<_>>(), [3, 5]);
}

async fn an_unknown_task_is_an_error_not_an_empty_log(journal: &dyn Journal) {
    for error in [journal.read(task('a')).unwrap_err(), journal.tree(task('a')).unwrap_err()] {
        assert_eq!(error.to_string(), "no task agent-aaaaaaaaaaaa");
    }
}

async fn the_log_is_followed_page_by_page_over_all_tasks(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b), noticed(b, "one"), noticed(a, "two"), noticed(b, "three")]).await.unwrap();
    let (mut after, mut pages) = (Position(0), Vec::new());
    loop {
        let page = journal.read_after(Scope::All, after, 2).unwrap();
        let Some((position, _)) = page.last() else { break };
        assert!(page.iter().all(|(position, _)| *position > after));
        after = *position;
        pages.push(render(page.iter().map(|(_, event)| event)));
    }
    assert_eq!(after, journal.end().unwrap());
    expect![[r"
        aaaa 1 task_started
        bbbb 1 task_started
        --
        bbbb 2 noticed one
        aaaa 2 noticed two
        --
        bbbb 3 noticed three
    "]]
    .assert_eq(&pages.join("--\n"));
}

/// Time after which a test has clearly failed.
const FOREVER: Duration = Duration::from_mins(1);

async fn waiting_ends_when_something_is_written(journal: &dyn Journal) {
    append(journal, [started(task('a'))]).await.unwrap();
    let end = journal.end().unwrap();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            journal.wait_beyond(end, FOREVER);
            journal.read_after(Scope::All, end, 10).unwrap().len()
        });
        let appended = journal.append(vec![noticed(task('a'), "now")], Durability::Ordered);
        scope.spawn(|| futures_util::FutureExt::now_or_never(appended).unwrap().unwrap());
        assert_eq!(waiting.join().unwrap(), 1);
    });
    assert!(begun.elapsed() < FOREVER / 2);
}

async fn waiting_ends_when_the_time_is_up(journal: &dyn Journal) {
    append(journal, [started(task('a'))]).await.unwrap();
    let begun = Instant::now();
    journal.wait_beyond(journal.end().unwrap(), Duration::from_millis(20));
    assert!(begun.elapsed() >= Duration::from_millis(20));
}

async fn unknown_facts_are_kept_and_can_be_skipped(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a), entry(a, Fact::Unknown), noticed(a, "after")]).await.unwrap();
    expect![[r"
        aaaa 1 task_started
        aaaa 2 unknown
        aaaa 3 noticed after
    "]]
    .assert_eq(&render(&journal.read(a).unwrap()));
}
