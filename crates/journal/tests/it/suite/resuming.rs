//! Resuming a task: its legs, its standing, its log from the middle on, and commands to it.

use expect_test::expect;
use sortie_journal::{CommandId, Entry, Holder, Journal, JournalError, MemoryJournal, Standing, TaskState};
use sortie_protocol::{Command, Status, TaskId};

use crate::support::{Place, append, ended, noticed, render, resumed, started, task};

over_every_journal![
    a_resume_opens_a_leg_once_the_previous_one_has_ended,
    a_takeover_continues_the_open_leg,
    one_of_two_simultaneous_resumes_gets_the_task,
    a_resume_after_an_outdated_read_is_refused,
    the_standing_of_a_task_shows_its_progress_and_its_holder,
    a_running_task_cannot_be_resumed,
    a_log_can_be_read_from_any_number_on,
    the_journal_can_be_queried_while_a_long_log_is_read,
    a_log_that_others_have_written_to_is_not_read_as_it_was,
    commands_are_read_in_the_order_they_were_sent,
    a_command_without_a_task_is_refused,
    old_commands_are_deleted_when_their_task_has_ended,
];

async fn a_resume_opens_a_leg_once_the_previous_one_has_ended(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a)]).await.unwrap();
    let refused = append(journal, [resumed(a, 2)]).await.unwrap_err();
    expect!["leg 2 of agent-aaaaaaaaaaaa has not begun: the one before it must end first, and a resume must open it"]
        .assert_eq(&refused.to_string());
    append(journal, [ended(a, Status::Partial)]).await.unwrap();
    for out_of_turn in [resumed(a, 3), Entry { leg: 2, ..noticed(a, "nobody opened it") }] {
        let refused = append(journal, [out_of_turn]).await;
        assert!(matches!(refused, Err(JournalError::LegNotBegun { .. })), "{refused:?}");
    }
    append(journal, [resumed(a, 2), Entry { leg: 2, ..noticed(a, "now") }]).await.unwrap();
    assert_eq!(journal.read(a).unwrap().len(), 4);
}

async fn a_takeover_continues_the_open_leg(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a)]).await.unwrap();
    append(journal, [Entry { attempt: 2, ..resumed(a, 1) }]).await.unwrap();
    let standing = journal.standing(a).unwrap();
    assert_eq!((standing.leg, standing.attempt, standing.state), (1, 2, TaskState::Running));
    let fenced = append(journal, [noticed(a, "of the attempt before")]).await;
    assert!(matches!(fenced, Err(JournalError::Fenced { ours: 1, current: 2, .. })), "{fenced:?}");
}

async fn one_of_two_simultaneous_resumes_gets_the_task(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a), ended(a, Status::Completed)]).await.unwrap();
    let again = Entry { attempt: 2, ..resumed(a, 2) };
    append(journal, [again.clone()]).await.unwrap();
    let late = append(journal, [again]).await;
    assert!(matches!(late, Err(JournalError::Fenced { ours: 2, current: 2, .. })), "{late:?}");
    append(journal, [Entry { attempt: 2, leg: 2, ..noticed(a, "of the first") }]).await.unwrap();
}

async fn a_resume_after_an_outdated_read_is_refused(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b)]).await.unwrap();
    let read = journal.standing(a).unwrap();
    append(journal, [noticed(a, "the owner lives")]).await.unwrap();
    let takeover = Entry { attempt: 2, after: Some(read.last_seq), ..resumed(a, 1) };
    let refused = append(journal, [noticed(b, "in the same append"), takeover.clone()]).await.unwrap_err();
    expect!["the log of agent-aaaaaaaaaaaa now ends at event 2, but was read up to 1; another process has resumed it"]
        .assert_eq(&refused.to_string());
    append(journal, [noticed(a, "who was not shut out by it")]).await.unwrap();
    let ending = Entry { attempt: 2, after: Some(2), ..ended(a, Status::Cancelled) };
    assert!(matches!(append(journal, [ending]).await, Err(JournalError::Stale { read: 2, last: 3, .. })));
    append(journal, [Entry { after: Some(3), ..takeover }]).await.unwrap();
    assert_eq!((journal.read(a).unwrap().len(), journal.read(b).unwrap().len()), (4, 1));
}

async fn the_standing_of_a_task_shows_its_progress_and_its_holder(journal: &dyn Journal) {
    let a = task('a');
    assert!(matches!(journal.standing(a), Err(JournalError::NoSuchTask { .. })));
    append(journal, [Entry { attempt: 4, ..started(a) }]).await.unwrap();
    let running = Standing {
        task_id: a,
        leg: 1,
        attempt: 4,
        state: TaskState::Running,
        last_seq: 1,
        holder: Holder::ThisProcess,
    };
    assert_eq!(journal.standing(a).unwrap(), running);
    append(journal, [Entry { attempt: 4, ..ended(a, Status::Completed) }]).await.unwrap();
    let over = Standing { state: TaskState::Ended(Status::Completed), last_seq: 2, holder: Holder::Nobody, ..running };
    assert_eq!(journal.standing(a).unwrap(), over);
}

