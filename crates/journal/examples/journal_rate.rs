//! How fast the journal opens and writes here: `cargo run --release -p sortie-journal --example journal_rate [DIR]`.
//!
//! The directory decides which disk is measured; without one it is the system's temporary directory.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sortie_journal::{Durability, Entry, Journal, JournalError, SqliteJournal};
use sortie_protocol::{AgentConfig, Fact, Grant, Job, Limits, ModelChoice, TaskId, Timestamp};

const TASKS: u64 = 256;
const EVENTS_OF_EACH: u64 = 200;
/// With what is stored around it, about 600 bytes an event.
const TEXT: usize = 500;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is a program for people")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::TempDir::new_in(base)?;
    let path = directory.path().join("journal.db");

    println!("open a new one       {:>9.2} ms", milliseconds(open(&path)?));
    println!("open an existing one {:>9.2} ms", milliseconds(open(&path)?));
    for (name, first, durability) in [("synced", 0, Durability::Synced), ("ordered", TASKS, Durability::Ordered)] {
        let journal = Arc::new(SqliteJournal::open(&path)?);
        let begun = Instant::now();
        write(&journal, first, durability).await?;
        let commits = journal.commits();
        // Ordered appends are only counted once they are written.
        drop(journal);
        let (took, events) = (begun.elapsed(), TASKS * (EVENTS_OF_EACH + 1));
        let rate = events as f64 / took.as_secs_f64();
        println!("{name:<8} {rate:>10.0} events/s ({TASKS} tasks at once, {events} events in {commits} commits)");
    }

    let journal = SqliteJournal::open_read_only(&path)?;
    let begun = Instant::now();
    let mut events = 0;
    for header in journal.tasks(usize::MAX)? {
        events += journal.read(header.task_id)?.len();
    }
    println!("read     {:>10.0} events/s, each checked", events as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn open(path: &Path) -> Result<Duration, JournalError> {
    let begun = Instant::now();
    let journal = SqliteJournal::open(path)?;
    let took = begun.elapsed();
    drop(journal);
    Ok(took)
}

/// Every task waits for each of its appends, as the tasks of a run do.
async fn write(
    journal: &Arc<SqliteJournal>,
    first: u64,
    durability: Durability,
) -> Result<(), Box<dyn std::error::Error>> {
    let writers: Vec<_> = (first..first + TASKS)
        .map(|number| {
            let journal = Arc::clone(journal);
            tokio::spawn(async move {
                let task = id(number);
                journal.append(vec![entry(task, started(task))], durability).await?;
                for _ in 0..EVENTS_OF_EACH {
                    let fact = Fact::Noticed { text: "x".repeat(TEXT) };
                    journal.append(vec![entry(task, fact)], durability).await?;
                }
                Ok::<(), JournalError>(())
            })
        })
        .collect();
    for writer in writers {
        writer.await??;
    }
    Ok(())
}

fn id(number: u64) -> TaskId {
    let mut bytes = [0; 12];
    for (place, byte) in bytes.iter_mut().enumerate().take(8) {
        *byte = (number / 26_u64.pow(place as u32) % 26) as u8;
    }
    TaskId::from_random(bytes)
}

fn entry(task_id: TaskId, fact: Fact) -> Entry {
    Entry { task_id, leg: 1, attempt: 1, time: Timestamp(0), fact }
}

fn started(task: TaskId) -> Fact {
    let config = AgentConfig {
        agent: "explore".to_owned(),
        model: ModelChoice { route: "main".to_owned(), id: "offline".to_owned() },
        system: String::new(),
        tools: Vec::new(),
        grant: Grant::default(),
        limits: Limits::default(),
        depth: 0,
        chain: Vec::new(),
    };
    let (title, prompt, workspace) = (String::new(), String::new(), String::new());
    let job = Job {
        task,
        parent: None,
        root: task,
        title,
        prompt,
        workspace,
        contract: "sortie".to_owned(),
        report_cap_bytes: None,
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        notices: Vec::new(),
        config,
    };
    Fact::TaskStarted { job: Box::new(job) }
}
