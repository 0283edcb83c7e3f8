//! `sortie explain`: shows if a call is allowed, denied or needs approval, by which layer, and which rule would allow
//! it.
//!
//! It decides with the engine's own functions over the same grant, and starts nothing.

mod call;
mod layer_verdict;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use sortie_agents::{AgentDefinition, Agents as _, Registry, ServerDefinition, ServerUse};
use sortie_engine::DryRun;
use sortie_policy::{Decision, Ground, Judge, Places, Why};
use sortie_protocol::{AgentConfig, FailureCode, Resource};

use crate::error::{self, CommandError};
use crate::render::print_json;
use crate::settings::Settings;
use crate::text::{neutral, table};
use crate::wiring;
use call::Call;
use layer_verdict::LayerVerdict;

/// Explain why a tool call is allowed, denied or needs approval
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// Call to check, written like a rule: `Edit(src/a.rs)`, `Bash(cargo test)`
    call: String,

    /// Check for this sub-agent [default: the main agent]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
A grant has layers: your settings, the project's settings, the flags, then each
agent from the main one down. The strictest layer decides.

Examples:
  sortie explain \"Edit(src/a.rs)\"
  sortie explain \"Edit(src/a.rs)\" --agent explore
  sortie explain \"Bash(cargo build && cargo test)\"
  sortie --permission-mode plan explain \"Write(notes.md)\" --json

Exit codes:
  0    allowed
  1    needs approval, or denied
  2    wrong usage or configuration; no such tool or agent";

const MAIN: &str = "main";

/// Notice about a denied file.
const COMMITTED: &str = "Walls hide the file itself; what git has committed of it, commands can read with `git show`. Deny \
                         Bash as well, or keep the file out of git";

