//! Token use of an exploration: `token_use`, which prints one JSON object; `cargo xtask bench` reads it.
//!
//! The main agent searches and reads by itself, or a sub-agent does so and reports. Then the main agent continues with
//! work of its own. The count is of everything sent to a provider: tools, system prompt and messages, by the tokeniser
//! o200k.

#![expect(clippy::print_stdout, reason = "it is a program that reports")]

use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use sortie_agents::Registry;
use sortie_contract::Sortie;
use sortie_engine::{Engine, EngineParts, EngineSettings, Permissions, RandomIds, SystemClock};
use sortie_journal::MemoryJournal;
use sortie_llm::{RateLimits, Route, RouteSetup, RouteTable, WireKind};
use sortie_protocol::TaskRequest;
use sortie_sandbox::process::{Environment, Program};
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{RecordedRequest, Script, ScriptedReply, ScriptedServer, reply, when};
use sortie_tools::ShellSetup;

const INLINE: &str = "Find where authentication errors are handled, yourself; then fix the first place.";
const DELEGATED: &str = "Have it found where authentication errors are handled; then fix the first place.";
const BRIEF: &str = "Find where authentication errors are created and handled in src. Report each place as path:line with a \
                     few words on what happens there, and name the types involved.";
/// Files that are read, lines of each, and turns of work that follow.
const FILES: u32 = 12;
const LINES: u32 = 150;
const WORK: u32 = 5;

fn source(file: u32) -> String {
    let line = |line| match line % 30 {
        7 => {
            format!("    let session = store.open(request.token()).map_err(|error| AuthError::Denied{line}(error))?;\n")
        }
        line => {
            format!("    audit.note(Step::new({line}), \"module {file} has checked field {line} of the request\");\n")
        }
    };
    (1..=LINES).map(line).collect()
}

fn one_call(tool: &str, arguments: Value) -> ScriptedReply {
    reply::calls([reply::call(tool, arguments)])
}

/// One search, then one file a turn, from this turn on, by the agent with this prompt.
fn exploration(script: Script, prompt: &str) -> Script {
    let search = one_call("Grep", json!({"pattern": "AuthError", "path": "src"}));
    let script = script.on(when::prompt_contains(prompt).turn(0), search);
    (1..=FILES).fold(script, |script, file| {
        let read = one_call("Read", json!({"file_path": format!("src/module_{file:02}.rs")}));
        script.on(when::prompt_contains(prompt).turn(file), read)
    })
}

/// Turns of the main agent's own work, from this one on, and its answer.
fn work(script: Script, prompt: &str, from: u32) -> Script {
    let script = (0..WORK).fold(script, |script, turn| {
        let look = one_call("Read", json!({"file_path": "src/module_01.rs", "offset": 7 + turn, "limit": 3}));
        script.on(when::prompt_contains(prompt).turn(from + turn), look)
    });
    script.on(when::prompt_contains(prompt), reply::text("The first place is fixed."))
}

fn script() -> Script {
    let place = |file: u32| {
        format!("- src/module_{file:02}.rs:7: a session that cannot be opened becomes AuthError::Denied7\n")
    };
    let report: String = (1..=FILES).map(place).collect();
    let task = json!({"description": "Find auth errors", "prompt": BRIEF, "subagent_type": "explore"});
    let script = work(exploration(Script::new(), INLINE), INLINE, 1 + FILES);
    let script = work(script.on(when::prompt_contains(DELEGATED).turn(0), one_call("Task", task)), DELEGATED, 1);
    exploration(script, BRIEF).otherwise(reply::text(format!("Authentication errors are handled here:\n{report}")))
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let ways = [(INLINE, "main"), (DELEGATED, "main"), ("Say what you are.", "general-purpose")];
    let counted: Vec<Value> =
        ways.into_iter().map(|way| runtime.block_on(run(way.0, way.1))).collect::<Result<_, _>>()?;
    println!("{}", json!({"inline": counted[0], "delegated": counted[1], "general_purpose": counted[2]}));
    Ok(())
}

/// Runs one way of working, and counts.
async fn run(prompt: &str, agent: &str) -> Result<Value, Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let root = home.path().join("workspace");
    std::fs::create_dir_all(root.join("src"))?;
    for file in 1..=FILES {
        std::fs::write(root.join(format!("src/module_{file:02}.rs")), source(file))?;
    }
    let server = ScriptedServer::start(script())?;
    let route = Route {
        name: "main".to_owned(),
        wire: WireKind::OpenAiChat,
        base_url: server.base_url().parse()?,
        api_key: None,
        model: "scripted".to_owned(),
        window: None,
        max_output: None,
        rate_limits: RateLimits::default(),
    };
    let reports = Arc::new(SpillDir::open(&home.path().join("reports"))?);
    let engine = Engine::new(EngineParts {
        journal: Arc::new(MemoryJournal::new()),
        models: Arc::new(RouteTable::new(RouteSetup { routes: vec![route], ..RouteSetup::default() })?),
        workspace: Arc::new(Workspace::open(&root)?),
        agents: Registry::builtin().fixed(),
        contract: Arc::new(Sortie),
        more_tools: Vec::new(),
        remote_tools: Arc::new(sortie_engine::NoRemoteTools),
        // Offered like all other tools; nobody calls it.
        shell: Some(Arc::new(ShellSetup::new(
            Program::at("sortie".into()),
            Environment::scrubbed([], &[]),
            Arc::clone(&reports),
        ))),
        reports,
        cache: None,
        hooks: Arc::new(sortie_engine::NoHooks),
        rules: EngineSettings::default(),
        permissions: Permissions::default(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
    });
    let request = TaskRequest {
        title: "an exploration".to_owned(),
        prompt: prompt.to_owned(),
        agent: agent.to_owned(),
        ..TaskRequest::default()
    };
    let running = if agent == "main" { engine.run(request).await? } else { engine.task(request).await? };
    let outcome = running.outcome().await?;
    if let Some(error) = outcome.error {
        return Err(error.into());
    }
    Ok(counted(&server.requests(), prompt))
}

/// Counts the requests of a run: the main agent's first and last context, everything sent, and the repeated part of it.
fn counted(requests: &[Arc<RecordedRequest>], prompt: &str) -> Value {
    let texts: Vec<String> = requests.iter().map(|request| sent(request)).collect();
    let (parents, children): (Vec<&String>, Vec<&String>) = texts.iter().partition(|text| text.contains(prompt));
    let again = |task: &[&String]| task.windows(2).map(|pair| tokens(common(pair[0], pair[1]))).sum::<usize>();
    json!({
        "first": parents.first().map_or(0, |text| tokens(text)),
        "context": parents.last().map_or(0, |text| tokens(text)),
        "sent": texts.iter().map(|text| tokens(text)).sum::<usize>(),
        "sent_again": again(&parents) + again(&children),
    })
}

/// Returns a request's text, in the order in which a provider caches it.
fn sent(request: &RecordedRequest) -> String {
    let messages = request.body["messages"].as_array().into_iter().flatten().map(ToString::to_string);
    std::iter::once(request.body["tools"].to_string()).chain(messages).collect::<Vec<_>>().join("\n")
}

fn common<'a>(before: &str, after: &'a str) -> &'a str {
    let length = before.bytes().zip(after.bytes()).take_while(|(before, after)| before == after).count();
    &after[..after.floor_char_boundary(length)]
}

fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}
