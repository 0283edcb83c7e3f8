//! Sortie inside a Rust program: `cargo run --example embed -- "Where is the loop?"`

use std::sync::Arc;

use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Engine, EngineParts, EngineSettings, Permissions, RandomIds, SystemClock};
use sortie_journal::SqliteJournal;
use sortie_llm::{RouteSetup, RouteTable};
use sortie_protocol::TaskRequest;
use sortie_sandbox::{SpillDir, Workspace};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Where is the loop?".to_owned());
    let home = std::env::temp_dir().join("sortie-embedded");
    let engine = Engine::new(EngineParts {
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
    });
    let request = TaskRequest { title: prompt.clone(), prompt, agent: "main".to_owned(), ..TaskRequest::default() };
    let outcome = engine.run(request).await?.outcome().await?;
    #[expect(clippy::print_stdout, reason = "an example prints")]
    {
        println!("{} ({})", outcome.text, outcome.status);
    }
    Ok(())
}
