//! Sub-agents of one type, run by a program: `cargo run --example agent_runs -- "Where is the loop?"`

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{AgentRuns, Engine, EngineParts, EngineSettings, Permissions, RandomIds, RunStatus, SystemClock};
use sortie_journal::SqliteJournal;
use sortie_llm::{RouteSetup, RouteTable};
use sortie_sandbox::{SpillDir, Workspace};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Where is the loop?".to_owned());
    let explore = AgentRuns::of(&engine(&std::env::temp_dir().join("sortie-agent-runs"))?, "explore")?;

    let found = explore.run(&question).await?;
    println!("{} {}: {}", found.task_id, found.status, found.text);
    let more = explore.resume(found.task_id, Some("And where is it tested?".to_owned())).await?;
    println!("{} {}: {}", more.task_id, more.status, more.text);

    let launched = explore.run_in_background(&question).await?;
    println!("{} works; see {}", launched.task_id, launched.output_file.as_deref().unwrap_or("nothing"));
    if explore.status(launched.task_id).await? == RunStatus::Running {
        explore.stop(launched.task_id).await?;
    }
    explore.idle().await;
    if let RunStatus::Ended(outcome) = explore.status(launched.task_id).await? {
        println!("{} {}", outcome.task_id, outcome.status);
    }
    Ok(())
}

fn engine(home: &Path) -> Result<Engine, Box<dyn Error>> {
    Ok(Engine::new(EngineParts {
        journal: Arc::new(SqliteJournal::open(&home.join("journal.db"))?),
        models: Arc::new(RouteTable::new(RouteSetup::default())?), // no route: the offline model
        workspace: Arc::new(Workspace::open(&std::env::current_dir()?)?),
        agents: Registry::builtin().fixed(),
        contract: Arc::new(Sortie),
        more_tools: Vec::new(),
        remote_tools: Arc::new(sortie_engine::NoRemoteTools),
        shell: None,
        reports: Arc::new(SpillDir::open(&home.join("reports"))?),
        cache: None,
        hooks: Arc::new(sortie_engine::NoHooks),
        rules: EngineSettings::default(),
        permissions: Permissions::default(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    }))
}
