//! Files damaged by a disk or a crash: reading them gives a prefix of what was written, or an error, never anything
//! else.
//!
//! The tests take samples, the same in every run; with `SORTIE_EVERY_FAULT` set they try every bit and every byte,
//! which takes minutes.

mod flip;
mod torn;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use sortie_journal::{CommandId, Journal, JournalError, Position, Scope, SqliteJournal, Standing, TaskHeader};
use sortie_protocol::{Command, Event, Status, TaskId, TaskOutcome};
use tempfile::TempDir;

use crate::support::{
    Place, append, child_ended, child_started, ended, ended_with_report, noticed, resumed, started, started_by, task,
};

/// True if all faults are tried.
fn is_exhaustive() -> bool {
    std::env::var_os("SORTIE_EVERY_FAULT").is_some()
}

const THREADS: usize = 2;

/// Runs the work in numbered shares on all cores, and adds up the results.
fn in_shares(work: impl Fn(usize) -> usize + Sync) -> usize {
    std::thread::scope(|scope| {
        let work = &work;
        let shares: Vec<_> = (0..THREADS).map(|share| scope.spawn(move || work(share))).collect();
        shares.into_iter().map(|share| share.join().unwrap()).sum()
    })
}

/// All tasks in these journals.
const TASKS: [char; 3] = ['a', 'b', 'c'];

/// The answers to every query about a journal.
struct Answers {
    tasks: Result<Vec<TaskHeader>, JournalError>,
    found: Result<Vec<TaskHeader>, JournalError>,
    trees: Vec<Result<Vec<TaskHeader>, JournalError>>,
    standings: Vec<Result<Standing, JournalError>>,
    endings: Vec<Result<Option<TaskOutcome>, JournalError>>,
    logs: Vec<Result<Vec<Event>, JournalError>>,
    followed: Result<Vec<(Position, Event)>, JournalError>,
    end: Result<Position, JournalError>,
    commands: Result<Vec<(CommandId, Command)>, JournalError>,
}

impl Answers {
    fn of(journal: &SqliteJournal) -> Self {
        let tasks = TASKS.map(task);
        Self {
            tasks: journal.tasks(usize::MAX),
            found: journal.find(""),
            trees: tasks.iter().map(|task| journal.tree(*task)).collect(),
            standings: tasks.iter().map(|task| journal.standing(*task)).collect(),
            endings: tasks.iter().map(|task| journal.ending(*task)).collect(),
            logs: tasks.iter().map(|task| journal.read(*task)).collect(),
            followed: journal.read_after(Scope::All, Position(0), usize::MAX),
            end: journal.end(),
            commands: journal.commands_after(CommandId(0), usize::MAX),
        }
    }
}

/// A journal's answers after each of its commits, the newest last. At first it was empty.
struct Truth {
    moments: Vec<Answers>,
}

impl Truth {
    /// Panics, naming the fault, if an answer is neither an error nor one that was right at some moment.
    fn check(&self, answers: &Answers, fault: &str) {
        self.check_one(fault, answers, "tasks", |answers| &answers.tasks);
        self.check_one(fault, answers, "find", |answers| &answers.found);
        self.check_one(fault, answers, "end", |answers| &answers.end);
        self.check_one(fault, answers, "commands", |answers| &answers.commands);
        for at in 0..TASKS.len() {
            self.check_one(fault, answers, "tree", |answers| &answers.trees[at]);
            self.check_one(fault, answers, "standing", |answers| &answers.standings[at]);
            self.check_one(fault, answers, "ending", |answers| &answers.endings[at]);
            self.check_one(fault, answers, "read", |answers| &answers.logs[at]);
        }
        // A reader that follows all tasks sees a prefix of each.
        let mut followed: BTreeMap<TaskId, Vec<&Event>> = BTreeMap::new();
        for (_, event) in answers.followed.iter().flatten() {
            followed.entry(event.task_id).or_default().push(event);
        }
        for (task, events) in followed {
            let whole = self.newest().followed.iter().flatten().map(|(_, event)| event);
            let whole: Vec<_> = whole.filter(|event| event.task_id == task).collect();
            assert!(whole.starts_with(&events), "{fault}: following shows {events:?}");
        }
    }

