//! Filters and pages of task lists.

use sortie_journal::{Entry, Journal, JournalError, MemoryJournal, TaskQuery, TaskState};
use sortie_protocol::{Fact, Status, TaskId, Timestamp};

use crate::support::{Place, append, ended, entry, noticed, resumed, started, started_by, task};

over_every_journal![
    a_header_has_the_working_time_of_its_task,
    a_list_can_be_filtered_by_state_workspace_and_position_in_the_tree,
    a_list_can_be_read_page_by_page,
    a_page_after_an_unknown_task_is_an_error,
];

/// The first letters of the listed tasks.
fn letters(journal: &dyn Journal, query: &TaskQuery) -> String {
    let first = |id: TaskId| id.letters().chars().next().unwrap();
    journal.list(query).unwrap().iter().map(|header| first(header.task_id)).collect()
}

fn elsewhere(task: TaskId) -> Entry {
    let mut entry = started(task);
    if let Fact::TaskStarted { job } = &mut entry.fact {
        "/elsewhere".clone_into(&mut job.workspace);
    }
    entry
}

async fn a_header_has_the_working_time_of_its_task(journal: &dyn Journal) {
    let a = task('a');
    let at = |seconds: u64, entry: Entry| Entry { time: Timestamp(seconds * 1_000), ..entry };
    let worked = |seconds: u64| journal.find("a").unwrap()[0].worked_by(Timestamp(seconds * 1_000)).as_secs();
    append(journal, [started(a), at(10, entry(a, Fact::TaskAdmitted)), at(12, noticed(a, "at work"))]).await.unwrap();
    assert_eq!(worked(15), 5, "it runs");
    let second = |entry: Entry| Entry { attempt: 2, ..entry };
    append(journal, [at(14, second(resumed(a, 1))), at(900, second(entry(a, Fact::TaskAdmitted)))]).await.unwrap();
    assert_eq!(worked(901), 5, "the time in which nobody ran it is not counted");
    let mut ending = ended(a, Status::Completed);
    if let Fact::TaskEnded { outcome } = &mut ending.fact {
        outcome.usage.duration_ms = 7_000;
    }
    append(journal, [at(902, second(ending))]).await.unwrap();
    assert_eq!(worked(5_000), 7, "as its outcome says");
}

async fn a_list_can_be_filtered_by_state_workspace_and_position_in_the_tree(journal: &dyn Journal) {
    let (a, b, c, d) = (task('a'), task('b'), task('c'), task('d'));
    append(journal, [started(a), started_by(a, b, a), elsewhere(c), started(d)]).await.unwrap();
    append(journal, [ended(b, Status::Failed), ended(c, Status::Completed)]).await.unwrap();

    let all = TaskQuery::default();
    assert_eq!(letters(journal, &all), "dcba");
    assert_eq!(letters(journal, &TaskQuery { roots_only: true, ..all.clone() }), "dca");
    let there = TaskQuery { workspace: Some("/elsewhere".to_owned()), ..all.clone() };
    assert_eq!(letters(journal, &there), "c");
    for (states, found) in [
        (vec![TaskState::Running], "da"),
        (vec![TaskState::Running, TaskState::Interrupted], "da"),
        (vec![TaskState::Interrupted], ""),
        (vec![TaskState::Ended(Status::Failed)], "b"),
        (vec![TaskState::Running, TaskState::Ended(Status::Completed)], "dca"),
    ] {
        assert_eq!(letters(journal, &TaskQuery { states, ..all.clone() }), found);
    }
    let running_roots = TaskQuery { states: vec![TaskState::Running], roots_only: true, limit: 1, ..all };
    assert_eq!(letters(journal, &running_roots), "d");
}

async fn a_list_can_be_read_page_by_page(journal: &dyn Journal) {
    append(journal, ('a'..='e').map(|letter| started(task(letter))).collect::<Vec<_>>()).await.unwrap();
    append(journal, [ended(task('c'), Status::Completed)]).await.unwrap();
    let running = TaskQuery { states: vec![TaskState::Running], limit: 2, ..TaskQuery::default() };
    let mut pages = Vec::new();
    let mut behind = None;
    loop {
        let query = TaskQuery { behind, ..running.clone() };
        let page = letters(journal, &query);
        let Some(last) = page.chars().last() else { break };
        behind = Some(task(last));
        pages.push(page);
    }
    assert_eq!(pages, ["ed", "ba"]);
}

async fn a_page_after_an_unknown_task_is_an_error(journal: &dyn Journal) {
    append(journal, [started(task('a'))]).await.unwrap();
    let refused = journal.list(&TaskQuery { behind: Some(task('b')), ..TaskQuery::default() });
    assert!(matches!(refused, Err(JournalError::NoSuchTask { .. })), "{refused:?}");
}
