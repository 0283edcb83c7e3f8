//! A process killed at any instant leaves everything that was acknowledged, and nothing torn.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sortie_journal::{Durability, Journal, JournalError, SqliteJournal};
use sortie_protocol::{Event, Fact, TaskId};

use crate::support::{Place, again, append, noticed, role, started};

const ROUNDS: u64 = 60;
const WRITERS: u64 = 4;
const SEED: u64 = 0x5eed_0f50_a71e;

/// A generator with the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The task of one writer in one round.
fn id(round: u64, writer: u64) -> TaskId {
    let mut bytes = [0; 12];
    bytes[0] = writer as u8;
    bytes[1] = (round % 26) as u8;
    bytes[2] = (round / 26) as u8;
    TaskId::from_random(bytes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_events_survive_a_kill_at_any_instant() {
    let test = "crash::acknowledged_events_survive_a_kill_at_any_instant";
    if let Some(role) = role() {
        let (round, path) = role.split_once(' ').unwrap();
        return write_until_killed(Path::new(path), round.parse().unwrap()).await;
    }
    let place = Place::new();
    let mut random = Random(SEED);
    let mut acknowledged_in_all = 0;
    for round in 0..ROUNDS {
        let mut process = again(test, &format!("{round} {}", place.path().display())).spawn().unwrap();
        let mut output = process.stdout.take().unwrap();
        // The first acknowledgement shows that it is writing.
        let mut told = read_until_first_acknowledgement(&mut output);
        // Sleeps on purpose: the kill must not depend on what the process does.
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        process.kill().unwrap();
        process.wait().unwrap();
        output.read_to_end(&mut told).unwrap();
        let acknowledged = acknowledged(&told);
        acknowledged_in_all += acknowledged.values().sum::<u64>();
        check(&place, round, &acknowledged);
    }
    let journal = place.open();
    for header in journal.tasks(usize::MAX).unwrap() {
        assert!(stored(&journal, header.task_id) > 0, "no later round has harmed {}", header.task_id);
    }
    assert!(acknowledged_in_all > 10 * ROUNDS, "only {acknowledged_in_all} appends were acknowledged in all rounds");
}

/// Several tasks write at once: each its own numbered notices, and pairs that must be in two tasks or in none.
async fn write_until_killed(path: &Path, round: u64) {
    let journal = Arc::new(SqliteJournal::open(path).unwrap());
    let pairs = [id(round, WRITERS), id(round, WRITERS + 1)];
    append(&*journal, pairs.map(started)).await.unwrap();
    let paired = tokio::spawn({
        let journal = Arc::clone(&journal);
        async move {
            for number in 2_u64.. {
                append(&*journal, pairs.map(|task| noticed(task, &number.to_string()))).await.unwrap();
                for task in pairs {
                    acknowledge(task, number);
                }
            }
        }
    });
    for writer in 0..WRITERS {
        let journal = Arc::clone(&journal);
        tokio::spawn(async move {
            let task = id(round, writer);
            let mut random = Random(SEED + round * WRITERS + writer);
            append(&*journal, [started(task)]).await.unwrap();
            for number in 2_u64.. {
                let entries = vec![noticed(task, &number.to_string())];
                if random.below(4) == 0 {
                    journal.append(entries, Durability::Synced).await.unwrap();
                    acknowledge(task, number);
                } else {
                    journal.append(entries, Durability::Ordered).await.unwrap();
                }
            }
        });
    }
    paired.await.unwrap();
}

fn acknowledge(task: TaskId, seq: u64) {
    std::io::stdout().lock().write_all(format!("\nack {task} {seq}.\n").as_bytes()).unwrap();
}

fn read_until_first_acknowledgement(output: &mut impl Read) -> Vec<u8> {
    let mut told = Vec::new();
    let mut piece = [0; 4096];
    while acknowledged(&told).is_empty() {
        let read = output.read(&mut piece).unwrap();
        assert!(read > 0, "it ended by itself: {}", String::from_utf8_lossy(&told));
        told.extend_from_slice(&piece[..read]);
    }
    told
}

/// The highest acknowledged number of each task. A line cut by the kill has no full stop.
fn acknowledged(told: &[u8]) -> HashMap<TaskId, u64> {
    let told = String::from_utf8_lossy(told);
    let lines = told.lines().filter_map(|line| line.strip_prefix("ack ")?.strip_suffix('.')?.split_once(' '));
    lines.map(|(task, seq)| (task.parse().unwrap(), seq.parse().unwrap())).collect()
}

/// Reading verifies every checksum and that no number is missing; this checks that nothing acknowledged is missing.
fn check(place: &Place, round: u64, acknowledged: &HashMap<TaskId, u64>) {
    // The next process to open the journal, reader or writer, tidies up the files left next to it.
    let journal =
        if round.is_multiple_of(2) { place.open() } else { SqliteJournal::open_read_only(&place.path()).unwrap() };
    let tasks = (0..WRITERS + 2).map(|writer| id(round, writer));
    let stored: HashMap<_, _> = tasks.map(|task| (task, stored(&journal, task))).collect();
    for (task, seq) in acknowledged {
        let found = stored[task];
        assert!(found >= *seq, "round {round}: {task} was acknowledged up to {seq} and has {found}");
    }
    let pair = [WRITERS, WRITERS + 1].map(|writer| stored[&id(round, writer)]);
    assert_eq!(pair[0], pair[1], "round {round}: an append over two tasks was torn");
}

/// Number of stored events of the task, which must be a gapless prefix of those it sent.
fn stored(journal: &SqliteJournal, task: TaskId) -> u64 {
    let events = match journal.read(task) {
        Err(JournalError::NoSuchTask { .. }) => Vec::new(),
        read => read.unwrap(),
    };
    assert!(events.iter().skip(1).all(is_what_was_sent), "{task} holds something else");
    events.len() as u64
}

fn is_what_was_sent(event: &Event) -> bool {
    event.fact == Fact::Noticed { text: event.seq.to_string() }
}
