//! Thousands of children alive at once: `many_children COUNT JOURNAL_DIR REPORT_FILE [--stopped]`.
//!
//! A main agent starts relays, and each relay starts a hundred of the COUNT children in one reply. The model lives in
//! memory and holds every child's first reply back until all of them have asked. Then each child makes five tool turns
//! on real files and reports. Every event goes to a SQLite journal. The measurements go to `REPORT_FILE`; `cargo xtask
//! bench` reads it.
//!
//! With `--stopped` the replies never come: it prints the main agent's id when all are alive, and waits until another
//! process has stopped them all.

#![expect(clippy::print_stdout, reason = "it is a program that reports")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Engine, EngineParts, EngineSettings, Permissions, RandomIds, Running, SystemClock};
use sortie_journal::{Journal, SqliteJournal, TaskQuery, TaskState};
use sortie_llm::ModelRequest;
use sortie_protocol::{Message, Status, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{ScriptedModel, ScriptedModels, ScriptedReply, reply};

/// Thousands of tasks free memory on another thread than the one that allocated it, which fragments glibc's allocator
/// more than linearly in their number. A program that embeds so many brings its own allocator, as this one does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TOOL_TURNS: usize = 5;
/// Children of one relay. A single reply may hold a few hundred calls, not ten thousand.
const BROOD: u32 = 100;
const MAIN_PROMPT: &str = "Send out the relays.";
const RELAY_PROMPT: &str = "Send out your children.";
/// Time for all of them to come alive.
const PATIENCE: Duration = Duration::from_mins(10);
/// Gate that holds the first replies back.
const ALL_ALIVE: &str = "all alive";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_stopped = arguments.pop_if(|last| last == "--stopped").is_some();
    let [count, folder, report] = arguments.as_slice() else {
        return Err("usage: many_children COUNT JOURNAL_DIR REPORT_FILE [--stopped]".into());
    };
    let (count, folder) = (count.parse::<u32>()?.next_multiple_of(BROOD), PathBuf::from(folder));
    let relays = count / BROOD;
    std::fs::create_dir_all(folder.join("workspace"))?;
    std::fs::write(folder.join("workspace/notes.txt"), "a line to be read\n".repeat(20))?;

    let journal = Arc::new(SqliteJournal::open(&folder.join("journal.db"))?);
    let model = Arc::new(ScriptedModel::answering(move |request| answer(request, relays)).without_recording());
    let engine = engine(&folder, count + relays, Arc::clone(&journal), Arc::clone(&model))?;

    let began = Instant::now();
    let request = TaskRequest {
        title: "Many children".to_owned(),
        prompt: MAIN_PROMPT.to_owned(),
        agent: "main".to_owned(),
        ..TaskRequest::default()
    };
    let running = engine.run(request).await?;
    let all_alive = model.traffic_reaches(|traffic| traffic.in_flight == u64::from(count));
    let alive = tokio::time::timeout(PATIENCE, all_alive).await.map_err(|_| "some never asked their model")?.in_flight;
    if is_stopped {
        // Each is in the journal shortly after it has begun.
        while journal.list(&TaskQuery::default())?.len() as u64 <= u64::from(count + relays) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let stopped = until_stopped(running, &journal).await?;
        return Ok(std::fs::write(report, stopped.to_string())?);
    }
    model.gate(ALL_ALIVE).open();
    let outcome = running.outcome().await?;
    let seconds = began.elapsed().as_secs_f64();

    let expected_calls = u64::from(count) * (TOOL_TURNS as u64 + 1) + u64::from(relays);
    if outcome.status != Status::Completed || outcome.usage.tool_calls != expected_calls {
        return Err(
            format!("ended {} after {} calls: {}", outcome.status, outcome.usage.tool_calls, outcome.text).into()
        );
    }
    let events = journal.end()?.0;
    std::fs::write(report, json!({ "seconds": seconds, "events": events, "alive_at_once": alive }).to_string())?;
    Ok(())
}

/// Prints the task to be stopped, and waits until no task runs any more. Returns the time of the last ending in
/// microseconds since 1970, and the number of tasks.
async fn until_stopped(running: Running, journal: &SqliteJournal) -> Result<Value, Box<dyn Error>> {
    println!("{}", running.task);
    let outcome = running.outcome().await?;
    let open = TaskQuery { states: vec![TaskState::Running, TaskState::Interrupted], limit: 1, ..TaskQuery::default() };
    while !journal.list(&open)?.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let last_ending = SystemTime::now().duration_since(UNIX_EPOCH)?;
    if outcome.status != Status::Cancelled {
        return Err(format!("ended {}: {}", outcome.status, outcome.text).into());
    }
    let tasks = journal.list(&TaskQuery::default())?.len();
    Ok(json!({ "last_ending_us": last_ending.as_micros() as u64, "tasks": tasks }))
}

fn engine(
    folder: &Path,
    tasks: u32,
    journal: Arc<SqliteJournal>,
    model: Arc<ScriptedModel>,
) -> Result<Engine, Box<dyn Error>> {
    Ok(Engine::new(EngineParts {
        journal,
        models: Arc::new(ScriptedModels::of(model)),
        workspace: Arc::new(Workspace::open(&folder.join("workspace"))?),
        agents: Registry::builtin().fixed(),
        contract: Arc::new(Sortie),
        more_tools: Vec::new(),
        remote_tools: Arc::new(sortie_engine::NoRemoteTools),
        shell: None,
        reports: Arc::new(SpillDir::open(&folder.join("reports"))?),
        cache: None,
        hooks: Arc::new(sortie_engine::NoHooks),
        rules: EngineSettings {
            max_children: tasks,
            max_concurrent: tasks as usize,
            default_timeout: 3 * PATIENCE,
            ..EngineSettings::default()
        },
        permissions: Permissions::default(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    }))
}

/// The model's replies: the main agent and its relays delegate once, a child reads one file a turn and then reports.
fn answer(request: &ModelRequest<'_>, relays: u32) -> ScriptedReply {
    let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let prompt = match request.messages.first() {
        Some(Message::User { text }) => text.as_str(),
        _ => "",
    };
    match (prompt, turn) {
        (MAIN_PROMPT, 0) => tasks(relays, "general-purpose", RELAY_PROMPT),
        (RELAY_PROMPT, 0) => tasks(BROOD, "explore", "Read the notes five times."),
        (MAIN_PROMPT | RELAY_PROMPT, _) => reply::text("All are back."),
        (_, 0) => read().held_by(ALL_ALIVE),
        (_, turn) if turn < TOOL_TURNS => read(),
        _ => reply::text("The notes say the same thing twenty times."),
    }
}

fn tasks(count: u32, agent: &str, prompt: &str) -> ScriptedReply {
    let arguments = json!({ "description": "Read notes", "prompt": prompt, "subagent_type": agent });
    reply::calls((0..count).map(|_| reply::call("Task", arguments.clone())))
}

fn read() -> ScriptedReply {
    reply::calls([reply::call("Read", json!({ "file_path": "notes.txt" }))])
}
