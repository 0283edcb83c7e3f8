//! Pruning: which trees go, what goes with them, and what stays.

use sortie_journal::{
    CommandId, Entry, Journal, JournalError, Kept, KeptFor, MemoryJournal, Position, Pruned, Scope, TaskHeader,
};
use sortie_protocol::{CallId, Command, Fact, Failure, FailureCode, MailMark, ReportMark, Status, TaskId, Timestamp};

use crate::support::{
    Place, append, call_finished, child_ended, child_started, ended, noticed, render, resumed, started, started_by,
    task,
};

over_every_journal![
    an_old_tree_is_removed_with_everything_that_belongs_to_it,
    a_tree_stays_while_one_of_its_tasks_is_young,
    a_tree_with_an_open_leg_stays,
    a_tree_with_an_uncollected_ending_stays,
    a_background_report_keeps_its_tree_until_it_is_read,
    an_adopted_report_is_for_the_adopter_to_read,
    a_result_that_nobody_waits_for_keeps_no_tree,
    a_child_that_failed_with_its_parent_keeps_no_tree,
    a_child_that_ended_after_its_parent_keeps_no_tree,
    prunable_tasks_can_be_listed_first,
    a_pruning_does_not_free_numbers_for_reuse,
    a_long_log_is_removed_in_many_steps,
];

/// All entries above have the time 1,000.
const LATER: Timestamp = Timestamp(2_000);

/// Prunes, and returns the tasks passed to `discard`.
fn prune(journal: &dyn Journal, older_than: Timestamp) -> (Pruned, Vec<TaskId>) {
    let mut named = Vec::new();
    let pruned = journal.prune(older_than, &mut |task| named.push(task)).unwrap();
    (pruned, named)
}

/// Prunes nothing, and returns the reasons why trees stay.
fn kept(journal: &dyn Journal) -> Vec<Kept> {
    let (pruned, named) = prune(journal, LATER);
    assert_eq!((pruned.tasks, named), (Vec::new(), Vec::new()));
    pruned.kept
}

fn uncollected(root: TaskId, task: TaskId, by: TaskId) -> Kept {
    Kept { root, task, why: KeptFor::Uncollected { by } }
}

fn fact(task: TaskId, fact: Fact) -> Entry {
    Entry { fact, ..noticed(task, "") }
}

/// The entry with another call.
fn with_call(mut entry: Entry, id: &str) -> Entry {
    match &mut entry.fact {
        Fact::ChildStarted { call, .. } | Fact::ChildReleased { call, .. } | Fact::ChildEnded { call, .. } => {
            *call = CallId::from(id);
        }
        Fact::CallFinished { output, .. } => output.call = CallId::from(id),
        other => panic!("{other:?} is about no call"),
    }
    entry
}

fn beside(parent: TaskId, child: TaskId) -> Entry {
    fact(parent, Fact::ChildStarted { call: CallId::from("call_1"), child, background: true })
}

fn released(parent: TaskId, child: TaskId) -> Entry {
    fact(parent, Fact::ChildReleased { call: CallId::from("call_1"), child })
}

fn adopted(parent: TaskId, child: TaskId) -> Entry {
    fact(parent, Fact::ChildAdopted { child, ended_leg: Some(1) })
}

fn mail_read(parent: TaskId, child: TaskId) -> Entry {
    let mail = MailMark { reports: vec![ReportMark { child, leg: 1 }], ..MailMark::default() };
    fact(parent, Fact::MailRead { mail, text: "done".to_owned() })
}

fn is_there(journal: &dyn Journal, task: TaskId) -> bool {
    !journal.find(task.letters()).unwrap().is_empty()
}

/// `a` has a child `b` that ended and was collected; both are over.
async fn finished_tree(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started_by(a, b, a), child_started(a, b)]).await.unwrap();
    append(journal, [ended(b, Status::Completed), child_ended(a, b)]).await.unwrap();
    append(journal, [call_finished(a), ended(a, Status::Completed)]).await.unwrap();
}

async fn an_old_tree_is_removed_with_everything_that_belongs_to_it(journal: &dyn Journal) {
    let (a, b, c) = (task('a'), task('b'), task('c'));
    finished_tree(journal).await;
    append(journal, [started(c), noticed(c, "still here")]).await.unwrap();
    journal.send(Command::Stop { task: b }).await.unwrap();
    journal.send(Command::Stop { task: c }).await.unwrap();

    let (nothing, named) = prune(journal, Timestamp(1_000));
    assert_eq!((nothing, named), (Pruned::default(), Vec::new()), "older, not as old");
    let (pruned, named) = prune(journal, LATER);
    assert_eq!(named, [a, b], "each that goes is named once, and no other");
    assert_eq!((&pruned.tasks, pruned.events), (&vec![a, b], 7));
    assert!(pruned.bytes > 500, "{pruned:?}");

    for gone in [a, b] {
        assert!(!is_there(journal, gone));
        assert!(matches!(journal.read(gone), Err(JournalError::NoSuchTask { .. })));
        assert!(matches!(journal.standing(gone), Err(JournalError::NoSuchTask { .. })));
        assert_eq!(journal.ending(gone).unwrap(), None);
    }
    assert_eq!(journal.tasks(10).unwrap().len(), 1);
    assert_eq!(journal.commands_after(CommandId(0), 10).unwrap(), [(CommandId(2), Command::Stop { task: c })]);
    let all = journal.read_after(Scope::All, Position(0), 10).unwrap();
    assert_eq!(render(all.iter().map(|(_, event)| event)), "cccc 1 task_started\ncccc 2 noticed still here\n");
}