async fn a_running_task_cannot_be_resumed(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a)]).await.unwrap();
    let refused = journal.standing(a).unwrap().next_attempt().unwrap_err();
    let told = refused.to_string().replace(&std::process::id().to_string(), "PID");
    expect!["agent-aaaaaaaaaaaa is still running, in process PID; wait for it, or stop it first"].assert_eq(&told);
    append(journal, [ended(a, Status::Completed)]).await.unwrap();
    assert_eq!(journal.standing(a).unwrap().next_attempt().unwrap(), 2);
}

async fn a_log_can_be_read_from_any_number_on(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a), noticed(a, "two"), noticed(a, "three")]).await.unwrap();
    for (from, expected) in [
        (0, "aaaa 1 task_started\naaaa 2 noticed two\naaaa 3 noticed three\n"),
        (1, "aaaa 1 task_started\naaaa 2 noticed two\naaaa 3 noticed three\n"),
        (3, "aaaa 3 noticed three\n"),
        (4, ""),
        (u64::MAX, ""),
    ] {
        let mut events = Vec::new();
        journal.read_each(a, from, &mut |event| events.push(event)).unwrap();
        assert_eq!(render(&events), expected, "from {from}");
    }
    let nobody = journal.read_each(task('b'), 1, &mut |event| panic!("{event:?}"));
    assert!(matches!(nobody, Err(JournalError::NoSuchTask { .. })), "{nobody:?}");
}

async fn the_journal_can_be_queried_while_a_long_log_is_read(journal: &dyn Journal) {
    const EVENTS: u64 = 5_000;
    let a = task('a');
    let notices = (2..=EVENTS).map(|number| noticed(a, &number.to_string()));
    append(journal, std::iter::once(started(a)).chain(notices).collect::<Vec<_>>()).await.unwrap();
    let mut seen = 0;
    journal
        .read_each(a, 1, &mut |event| {
            seen += 1;
            assert_eq!(event.seq, seen);
            if seen.is_multiple_of(1_000) {
                assert_eq!(journal.standing(a).unwrap().last_seq, EVENTS);
            }
        })
        .unwrap();
    assert_eq!(seen, EVENTS);
}

fn stop(task: TaskId) -> Command {
    Command::Stop { task }
}

async fn a_log_that_others_have_written_to_is_not_read_as_it_was(journal: &dyn Journal) {
    let a = task('a');
    append(journal, [started(a), ended(a, Status::Completed)]).await.unwrap();
    let (standing, mut read) = (journal.standing(a).unwrap(), 0);
    journal.read_standing(&standing, &mut |_| read += 1).unwrap();
    assert_eq!(read, 2);
    append(journal, [Entry { attempt: 2, ..resumed(a, 2) }]).await.unwrap();
    let refused = journal.read_standing(&standing, &mut |event| panic!("{event:?} was read"));
    assert!(matches!(refused, Err(JournalError::Stale { read: 2, last: 3, .. })), "{refused:?}");
}

async fn commands_are_read_in_the_order_they_were_sent(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b)]).await.unwrap();
    assert_eq!(journal.newest_command().unwrap(), CommandId(0));
    let first = journal.send(stop(a)).await.unwrap();
    let second = journal.send(stop(b)).await.unwrap();
    let third = journal.send(stop(a)).await.unwrap();
    assert_eq!(journal.newest_command().unwrap(), third);
    let all = [(first, stop(a)), (second, stop(b)), (third, stop(a))];
    assert_eq!(journal.commands_after(CommandId(0), 10).unwrap(), all);
    assert_eq!(journal.commands_after(first, 1).unwrap(), all[1..2]);
    assert_eq!(journal.commands_after(third, 10).unwrap(), []);
    assert_eq!(journal.read(a).unwrap().len(), 1, "a wish is no fact");
}

async fn a_command_without_a_task_is_refused(journal: &dyn Journal) {
    let refused = journal.send(stop(task('a'))).await;
    assert!(matches!(refused, Err(JournalError::NoSuchTask { .. })), "{refused:?}");
    let refused = journal.send(Command::Unknown).await;
    assert!(matches!(refused, Err(JournalError::Write { .. })), "{refused:?}");
    assert_eq!(journal.newest_command().unwrap(), CommandId(0));
    append(journal, [started(task('a'))]).await.unwrap();
    journal.send(stop(task('a'))).await.unwrap();
}

async fn old_commands_are_deleted_when_their_task_has_ended(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started(b), ended(a, Status::Completed)]).await.unwrap();
    let mut sent = Vec::new();
    for number in 0..1_004 {
        sent.push(journal.send(stop(if number % 2 == 0 { a } else { b })).await.unwrap());
    }
    let kept: Vec<_> = journal.commands_after(CommandId(0), 5_000).unwrap().into_iter().map(|(id, _)| id).collect();
    let expected: Vec<_> = sent.iter().copied().enumerate().filter(|(at, _)| *at >= 4 || at % 2 == 1).collect();
    assert_eq!(kept, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), "those of the open task stay");
}
