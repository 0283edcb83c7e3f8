//! A host that delegates by itself and watches: `cargo run --example subagents -- "find things in the workspace"`

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{
    Engine, EngineParts, EngineSettings, Parameters, Permissions, RandomIds, SubagentObserver, SubagentStatus,
    Subagents, SystemClock,
};
use sortie_journal::MemoryJournal;
use sortie_llm::{RouteSetup, RouteTable};
use sortie_protocol::{Message, TaskId};
use sortie_sandbox::{SpillDir, Workspace};

/// Prints a line for each event.
struct Lines;

impl SubagentObserver for Lines {
    fn on_added(&mut self, id: TaskId, parameters: &Parameters) {
        println!("{id} added: {} for {:?}", parameters.subagent_type, parameters.description);
    }

    fn on_updated(&mut self, id: TaskId, messages: &[Message], status: SubagentStatus) {
        println!("{id} {status:?}, {} messages", messages.len());
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wish = std::env::args().nth(1).unwrap_or_else(|| "find things in the workspace".to_owned());
    let subagents = Subagents::of(engine(&std::env::temp_dir().join("sortie-subagents"))?);
    for agent in subagents.load().agents {
        println!("{}: {}", agent.name, agent.description);
    }
    let agent = subagents.find(&wish).or_else(|| subagents.best_match(&wish)).ok_or("no agent suits that")?;
    let observation = subagents.observe(Lines)?;
    let prompt = "Where is the loop?".to_owned();
    let parameters = Parameters { description: wish, prompt: prompt.clone(), subagent_type: agent.name.clone() };
    let subagent = subagents.create(&agent, parameters).await?;
    let report = subagents.execute(subagent, prompt).await?;
    observation.finish()?;
    println!("\n{report}");
    Ok(())
}

fn engine(home: &Path) -> Result<Engine, Box<dyn Error>> {
    Ok(Engine::new(EngineParts {
        journal: Arc::new(MemoryJournal::new()),
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
