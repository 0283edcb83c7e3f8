//! Several processes on one journal.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout};

use sortie_journal::{
    Durability, Entry, Holder, Journal, JournalError, Position, Scope, SqliteJournal, TaskQuery, TaskState,
};
use sortie_protocol::{Command, Status, Timestamp};

use crate::support::{Place, again, append, ended, noticed, passes, render, resumed, role, started, task};

/// A process that reports its steps line by line.
struct Other {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(test: &str, role: &str) -> Self {
        let mut process = again(test, role).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    fn wait_for(&mut self, line: &str) {
        assert!(self.lines.any(|told| told.unwrap() == line), "the other process ended without saying `{line}`");
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Prints a line for the waiting process, past the test harness.
fn tell(line: &str) {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "\n{line}").unwrap();
    stdout.flush().unwrap();
}

/// Waits until the other side goes away.
fn linger() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
async fn another_process_is_read_while_it_writes_and_is_interrupted_once_it_is_gone() {
    let test = "process::another_process_is_read_while_it_writes_and_is_interrupted_once_it_is_gone";
    if let Some(path) = role() {
        let journal = SqliteJournal::open(Path::new(&path)).unwrap();
        append(&journal, [started(task('a')), noticed(task('a'), "live")]).await.unwrap();
        tell("written");
        return linger();
    }
    let place = Place::new();
    let ours = place.open();
    let mut other = Other::start(test, place.path().to_str().unwrap());
    other.wait_for("written");

    let reader = SqliteJournal::open_read_only(&place.path()).unwrap();
    for journal in [&ours, &reader] {
        assert_eq!(render(&journal.read(task('a')).unwrap()), "aaaa 1 task_started\naaaa 2 noticed live\n");
        assert_eq!(journal.tasks(1).unwrap()[0].state, TaskState::Running);
    }
    other.kill();
    for journal in [&ours, &reader] {
        assert_eq!(journal.tasks(1).unwrap()[0].state, TaskState::Interrupted);
    }
}

#[tokio::test]
async fn a_task_of_another_process_must_be_taken_over_to_be_written() {
    let test = "process::a_task_of_another_process_must_be_taken_over_to_be_written";
    if let Some(path) = role() {
        let journal = SqliteJournal::open(Path::new(&path)).unwrap();
        append(&journal, [started(task('a'))]).await.unwrap();
        tell("started");
        std::io::stdin().read_exact(&mut [0]).unwrap();
        let fenced = append(&journal, [noticed(task('a'), "still here")]).await;
        assert!(matches!(fenced, Err(JournalError::Fenced { ours: 1, current: 2, .. })), "{fenced:?}");
        return tell("fenced");
    }
    let place = Place::new();
    let mut other = Other::start(test, place.path().to_str().unwrap());
    other.wait_for("started");

    let journal = place.open();
    let fenced = append(&journal, [noticed(task('a'), "with the same attempt")]).await;
    assert!(matches!(fenced, Err(JournalError::Fenced { ours: 1, current: 1, .. })), "{fenced:?}");
    append(&journal, [Entry { attempt: 2, ..noticed(task('a'), "with a higher one") }]).await.unwrap();
    other.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    other.wait_for("fenced");
    assert!(other.process.wait().unwrap().success());
    assert_eq!(journal.tasks(1).unwrap()[0].state, TaskState::Running, "it is ours now");
    assert_eq!(journal.read(task('a')).unwrap().len(), 2);
}

/// A process loses all its locks on a file when it closes any handle of it; others would take that for its end.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn opening_a_journal_twice_takes_no_lock_from_the_first() {
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a'))]).await.unwrap();
    let file = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(place.path()).unwrap());
    let locked = || std::fs::read_to_string("/proc/locks").unwrap().contains(&format!(":{file} "));
    assert!(locked());
    let second = place.open();
    assert!(locked());
    drop(second);
    let reader = SqliteJournal::open_read_only(&place.path()).unwrap();
    assert!(locked());
    drop(reader);
    drop(journal);
    assert!(!locked());
}