async fn a_tree_stays_while_one_of_its_tasks_is_young(journal: &dyn Journal) {
    finished_tree(journal).await;
    let leg = Entry { time: Timestamp(5_000), leg: 2, ..ended(task('b'), Status::Completed) };
    append(journal, [resumed(task('b'), 2), leg]).await.unwrap();
    append(journal, [started(task('c')), Entry { time: Timestamp(5_000), ..ended(task('c'), Status::Failed) }])
        .await
        .unwrap();
    assert_eq!(prune(journal, Timestamp(4_000)).0, Pruned::default());
    assert!(is_there(journal, task('a')) && is_there(journal, task('b')) && is_there(journal, task('c')));
}

async fn a_tree_with_an_open_leg_stays(journal: &dyn Journal) {
    finished_tree(journal).await;
    append(journal, [resumed(task('b'), 2)]).await.unwrap();
    append(journal, [started(task('c'))]).await.unwrap();
    assert_eq!(prune(journal, LATER).0, Pruned::default());
}

async fn a_tree_with_an_uncollected_ending_stays(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started_by(a, b, a), child_started(a, b)]).await.unwrap();
    append(journal, [ended(a, Status::Completed), ended(b, Status::Completed)]).await.unwrap();
    assert_eq!(kept(journal), [uncollected(a, b, a)]);
    append(journal, [child_ended(a, b)]).await.unwrap();
    assert_eq!(kept(journal), [uncollected(a, b, a)], "it lies there, and no call has returned it");
    let leg = |entry: Entry| Entry { leg: 2, ..entry };
    append(journal, [leg(resumed(a, 2)), leg(call_finished(a)), leg(ended(a, Status::Completed))]).await.unwrap();
    assert_eq!(prune(journal, LATER).0.tasks.len(), 2);
}

async fn a_background_report_keeps_its_tree_until_it_is_read(journal: &dyn Journal) {
    let (a, b, c) = (task('a'), task('b'), task('c'));
    let other = |entry: Entry| with_call(entry, "call_2");
    append(journal, [started(a), started_by(a, b, a), beside(a, b)]).await.unwrap();
    append(journal, [started_by(a, c, a), other(child_started(a, c)), other(released(a, c))]).await.unwrap();
    // The output of these calls says that they do not wait, or stopped waiting.
    append(journal, [ended(b, Status::Completed), child_ended(a, b), call_finished(a)]).await.unwrap();
    append(journal, [ended(c, Status::Completed), other(child_ended(a, c)), other(call_finished(a))]).await.unwrap();
    // A person resumed one of them and stopped it: its earlier report is still there.
    let leg = |entry: Entry| Entry { leg: 2, ..entry };
    append(journal, [leg(resumed(b, 2)), leg(ended(b, Status::Cancelled)), ended(a, Status::Cancelled)]).await.unwrap();
    assert_eq!(kept(journal), [uncollected(a, b, a)]);
    append(journal, [leg(resumed(a, 2)), leg(mail_read(a, b))]).await.unwrap();
    append(journal, [leg(ended(a, Status::Failed))]).await.unwrap();
    assert_eq!(kept(journal), [uncollected(a, c, a)]);
    append(journal, [Entry { leg: 3, ..resumed(a, 3) }, Entry { leg: 3, ..mail_read(a, c) }]).await.unwrap();
    append(journal, [Entry { leg: 3, ..ended(a, Status::Completed) }]).await.unwrap();
    assert_eq!(prune(journal, LATER).0.tasks.len(), 3);
}

async fn an_adopted_report_is_for_the_adopter_to_read(journal: &dyn Journal) {
    let (a, b, c) = (task('a'), task('b'), task('c'));
    append(journal, [started(a), started_by(a, b, a), child_started(a, b), started_by(b, c, a), beside(b, c)])
        .await
        .unwrap();
    append(journal, [ended(c, Status::Completed), child_ended(b, c), ended(b, Status::Failed)]).await.unwrap();
    append(journal, [child_ended(a, b), adopted(a, c), call_finished(a), ended(a, Status::Cancelled)]).await.unwrap();
    assert_eq!(kept(journal), [uncollected(a, c, a)]);
    let leg = |entry: Entry| Entry { leg: 2, ..entry };
    append(journal, [leg(resumed(a, 2)), leg(mail_read(a, c)), leg(ended(a, Status::Completed))]).await.unwrap();
    assert_eq!(prune(journal, LATER).0.tasks.len(), 3);
}

