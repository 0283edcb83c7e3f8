//! Benchmark of the journal: `journal_load (open | appends | replay | list) DIRECTORY COUNT` prints its times as JSON.
//! The directory decides which disk is measured.
//!
//! `open`: opens it COUNT times. `appends`: 64 tasks append COUNT events each, waiting for the disk every time, then as
//! many without waiting. `replay`: reads one task of COUNT events. `list`: lists COUNT tasks. Appends and lists are
//! compared with the same rows in plain SQLite.
//!
//! `tasks` and `events` only create a journal in the directory, with COUNT tasks or with one task of COUNT events.

#![expect(clippy::print_stdout, reason = "it is a program that reports")]

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};
use sortie_journal::{Durability, Entry, Journal, JournalError, SqliteJournal, TaskQuery, TaskState};
use sortie_protocol::{
    AgentConfig, Fact, Grant, Job, Limits, ModelChoice, Reach, ServerTools, Status, TaskId, TaskOutcome, Timestamp,
    Usage,
};

const TASKS_AT_ONCE: u64 = 64;
/// About 600 bytes an event as stored.
const TEXT: usize = 500;
/// Entries of one append when no append is waited for.
const LOT: u64 = 1000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, directory, count] = arguments.as_slice() else {
        return Err("usage: journal_load (open | appends | replay | list | tasks | events) DIRECTORY COUNT".into());
    };
    let count: u64 = count.parse()?;
    let lasting = Path::new(directory).join("journal.db");
    match what.as_str() {
        "tasks" => return write_tasks(&lasting, count).await,
        "events" => return write_events(&lasting, count).await,
        _ => {}
    }
    let directory = tempfile::TempDir::new_in(directory)?;
    let path = directory.path().join("journal.db");
    let report = match what.as_str() {
        "open" => open(&path, count)?,
        "appends" => appends(&path, count).await?,
        "replay" => replay(&path, count)?,
        "list" => list(&path, count).await?,
        _ => return Err(format!("`{what}` is none of open, appends, replay, list, tasks and events").into()),
    };
    println!("{report}");
    Ok(())
}

fn open(path: &Path, count: u64) -> Result<Value, JournalError> {
    let open = || -> Result<f64, JournalError> {
        let begun = Instant::now();
        let journal = SqliteJournal::open(path)?;
        let took = milliseconds(begun.elapsed());
        drop(journal);
        Ok(took)
    };
    let new = open()?;
    let mut existing = Vec::new();
    for _ in 0..count {
        existing.push(open()?);
    }
    existing.sort_by(f64::total_cmp);
    Ok(json!({ "new_ms": new, "existing_ms": existing.get(existing.len() / 2) }))
}

async fn appends(path: &Path, count: u64) -> Result<Value, Box<dyn Error>> {
    let plain = plain_inserts(&path.with_file_name("before.db"), count)?;
    let journal = Arc::new(SqliteJournal::open(path)?);
    let begun = Instant::now();
    let mut waits = write(&journal, 0, count, Durability::Synced).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let commits = journal.commits();
    waits.sort();
    let plain_after = plain_inserts(&path.with_file_name("after.db"), count)?;

    let begun = Instant::now();
    let ordered = write(&journal, TASKS_AT_ONCE, count, Durability::Ordered).await?.len();
    // Dropping writes the queue, so this counts only what was written.
    drop(journal);
    Ok(json!({
        "events_per_second": waits.len() as f64 / seconds,
        "p50_ms": milliseconds(waits[waits.len() / 2]),
        "p99_ms": milliseconds(waits[waits.len() * 99 / 100]),
        "commits": commits,
        "sqlite_rows_per_second": f64::midpoint(plain, plain_after),
        "ordered_events_per_second": ordered as f64 / begun.elapsed().as_secs_f64(),
    }))
}

/// Every task waits for each of its appends, as in a real run. Returns the latency of each.
async fn write(
    journal: &Arc<SqliteJournal>,
    first: u64,
    count: u64,
    durability: Durability,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let writers: Vec<_> = (first..first + TASKS_AT_ONCE)
        .map(|number| {
            let journal = Arc::clone(journal);
            tokio::spawn(async move {
                let mut waits = Vec::new();
                journal.append(vec![started(id(number))], durability).await?;
                for _ in 0..count {
                    let begun = Instant::now();
                    journal.append(vec![noticed(id(number))], durability).await?;
                    waits.push(begun.elapsed());
                }
                Ok::<_, JournalError>(waits)
            })
        })
        .collect();
    let mut waits = Vec::new();
    for writer in writers {
        waits.extend(writer.await??);
    }
    Ok(waits)
}

/// Rows per second in plain SQLite, 64 to a synced transaction: as many as 64 tasks can have waiting.
fn plain_inserts(path: &Path, count: u64) -> rusqlite::Result<f64> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 16384;
        CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)",
    )?;
    let text = "x".repeat(TEXT);
    let begun = Instant::now();
    for _ in 0..count {
        let transaction = connection.transaction()?;
        for _ in 0..TASKS_AT_ONCE {
            transaction.prepare_cached("INSERT INTO rows (text) VALUES (?1)")?.execute([&text])?;
        }
        transaction.commit()?;
    }
    Ok((count * TASKS_AT_ONCE) as f64 / begun.elapsed().as_secs_f64())
}