#[tokio::test]
async fn two_processes_write_different_tasks_at_once() {
    const EACH: usize = 300;
    let test = "process::two_processes_write_different_tasks_at_once";
    if let Some(role) = role() {
        let (letter, path) = role.split_at(1);
        let task = task(letter.parse().unwrap());
        let journal = SqliteJournal::open(Path::new(path)).unwrap();
        append(&journal, [started(task)]).await.unwrap();
        for number in 2..=EACH {
            let durability = if number % 3 == 0 { Durability::Synced } else { Durability::Ordered };
            journal.append(vec![noticed(task, &number.to_string())], durability).await.unwrap();
        }
        return;
    }
    let place = Place::new();
    let path = place.path();
    std::thread::scope(|scope| {
        for letter in ['a', 'b'] {
            let role = format!("{letter}{}", path.display());
            scope.spawn(move || passes(&mut again(test, &role)));
        }
    });
    let journal = place.open();
    assert_eq!(journal.read(task('a')).unwrap().len(), EACH);
    assert_eq!(journal.read(task('b')).unwrap().len(), EACH);
    let all = journal.read_after(Scope::All, Position(0), usize::MAX).unwrap();
    assert_eq!(all.len(), 2 * EACH);
    assert!(all.iter().zip(1..).all(|((position, _), expected)| *position == Position(expected)));
}