async fn a_result_that_nobody_waits_for_keeps_no_tree(journal: &dyn Journal) {
    finished_tree(journal).await;
    // A person resumed the child, not its parent.
    append(journal, [resumed(task('b'), 2), Entry { leg: 2, ..ended(task('b'), Status::Completed) }]).await.unwrap();
    let (c, d) = (task('c'), task('d'));
    append(journal, [started(c), started_by(c, d, c), child_started(c, d)]).await.unwrap();
    append(journal, [ended(d, Status::Cancelled), ended(c, Status::Cancelled)]).await.unwrap();
    assert_eq!(prune(journal, LATER).0.tasks.len(), 4);
}

async fn a_child_that_failed_with_its_parent_keeps_no_tree(journal: &dyn Journal) {
    let (a, b, c) = (task('a'), task('b'), task('c'));
    append(journal, [started(a), started_by(a, b, a), child_started(a, b), started_by(b, c, a), beside(b, c)])
        .await
        .unwrap();
    let mut given_up = ended(c, Status::Failed);
    if let Fact::TaskEnded { outcome } = &mut given_up.fact {
        outcome.error = Some(Failure::new(FailureCode::AboveFailed, "it could not continue"));
    }
    append(journal, [given_up, child_ended(b, c), ended(b, Status::Failed), child_ended(a, b)]).await.unwrap();
    append(journal, [call_finished(a), ended(a, Status::Completed)]).await.unwrap();
    assert_eq!(prune(journal, LATER).0.tasks.len(), 3);
}

async fn a_child_that_ended_after_its_parent_keeps_no_tree(journal: &dyn Journal) {
    let (a, b) = (task('a'), task('b'));
    append(journal, [started(a), started_by(a, b, a), child_started(a, b)]).await.unwrap();
    // Its parent was resumed without it, since another process had it, and ended; then the child was taken over.
    append(journal, [ended(a, Status::Completed)]).await.unwrap();
    append(journal, [Entry { time: Timestamp(1_100), ..ended(b, Status::Completed) }]).await.unwrap();
    // A later leg of the parent changes nothing.
    let leg = |entry: Entry| Entry { time: Timestamp(1_200), leg: 2, ..entry };
    append(journal, [leg(resumed(a, 2)), leg(ended(a, Status::Completed))]).await.unwrap();
    assert_eq!(prune(journal, LATER).0.tasks.len(), 2);
}

async fn prunable_tasks_can_be_listed_first(journal: &dyn Journal) {
    finished_tree(journal).await;
    append(journal, [started(task('c'))]).await.unwrap();
    let ids = |headers: Vec<TaskHeader>| headers.into_iter().map(|header| header.task_id).collect::<Vec<_>>();
    assert_eq!(ids(journal.prunable(Timestamp(1_000)).unwrap()), []);
    assert_eq!(ids(journal.prunable(LATER).unwrap()), [task('a'), task('b')]);
    assert!(is_there(journal, task('a')), "it was only told");
    assert_eq!(prune(journal, LATER).0.tasks.len(), 2);
    assert_eq!(ids(journal.prunable(LATER).unwrap()), []);
}

async fn a_pruning_does_not_free_numbers_for_reuse(journal: &dyn Journal) {
    finished_tree(journal).await;
    let end = journal.end().unwrap();
    let command = journal.send(Command::Stop { task: task('a') }).await.unwrap();
    prune(journal, LATER);
    assert_eq!(journal.end().unwrap(), end);
    append(journal, [started(task('c'))]).await.unwrap();
    let behind = journal.read_after(Scope::All, end, 10).unwrap();
    assert_eq!(behind.len(), 1, "whoever has read up to there misses nothing");
    assert!(journal.send(Command::Stop { task: task('c') }).await.unwrap() > command);
}

async fn a_long_log_is_removed_in_many_steps(journal: &dyn Journal) {
    let a = task('a');
    let notices = (0..2_500).map(|number| noticed(a, &number.to_string()));
    let all: Vec<_> = std::iter::once(started(a)).chain(notices).chain([ended(a, Status::Completed)]).collect();
    append(journal, all).await.unwrap();
    let (pruned, _) = prune(journal, LATER);
    assert_eq!((pruned.tasks, pruned.events), (vec![a], 2_502));
    assert_eq!(journal.read_after(Scope::All, Position(0), 10).unwrap(), []);
}