pub(crate) fn run(args: &ExplainArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let agents = wiring::agents(settings)?.current();
    settings.rules_about_nobody(&agents).iter().for_each(|warning| error::warn(warning));
    let (contract, rules, layers) = (settings.contract(), settings.rules(), settings.permission_layers());
    let authority = DryRun { agents: &agents, contract: &contract, rules: &rules, layers: &layers, remote: &[] };
    let call = Call::read(&args.call, settings, &authority)?;
    let remote = remote_tools(&call, settings, &agents);
    let authority = DryRun { remote: &remote, ..authority };
    let main = authority.of_main(MAIN)?;
    let config = match &args.agent {
        None => main.clone(),
        Some(agent) => authority.below(&main, agent)?,
    };
    let places = places(settings)?;
    let judge = |config: &AgentConfig| {
        Judge::new(&config.grant, places.clone()).map_err(|error| CommandError::config(error.to_string()))
    };
    let (decision, says) = match &call.resource {
        Ok(resource) => {
            let decision = judge(&config)?.decide(&call.tool, resource);
            (decision, layer_verdict::each(&config, &call.tool, resource, &places)?)
        }
        Err(why) => (out_of_reach(why), Vec::new()),
    };
    let mut says: Vec<LayerVerdict> = says.into_iter().map(|say| say.placed(settings, &agents)).collect();
    let decision = match beyond_rules(&call, &config, &authority) {
        Some(denied) if !decision.is_denied() => {
            says.iter_mut().for_each(LayerVerdict::decide_nothing);
            denied
        }
        _ => decision,
    };
    let mut call = call;
    let has_git = settings.places.workspace.join(".git").exists();
    if has_git && is_about_a_denied_file(&call, &decision) && judge(&config)?.admits_some("Bash") {
        call.notice.get_or_insert(COMMITTED.to_owned());
    }
    let start = match &args.agent {
        Some(_) => Some(started(&authority, &main, &judge(&main)?, &config.agent)).filter(|start| !start.is_allowed()),
        None => None,
    };
    let explanation = Explanation { call, config, decision, says, start };
    if args.json {
        print_json(&explanation.to_json())?;
    } else {
        io::stdout().lock().write_all(neutral::block(&explanation.to_text()).as_bytes())?;
    }
    Ok(if explanation.verdict().is_allowed() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Name of the call's tool if it would belong to a configured server or to one that an agent brings. Only a run shows
/// if the server has it.
fn remote_tools(call: &Call, settings: &Settings, agents: &Registry) -> Vec<String> {
    let own = agents.all().iter().flat_map(|agent| &agent.servers).filter_map(|server| match server {
        ServerUse::Own(server) => Some(server.clone()),
        ServerUse::Named(_) => None,
    });
    let mut servers = settings.servers().into_iter().chain(own);
    let is_its = |server: ServerDefinition| !server.is_off && call.tool.starts_with(&server.prefix());
    servers.any(is_its).then(|| call.tool.clone()).into_iter().collect()
}

fn places(settings: &Settings) -> Result<Places, CommandError> {
    Ok(Places {
        root: Some(settings.places.workspace.clone()),
        added: settings.added_directories()?,
        home: settings.environment.home(),
        own: settings.places.own(),
        private: settings.places.private(),
        secrets: settings.secret_places(),
        other_homes: settings.other_homes(),
    })
}

/// True if a rule denies reading a file.
fn is_about_a_denied_file(call: &Call, decision: &Decision) -> bool {
    let is_file = matches!(call.resource, Ok(Resource::Path(_)));
    is_file && call.tool == "Read" && matches!(decision, Decision::Deny(Ground { why: Why::Denied, .. }))
}

/// Decision about a call that no rule could allow.
fn out_of_reach(why: &str) -> Decision {
    let owner = "the workspace".to_owned();
    Decision::Deny(Ground { owner, rule: None, remedies: Vec::new(), why: Why::Unclear { what: why.to_owned() } })
}

/// Denial of a call that would come to nothing whatever the rules say; `None` if it would not.
fn beyond_rules(call: &Call, config: &AgentConfig, authority: &DryRun<'_>) -> Option<Decision> {
    if call.delegates
        && let Some(why) = cannot_delegate(authority, config)
    {
        return Some(out_of_reach(&why));
    }
    let is_offered = config.tools.contains(&call.tool);
    let not_offered = || match &config.tools[..] {
        [] => format!("{} has no tools here", config.agent),
        tools => format!("{} has no {} here, only {}", config.agent, call.tool, tools.join(", ")),
    };
    let why = if is_offered { call.refusal.clone() } else { Some(not_offered()) };
    why.map(|why| out_of_reach(&why))
}

/// Reason why no agent can be started from there, whatever the rules say; `None` if one can.
fn cannot_delegate(authority: &DryRun<'_>, config: &AgentConfig) -> Option<String> {
    let failure = authority.can_delegate(config.depth).err()?;
    Some(match failure.code {
        FailureCode::Depth => format!(
            "{} cannot delegate: it has depth {}, and `task_tool.max_depth` is {}",
            config.agent, config.depth, authority.rules.max_depth
        ),
        _ => failure.message,
    })
}

/// Decides if the main agent may start this one.
fn started(authority: &DryRun<'_>, main: &AgentConfig, judge: &Judge, agent: &str) -> Decision {
    let resource = authority.agents.get(agent).map_or(Resource::Nothing, AgentDefinition::as_resource);
    let refusal = || authority.can_start(main, agent).err().map(|failure| failure.message);
    match cannot_delegate(authority, main).or_else(refusal) {
        None => judge.decide(authority.contract.tool_name(), &resource),
        Some(why) => out_of_reach(&why),
    }
}

/// Full explanation of a call.
struct Explanation {
    call: Call,
    config: AgentConfig,
    decision: Decision,
    says: Vec<LayerVerdict>,
    /// Denial of the agent's own start, if it would not start.
    start: Option<Decision>,
}

impl Explanation {
    /// Overall verdict: an agent that does not start calls nothing.
    fn verdict(&self) -> &Decision {
        match &self.start {
            Some(start) if start.is_denied() || self.decision.is_allowed() => start,
            _ => &self.decision,
        }
    }

    fn to_text(&self) -> String {
        let chain = self.config.chain.join(" › ");
        let verdict = match self.verdict() {
            Decision::Allow => "allowed",
            Decision::Ask(_) => "asks",
            Decision::Deny(_) => "denied",
        };
        let gap = if self.says.is_empty() { "" } else { "\n" };
        let mut text = format!("{} by {chain}: {verdict}\n{gap}", self.call.text);
        let rows: Vec<[String; 4]> = self.says.iter().map(LayerVerdict::row).collect();
        for line in table(&rows).lines() {
            text += &format!("  {line}\n");
        }
        if let Some(notice) = &self.call.notice {
            text += &format!("\n{notice}.\n");
        }
        match &self.decision {
            Decision::Allow => {}
            Decision::Ask(ground) => text += &format!("\nIt {ground}.\n"),
            Decision::Deny(ground) => text += &format!("\nIt is {ground}.\n"),
        }
        if let Some(Decision::Ask(ground) | Decision::Deny(ground)) = &self.start {
            text += &format!("\n{MAIN} may not start {} by itself: {ground}.\n", self.config.agent);
        }
        text
    }

    fn to_json(&self) -> Value {
        let (decision, ground) = match self.verdict() {
            Decision::Allow => ("allow", None),
            Decision::Ask(ground) => ("ask", Some(ground)),
            Decision::Deny(ground) => ("deny", Some(ground)),
        };
        let mut object = json!({
            "call": self.call.text,
            "agent": self.config.agent,
            "chain": self.config.chain,
            "decision": decision,
            "layers": self.says.iter().map(LayerVerdict::to_json).collect::<Vec<_>>(),
        });
        if let Some(ground) = ground {
            object["ground"] = ground.to_string().into();
        }
        if let Some(Decision::Ask(ground) | Decision::Deny(ground)) = &self.start {
            object["start"] = ground.to_string().into();
        }
        if let Some(notice) = &self.call.notice {
            object["notice"] = notice.as_str().into();
        }
        if let Some(remedies) = ground.map(|ground| &ground.remedies).filter(|remedies| !remedies.is_empty()) {
            object["remedies"] = remedies.as_slice().into();
        }
        object
    }
}