/// Sends a signal by name.
#[cfg(target_os = "linux")]
fn signal(process: &Child, name: &str) {
    let sent =
        std::process::Command::new("kill").args([format!("-{name}"), process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the system reports the process as stopped.
#[cfg(target_os = "linux")]
fn wait_until_stopped(process: &Child) {
    let stat = format!("/proc/{}/stat", process.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_paused_owner_writes_nothing_after_a_takeover() {
    let test = "process::a_paused_owner_writes_nothing_after_a_takeover";
    if let Some(path) = role() {
        let journal = SqliteJournal::open(Path::new(&path)).unwrap();
        append(&journal, [started(task('a'))]).await.unwrap();
        tell("started");
        std::io::stdin().read_exact(&mut [0]).unwrap();
        for number in 0..100 {
            // Nobody waits for these; the next append that is waited for reports the failure.
            drop(journal.append(vec![noticed(task('a'), &number.to_string())], Durability::Ordered).await);
        }
        let fenced = append(&journal, [ended(task('a'), Status::Completed)]).await;
        assert!(matches!(fenced, Err(JournalError::Fenced { ours: 1, current: 2, .. })), "{fenced:?}");
        return tell("fenced");
    }
    let place = Place::new();
    let mut other = Other::start(test, place.path().to_str().unwrap());
    other.wait_for("started");
    signal(&other.process, "STOP");
    wait_until_stopped(&other.process);

    let journal = place.open();
    let standing = journal.standing(task('a')).unwrap();
    assert_eq!(standing.holder, Holder::Other { pid: other.process.id() }, "it stands still, but it lives");
    append(&journal, [Entry { attempt: standing.attempt + 1, ..resumed(task('a'), 1) }]).await.unwrap();
    other.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    signal(&other.process, "CONT");
    other.wait_for("fenced");
    assert!(other.process.wait().unwrap().success());
    assert_eq!(render(&journal.read(task('a')).unwrap()), "aaaa 1 task_started\naaaa 2 task_resumed\n");
}

#[tokio::test]
async fn a_second_process_is_refused_as_long_as_the_first_lives() {
    let test = "process::a_second_process_is_refused_as_long_as_the_first_lives";
    if let Some(path) = role() {
        let journal = SqliteJournal::open(Path::new(&path)).unwrap();
        append(&journal, [started(task('a'))]).await.unwrap();
        tell("started");
        return linger();
    }
    let place = Place::new();
    let mut other = Other::start(test, place.path().to_str().unwrap());
    other.wait_for("started");
    let pid = other.process.id();

    let journal = place.open();
    let refused = journal.standing(task('a')).unwrap().next_attempt();
    assert!(matches!(refused, Err(JournalError::StillRunning { pid: told, .. }) if told == pid), "{refused:?}");
    other.kill();
    let standing = journal.standing(task('a')).unwrap();
    assert_eq!((standing.state, standing.holder), (TaskState::Interrupted, Holder::Nobody));
    let interrupted = TaskQuery { states: vec![TaskState::Interrupted], ..TaskQuery::default() };
    assert_eq!(journal.list(&interrupted).unwrap().len(), 1);

    let attempt = standing.next_attempt().unwrap();
    append(&journal, [Entry { attempt, ..resumed(task('a'), 1) }]).await.unwrap();
    assert_eq!(journal.standing(task('a')).unwrap().holder, Holder::ThisProcess);
    assert_eq!(journal.list(&interrupted).unwrap(), []);
}

#[tokio::test]
async fn a_command_reaches_the_process_that_runs_the_task() {
    let test = "process::a_command_reaches_the_process_that_runs_the_task";
    if let Some(path) = role() {
        let journal = SqliteJournal::open(Path::new(&path)).unwrap();
        append(&journal, [started(task('a'))]).await.unwrap();
        let seen = journal.newest_command().unwrap();
        tell("started");
        while journal.commands_after(seen, 10).unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(journal.commands_after(seen, 10).unwrap()[0].1, Command::Stop { task: task('a') });
        append(&journal, [ended(task('a'), Status::Cancelled)]).await.unwrap();
        return tell("stopped");
    }
    let place = Place::new();
    let mut other = Other::start(test, place.path().to_str().unwrap());
    other.wait_for("started");
    let journal = place.open();
    journal.send(Command::Stop { task: task('a') }).await.unwrap();
    other.wait_for("stopped");
    assert_eq!(journal.standing(task('a')).unwrap().state, TaskState::Ended(Status::Cancelled));
}

#[tokio::test]
async fn two_simultaneous_prunings_each_report_what_they_removed() {
    let place = Place::new();
    let (first, second) = (place.open(), place.open());
    append(&first, [started(task('a')), ended(task('a'), Status::Completed)]).await.unwrap();
    let mut by_second = None;
    // The second one starts after the first has marked the tree and before it has removed it.
    let mut come = |_| by_second = Some(second.prune(Timestamp(2_000), &mut |_| {}).unwrap());
    let by_first = first.prune(Timestamp(2_000), &mut come).unwrap();
    let by_second = by_second.unwrap();
    assert_eq!((by_first.tasks, by_second.tasks), (vec![], vec![task('a')]));
    assert_eq!((by_first.events, by_second.events), (0, 2));
}

#[tokio::test]
async fn a_killed_pruning_is_finished_by_the_next() {
    let test = "process::a_killed_pruning_is_finished_by_the_next";
    if let Some(path) = role() {
        let journal = SqliteJournal::open(Path::new(&path)).unwrap();
        drop(journal.prune(Timestamp(2_000), &mut |_| std::process::abort()));
        return tell("nothing was pruned");
    }
    let place = Place::new();
    let journal = place.open();
    append(&journal, [started(task('a')), ended(task('a'), Status::Completed), started(task('b'))]).await.unwrap();
    let status = again(test, place.path().to_str().unwrap()).stderr(std::process::Stdio::null()).status().unwrap();
    assert!(!status.success());

    assert!(matches!(journal.read(task('a')), Err(JournalError::NoSuchTask { .. })), "it is out of sight at once");
    assert_eq!(journal.tasks(10).unwrap().len(), 1);
    assert_eq!(journal.read_after(Scope::All, Position(0), 10).unwrap().len(), 1);
    let refused = append(&journal, [Entry { attempt: 2, ..resumed(task('a'), 2) }]).await;
    assert!(matches!(refused, Err(JournalError::NoSuchTask { .. })), "{refused:?}");

    let mut named = Vec::new();
    let pruned = journal.prune(Timestamp(2_000), &mut |task| named.push(task)).unwrap();
    assert_eq!((pruned.tasks, pruned.events), (vec![task('a')], 2));
    assert_eq!(named, [task('a')], "once more");
    assert_eq!(journal.tasks(10).unwrap().len(), 1);
}

/// A process that reads a long log for a resume notices another's takeover before the end of the log.
#[test]
fn a_takeover_is_noticed_while_a_long_log_is_read() {
    let (place, a) = (Place::new(), task('a'));
    let (reader, other) = (place.open(), place.open());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let notices = (0..5_000).map(|number| noticed(a, &number.to_string()));
    runtime.block_on(append(&reader, std::iter::once(started(a)).chain(notices).collect::<Vec<_>>())).unwrap();
    let (standing, mut read) = (reader.standing(a).unwrap(), 0);
    let refused = reader.read_standing(&standing, &mut |_| {
        read += 1;
        if read == 1 {
            runtime.block_on(append(&other, [Entry { attempt: 2, ..resumed(a, 1) }])).unwrap();
        }
    });
    assert!(matches!(refused, Err(JournalError::Stale { read: 5_001, last: 5_002, .. })), "{refused:?}");
    assert!(read < 2_000, "{read} of 5,001 events");
}