    fn check_one<T: PartialEq + std::fmt::Debug>(
        &self,
        fault: &str,
        answers: &Answers,
        question: &str,
        answer: impl Fn(&Answers) -> &Result<T, JournalError>,
    ) {
        match answer(answers) {
            // "No such task" is an answer, and true only before it was started.
            Err(JournalError::NoSuchTask { .. }) => {
                let ever =
                    self.moments.iter().any(|moment| matches!(answer(moment), Err(JournalError::NoSuchTask { .. })));
                assert!(ever, "{fault}: {question} knows nothing of a task");
            }
            Err(_) => {}
            Ok(answered) => {
                let ever = self.moments.iter().any(|moment| answer(moment).as_ref().ok() == Some(answered));
                assert!(ever, "{fault}: {question} was never {answered:?}");
            }
        }
    }

    /// Checks that the journal is whole.
    fn check_newest(&self, answers: &Answers) {
        let newest = self.newest();
        assert_eq!(answers.tasks.as_ref().unwrap(), newest.tasks.as_ref().unwrap());
        assert_eq!(answers.followed.as_ref().unwrap(), newest.followed.as_ref().unwrap());
        assert_eq!(answers.commands.as_ref().unwrap(), newest.commands.as_ref().unwrap());
    }

    fn newest(&self) -> &Answers {
        self.moments.last().unwrap()
    }
}

/// The bytes of a journal that no process has open, and of its write-ahead log.
#[derive(Clone)]
struct Files {
    database: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn of(place: &Place) -> Self {
        let log = fs::read(log_of(&place.path())).unwrap_or_default();
        Self { database: fs::read(place.path()).unwrap(), log }
    }

    fn lay_out(&self) -> Scene {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("journal.db");
        fs::write(&path, &self.database).unwrap();
        let log = log_of(&path);
        if !self.log.is_empty() {
            fs::write(&log, &self.log).unwrap();
        }
        Scene { path, log, _directory: directory }
    }
}

/// Files to be damaged, again and again.
struct Scene {
    path: PathBuf,
    log: PathBuf,
    _directory: TempDir,
}

impl Scene {
    fn writable(path: &Path) -> File {
        File::options().write(true).open(path).unwrap()
    }

    /// The answers to a reader, if the file can be opened at all.
    fn answers(&self) -> Option<Answers> {
        SqliteJournal::open_read_only(&self.path).ok().map(|journal| Answers::of(&journal))
    }
}

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// A small journal with many small pages: the first half is checkpointed into the file, the second half is in the
/// write-ahead log.
async fn small_journal() -> (Place, SqliteJournal, Truth) {
    let place = Place::new();
    place.sql().execute_batch("PRAGMA page_size = 512; VACUUM").unwrap();
    let journal = place.open();
    let (a, b, c) = (task('a'), task('b'), task('c'));
    let mut truth = Truth { moments: vec![Answers::of(&journal)] };
    let commits = [
        vec![started(a)],
        vec![started_by(a, b, a), child_started(a, b)],
        vec![noticed(b, "one"), noticed(a, "two")],
        vec![ended_with_report(b, "/reports/b.md"), child_ended(a, b)],
        vec![started(c), noticed(c, "three")],
        vec![ended(a, Status::Completed), resumed(a, 2)],
        vec![noticed(c, "four")],
    ];
    for (number, commit) in commits.into_iter().enumerate() {
        append(&journal, commit).await.unwrap();
        truth.moments.push(Answers::of(&journal));
        if number == 3 {
            place.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
        }
        if number == 4 {
            journal.send(Command::Stop { task: a }).await.unwrap();
            truth.moments.push(Answers::of(&journal));
        }
    }
    (place, journal, truth)
}
