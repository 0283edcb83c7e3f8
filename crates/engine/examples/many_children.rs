//! Thousands of children alive at once: `many_children COUNT JOURNAL_DIR REPORT_FILE`.
//!
//! One main agent sends out COUNT children in one reply. The model lives in memory and holds every child's first
//! reply back until all of them have asked; then each makes five tool turns on real files and reports. Every event goes
//! to a SQLite journal. What it took is written to `REPORT_FILE`; `cargo xtask bench` reads it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Engine, EngineParts, RandomIds, Rules, SystemClock};
use sortie_journal::{Journal, SqliteJournal};
use sortie_llm::ModelRequest;
use sortie_protocol::{Message, Status, TaskRequest};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{ScriptedModel, ScriptedModels, ScriptedReply, reply};

const TOOL_TURNS: usize = 5;
const MAIN_PROMPT: &str = "Send them all out.";
/// Holds the first replies back.
const ALL_ALIVE: &str = "all alive";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(count), Some(folder), Some(report)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: many_children COUNT JOURNAL_DIR REPORT_FILE".into());
    };
    let (count, folder) = (count.parse::<u32>()?, PathBuf::from(folder));
    std::fs::create_dir_all(folder.join("workspace"))?;
    std::fs::write(folder.join("workspace/notes.txt"), "a line to be read\n".repeat(20))?;

    let journal = Arc::new(SqliteJournal::open(&folder.join("journal.db"))?);
    let model = Arc::new(ScriptedModel::answering(move |request| answer(request, count)).without_recording());
    let engine = engine(&folder, count, Arc::clone(&journal), Arc::clone(&model))?;

    let began = Instant::now();
    let request = TaskRequest {
        title: "Many children".to_owned(),
        prompt: MAIN_PROMPT.to_owned(),
        agent: "main".to_owned(),
        ..TaskRequest::default()
    };
    let running = engine.run(request).await?;
    let alive = model.traffic_reaches(|traffic| traffic.in_flight == u64::from(count)).await.in_flight;
    model.gate(ALL_ALIVE).open();
    let outcome = running.outcome().await?;
    let seconds = began.elapsed().as_secs_f64();

    let expected_calls = u64::from(count) * (TOOL_TURNS as u64 + 1);
    if outcome.status != Status::Completed || outcome.usage.tool_calls != expected_calls {
        return Err(
            format!("ended {} after {} calls: {}", outcome.status, outcome.usage.tool_calls, outcome.text).into()
        );
    }
    let events = journal.end()?.0;
    std::fs::write(report, json!({ "seconds": seconds, "events": events, "alive_at_once": alive }).to_string())?;
    Ok(())
}

fn engine(
    folder: &Path,
    count: u32,
    journal: Arc<SqliteJournal>,
    model: Arc<ScriptedModel>,
) -> Result<Engine, Box<dyn Error>> {
    Ok(Engine::new(EngineParts {
        journal,
        models: Arc::new(ScriptedModels::of(model)),
        workspace: Arc::new(Workspace::open(&folder.join("workspace"))?),
        agents: Arc::new(Registry::builtin()),
        contract: Arc::new(Sortie),
        more_tools: Vec::new(),
        reports: SpillDir::open(&folder.join("reports"))?,
        rules: Rules {
            max_children: count,
            max_concurrent: count as usize,
            default_timeout: Duration::from_mins(30),
            ..Rules::default()
        },
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    }))
}

/// What the model says: the main agent delegates once, a child reads a file a turn and then reports.
fn answer(request: &ModelRequest<'_>, count: u32) -> ScriptedReply {
    let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let is_main = matches!(request.messages.first(), Some(Message::User { text }) if text == MAIN_PROMPT);
    match (is_main, turn) {
        (true, 0) => reply::calls((0..count).map(|child| {
            let prompt = format!("Read the notes five times, you are number {child}.");
            reply::call("Task", json!({ "description": "Read notes", "prompt": prompt, "subagent_type": "explore" }))
        })),
        (true, _) => reply::text("All are back."),
        (false, 0) => read().held_by(ALL_ALIVE),
        (false, turn) if turn < TOOL_TURNS => read(),
        (false, _) => reply::text("The notes say the same thing twenty times."),
    }
}

fn read() -> ScriptedReply {
    reply::calls([reply::call("Read", json!({ "file_path": "notes.txt" }))])
}
