//! A client for the protocol's conformance suite: `conformance_client URL`, with the suite's variables.
//!
//! It is Sortie's own client in Sortie's own engine. A scripted model calls each tool of the server once, or makes the
//! calls that the suite asks for. If the server wants a sign-in, it does what `sortie mcp login` does, with a browser
//! that consents to everything. Like a person, it tries that a few times. `cargo xtask mcp` runs it.

#![expect(clippy::print_stderr, reason = "it is a program that reports")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use serde_json::{Map, Value, json};
use sortie_agents::{OAuthSettings, Registry, ServerAccess, ServerDefinition};
use sortie_contract::Sortie;
use sortie_engine::{
    Engine, EngineParts, EngineSettings, NoHooks, Permissions, RandomIds, RemoteTools as _, SystemClock, Wanted,
};
use sortie_journal::MemoryJournal;
use sortie_mcp::{Chain, Connections, Login, ServerGround, TokenStore, login};
use sortie_policy::Redactor;
use sortie_protocol::{GrantLayer, Message, TaskRequest};
use sortie_sandbox::process::Environment;
use sortie_sandbox::{SpillDir, Workspace};
use sortie_testkit::{Script, ScriptedModel, ScriptedModels, reply, when};
use tempfile::TempDir;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const SERVER: &str = "suite";
/// Command that a person would read and run.
const ADVICE: &str = "sortie mcp login suite";
/// Most sign-ins of one run.
const PATIENCE: usize = 3;
/// Place at which a program describes itself, as the suite expects it of users who have one.
const DESCRIPTION: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main]
async fn main() -> Outcome<()> {
    let url = std::env::args().nth(1).ok_or("usage: conformance_client URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let place = Place::new(&url, &scenario, &context)?;
    let mut calls = place.wanted(&context);
    for _ in 0..PATIENCE {
        let told = place.run(&mut calls).await?;
        if !told.contains(ADVICE) {
            return Ok(());
        }
        place.sign_in().await?;
    }
    Err("it wants a sign-in again and again".into())
}

/// A call of a tool.
type Call = (String, Map<String, Value>);

struct Place {
    home: TempDir,
    server: ServerDefinition,
}

impl Place {
    fn new(url: &str, scenario: &str, context: &Value) -> Outcome<Self> {
        let home = tempfile::tempdir()?;
        std::fs::create_dir(home.path().join("workspace"))?;
        let mut definition = json!({ "url": url });
        let known = [("clientId", &context["client_id"]), ("clientSecret", &context["client_secret"])];
        let known = known.into_iter().filter(|(_, value)| !value.is_null());
        let mut oauth: Map<String, Value> = known.map(|(key, value)| (key.to_owned(), value.clone())).collect();
        if scenario == "auth/basic-cimd" {
            oauth.insert("clientId".to_owned(), DESCRIPTION.into());
        }
        if !oauth.is_empty() {
            definition["oauth"] = oauth.into();
        }
        let server = ServerDefinition::read(SERVER, &definition)?.server;
        Ok(Self { home, server })
    }

    fn store(&self) -> TokenStore {
        TokenStore::new(self.home.path().join("mcp-auth"))
    }

    fn connections(&self) -> Outcome<Arc<Connections>> {
        let workspace = self.home.path().join("workspace").canonicalize()?;
        let ground = ServerGround {
            changeable: vec![workspace.clone()],
            workspace,
            environment: Environment::default(),
            variables: Arc::new(|_| None),
            logs: None,
            sign_ins: self.store(),
            rest: Duration::ZERO,
            grace: Duration::from_secs(10),
            chain: Chain::default(),
            redactor: Arc::new(Redactor::new(Vec::new())),
        };
        Ok(Arc::new(Connections::new([self.server.clone()], ground)))
    }

    /// The calls that the suite asks for, if it does.
    fn wanted(&self, context: &Value) -> Vec<Call> {
        let calls = context["toolCalls"].as_array().cloned().unwrap_or_default();
        let call = |call: Value| {
            let name = format!("{}{}", self.server.prefix(), call["name"].as_str()?);
            Some((name, call["arguments"].as_object().cloned().unwrap_or_default()))
        };
        calls.into_iter().filter_map(call).collect()
    }

    /// Makes the calls in a task, or one of each tool. Returns all that its model and its people were told.
    async fn run(&self, calls: &mut Vec<Call>) -> Outcome<String> {
        let connections = self.connections()?;
        let agents = Registry::builtin();
        let agent = agents.get("main").map_err(|error| error.to_string())?;
        let all = |_: &str| true;
        let gathered =
            connections.gather(Wanted { agent, admits: &all, admits_some_of: &all, names_some_of: &all }).await;
        let mut told = [gathered.missing, gathered.notices].concat().join("\n");
        if calls.is_empty() {
            let call = |tool: &Arc<dyn sortie_tools::Tool>| (tool.spec().name, arguments(&tool.spec().schema));
            *calls = gathered.tools.iter().map(call).collect();
        }
        if !gathered.tools.is_empty() {
            told += &self.task(&connections, calls).await?;
        }
        connections.close().await;
        eprintln!("{told}");
        Ok(told)
    }

    async fn task(&self, connections: &Arc<Connections>, calls: &[Call]) -> Outcome<String> {
        let calls = calls.iter().map(|(name, arguments)| reply::call(name, Value::Object(arguments.clone())));
        let script = Script::new().on(when::turn(0), reply::calls(calls)).otherwise(reply::text("Done."));
        let model = Arc::new(ScriptedModel::new(script));
        let rule = GrantLayer { allow: vec![format!("mcp__{SERVER}")], ..GrantLayer::new("the suite") };
        let engine = Engine::new(EngineParts {
            journal: Arc::new(MemoryJournal::new()),
            models: Arc::new(ScriptedModels::of(Arc::clone(&model))),
            workspace: Arc::new(Workspace::open(&self.home.path().join("workspace"))?),
            agents: Registry::builtin().fixed(),
            contract: Arc::new(Sortie),
            more_tools: Vec::new(),
            remote_tools: Arc::clone(connections) as _,
            shell: None,
            reports: Arc::new(SpillDir::open(&self.home.path().join("reports"))?),
            cache: None,
            hooks: Arc::new(NoHooks),
            rules: EngineSettings::of(&Sortie),
            permissions: Permissions { layers: vec![rule], ..Permissions::unrestricted() },
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        });
        let request = TaskRequest {
            title: "calls".to_owned(),
            prompt: "Make the calls.".to_owned(),
            agent: "main".to_owned(),
            ..TaskRequest::default()
        };
        let outcome = engine.run(request).await?.outcome().await?;
        let mut told = outcome.notices.join("\n");
        let last = model.seen().pop().map(|request| request.messages).unwrap_or_default();
        for message in last {
            if let Message::Outputs { outputs } = message {
                for output in outputs {
                    told += &format!("\n{}", output.output.for_model);
                }
            }
        }
        Ok(told)
    }

    async fn sign_in(&self) -> Outcome<()> {
        let none = OAuthSettings::default();
        let (url, settings) = match &self.server.access {
            ServerAccess::Address { url, oauth, .. } => (url.as_str(), oauth),
            _ => ("", &none),
        };
        let browser = reqwest::Client::builder().redirect(Policy::limited(5)).build()?;
        let consent = |address: &str| {
            let visit = browser.get(address);
            // Whether it was good is seen from the answer that it brings.
            tokio::spawn(async move { visit.send().await.map(drop).unwrap_or_default() });
        };
        // One that nobody answers fails the run by the suite's own time limit.
        login(&self.store(), Login { name: SERVER, url, settings }, consent).await?;
        Ok(())
    }
}

/// Arguments that fit a schema.
fn arguments(schema: &Value) -> Map<String, Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |(name, property): (String, Value)| {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(7),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("text"),
        };
        (name, value)
    };
    properties.into_iter().map(value).collect()
}