fn replay(path: &Path, count: u64) -> Result<Value, Box<dyn Error>> {
    // Written by another process, so that the peak memory measured here is that of reading alone.
    let directory = path.parent().ok_or("a journal lies in a directory")?;
    let mut writer = Command::new(std::env::current_exe()?);
    if !writer.arg("events").arg(directory).arg(count.to_string()).status()?.success() {
        return Err("the events could not be written".into());
    }
    let journal = SqliteJournal::open_read_only(path)?;
    let mut events = 0_u64;
    let begun = Instant::now();
    journal.read_each(id(0), 1, &mut |_| events += 1)?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(json!({ "events": events, "seconds": seconds, "peak_kilobytes": peak()? }))
}

/// Writes one task with `count` events.
async fn write_events(path: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let (journal, task) = (SqliteJournal::open(path)?, id(0));
    journal.append(vec![started(task)], Durability::Ordered).await?;
    for first in (1..count).step_by(LOT as usize) {
        let lot = (first..count.min(first + LOT)).map(|_| noticed(task)).collect();
        journal.append(lot, Durability::Ordered).await?;
    }
    Ok(())
}

/// Peak memory of this process, in kilobytes.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no memory is reported")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Writes `count` ended tasks and an open one.
async fn write_tasks(path: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let journal = SqliteJournal::open(path)?;
    for first in (0..count).step_by(LOT as usize) {
        let lot = (first..count.min(first + LOT)).flat_map(|number| [started(id(number)), ended(id(number))]);
        journal.append(lot.collect(), Durability::Ordered).await?;
    }
    journal.append(vec![started(id(count))], Durability::Synced).await?;
    Ok(())
}

async fn list(path: &Path, count: u64) -> Result<Value, Box<dyn Error>> {
    write_tasks(path, count).await?;
    let journal = SqliteJournal::open_read_only(path)?;
    let all = TaskQuery::default();
    let running = TaskQuery { states: vec![TaskState::Running], ..all.clone() };
    let newest = TaskQuery { limit: 20, roots_only: true, ..all.clone() };
    Ok(json!({
        "tasks": journal.list(&all)?.len(),
        "all_ms": best_of_five(|| journal.list(&all).map(drop))?,
        "newest_20_ms": best_of_five(|| journal.list(&newest).map(drop))?,
        "running_ms": best_of_five(|| journal.list(&running).map(drop))?,
        "find_ms": best_of_five(|| journal.find("zzz").map(drop))?,
        "find_whole_id_ms": best_of_five(|| journal.find(id(7).letters()).map(drop))?,
        "sqlite_all_ms": best_of_five(|| plain_list(path))?,
    }))
}

/// Reads all columns of a header in plain SQLite.
fn plain_list(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    let mut statement = connection.prepare(
        "SELECT task, parent, root, agent, title, workspace, status, depth, leg, started, updated,
            worked, coalesce(admitted, 0), heard
        FROM tasks ORDER BY number DESC",
    )?;
    let rows = statement.query_map((), |row| {
        let mut texts: [Option<String>; 7] = Default::default();
        for (column, text) in texts.iter_mut().enumerate() {
            *text = row.get(column)?;
        }
        let mut numbers = [0_i64; 7];
        for (column, number) in (7..).zip(&mut numbers) {
            *number = row.get(column)?;
        }
        Ok((texts, numbers))
    })?;
    rows.collect::<rusqlite::Result<Vec<_>>>().map(drop)
}

fn best_of_five<E>(mut question: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let begun = Instant::now();
        question()?;
        best = best.min(begun.elapsed());
    }
    Ok(milliseconds(best))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn id(number: u64) -> TaskId {
    // Spread like random ids, so that writes hit the whole index.
    let mut rest = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bytes = [0; 12];
    for byte in &mut bytes {
        *byte = (rest % 26) as u8;
        rest /= 26;
    }
    TaskId::from_random(bytes)
}

fn entry(task_id: TaskId, fact: Fact) -> Entry {
    Entry { task_id, leg: 1, attempt: 1, time: Timestamp(0), after: None, fact }
}

fn noticed(task: TaskId) -> Entry {
    entry(task, Fact::Noticed { text: "x".repeat(TEXT) })
}

fn model() -> ModelChoice {
    ModelChoice { route: "main".to_owned(), id: "offline".to_owned() }
}

fn started(task: TaskId) -> Entry {
    let config = AgentConfig {
        agent: "explore".to_owned(),
        model: model(),
        system: String::new(),
        tools: Vec::new(),
        grant: Grant::default(),
        limits: Limits::default(),
        depth: 0,
        chain: Vec::new(),
        output_schema: None,
        model_asked: None,
        server_tools: ServerTools::default(),
    };
    let job = Job {
        task,
        parent: None,
        root: task,
        title: "find where it is".to_owned(),
        prompt: String::new(),
        workspace: "/workspace".to_owned(),
        contract: "sortie".to_owned(),
        report_cap_bytes: None,
        report_cap_characters: None,
        report_cap_lines: None,
        report_cap_json_bytes: None,
        counted_percent: None,
        fork: None,
        context_files: Vec::new(),
        reach: Reach::default(),
        notices: Vec::new(),
        config,
    };
    entry(task, Fact::TaskStarted { job: Box::new(job) })
}

fn ended(task: TaskId) -> Entry {
    let outcome = TaskOutcome {
        task_id: task,
        agent: "explore".to_owned(),
        status: Status::Completed,
        reason: None,
        text: "there".to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: model(),
        usage: Usage::default(),
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: None,
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    };
    entry(task, Fact::TaskEnded { outcome: Box::new(outcome) })
}
