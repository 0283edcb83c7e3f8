//! One recipe starts every task: every origin meets the same hooks, rules and limits, as far as they apply to it.

use std::sync::Arc;

use serde_json::{Value, json};
use sortie_engine::{
    Asking, DryRun, EngineSettings, Hooks, Parameters, Resumption, SubagentError, Subagents, TaskKind, Verdict,
};
use sortie_journal::Journal as _;
use sortie_protocol::{AgentConfig, Fact, Failure, GrantLayer, Job, Status, TaskOutcome, TaskRequest};
use sortie_sandbox::Workspace;
use sortie_testkit::{Script, ScriptedModels, reply, when};
use sortie_tools::BoxFuture;

use crate::permissions::{rules, user, usual};
use crate::support::{Plan, World, ask, folders};

/// Prompt of the task in question.
pub(crate) const PART: &str = "PART";
/// Prompt of its first leg.
const FIRST: &str = "FIRST";
/// The first task that a main agent starts.
const CHILD: &str = "agent-aaaaaaaaaaab";

/// The requester of a task, or of its next leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Person,
    Host,
    Library,
    Call,
    PersonAgain,
    HostAgain,
    CallAgain,
}

use By::{Call, CallAgain, Host, HostAgain, Library, Person, PersonAgain};

const ALL: [By; 7] = [Person, Host, Library, Call, PersonAgain, HostAgain, CallAgain];

/// All origins that delegate.
const DELEGATING: [By; 5] = [Host, Library, Call, HostAgain, CallAgain];

fn again(by: By) -> bool {
    matches!(by, PersonAgain | HostAgain | CallAgain)
}

/// A main agent that delegates when it is told so; all others answer at once.
fn script(by: By) -> Script {
    let first = json!({"description": "Part", "prompt": FIRST, "subagent_type": "explore"});
    let mut part = json!({"description": "Part", "prompt": PART, "subagent_type": "explore"});
    if again(by) {
        part["resume"] = Value::from(CHILD);
    }
    Script::new()
        .on(when::prompt_contains("MAIN").turn(0).last_contains("MAIN, first"), task(first))
        .on(when::prompt_contains("MAIN").last_contains("Delegate."), task(part))
        .otherwise(reply::text("Done."))
}

fn task(arguments: Value) -> sortie_testkit::ScriptedReply {
    reply::calls([reply::call("Task", arguments)])
}

/// A world in which this origin asks under this plan. Earlier steps happened without the plan.
async fn world(by: By, plan: impl FnOnce(Plan) -> Plan) -> World {
    let new = plan(Plan::script(script(by)));
    if !again(by) {
        return new.build();
    }
    let before = Plan::script(script(by)).build();
    assert_eq!(before.run(ask("MAIN, first")).await.status, Status::Completed);
    let contract = Arc::clone(&new.contract);
    Plan { ids_before: 9, contract, ..new }.build_over(&before)
}

/// Starts the task; returns the failure code of a refusal.
async fn done(world: &World, by: By) -> Result<(), String> {
    done_as(world, by, "explore").await
}

async fn done_as(world: &World, by: By, agent: &str) -> Result<(), String> {
    let explore = |prompt: &str| TaskRequest { agent: agent.to_owned(), ..ask(prompt) };
    let resumption = |prompt: &str| Resumption { prompt: Some(prompt.to_owned()), ..Resumption::default() };
    let child = CHILD.parse().expect("an id");
    let started = match by {
        Person => world.engine.run(ask(PART)).await,
        Host => world.engine.task(explore(PART)).await,
        PersonAgain => world.engine.resume(child, resumption(PART)).await,
        HostAgain => world.engine.task(TaskRequest { resume: Some(CHILD.to_owned()), ..explore(PART) }).await,
        Library => return by_library(world, agent).await,
        Call => world.engine.run(ask("MAIN. Delegate.")).await,
        CallAgain => world.engine.resume("agent-aaaaaaaaaaaa".parse().expect("an id"), resumption("Delegate.")).await,
    };
    let outcome: TaskOutcome =
        started.map_err(|failure| failure.code.to_string())?.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Completed);
    if matches!(by, Call | CallAgain) { answer(world) } else { Ok(()) }
}

async fn by_library(world: &World, agent: &str) -> Result<(), String> {
    let code = |failure: Failure| failure.code.to_string();
    let subagents = Subagents::of(world.engine.clone());
    let agent = subagents.find(agent).expect("there is one of this name");
    let parameters =
        Parameters { description: "Part".to_owned(), prompt: PART.to_owned(), subagent_type: agent.name.clone() };
    let subagent = subagents.create(&agent, parameters).await.map_err(code)?;
    match subagents.execute(subagent, PART).await {
        Ok(_) => Ok(()),
        Err(SubagentError::Refused(failure)) => Err(code(failure)),
        Err(error) => panic!("{error}"),
    }
}

/// Answer to the newest call of the main agent.
fn answer(world: &World) -> Result<(), String> {
    let outputs = world.events().into_iter().filter_map(|event| match event.fact {
        Fact::CallFinished { output, refused } => Some((output.output, refused)),
        _ => None,
    });
    let (output, refused) = outputs.last().expect("a call");
    let code = output.for_model.strip_prefix("No sub-agent was started (").and_then(|rest| rest.split_once(')'));
    match code {
        Some((code, _)) => Err(code.to_owned()),
        None if refused => Err("refused".to_owned()),
        None => Ok(()),
    }
}

async fn met(by: By, plan: impl FnOnce(Plan) -> Plan) -> Result<(), String> {
    done(&world(by, plan).await, by).await
}

fn refused(code: &str) -> Result<(), String> {
    Err(code.to_owned())
}

/// Vetoes every prompt for the task in question.
pub(crate) struct Against;

impl Hooks for Against {
    fn before_start<'a>(&'a self, job: &'a Job, _leg: u32) -> BoxFuture<'a, Verdict> {
        let veto = (job.prompt == PART).then(|| "not this".to_owned());
        Box::pin(std::future::ready(Verdict { veto, notices: Vec::new() }))
    }

    fn ended(&self, _job: &Job, _leg: u32, _outcome: &TaskOutcome) {}

    fn asks(&self, _job: &Job, _asking: &Asking<'_>) {}

    fn settled(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

#[tokio::test]
async fn every_origin_can_start_a_task() {
    for by in ALL {
        let world = world(by, |plan| plan).await;
        assert_eq!(done(&world, by).await, Ok(()), "{by:?}");
        assert!(!world.model.seen().is_empty(), "{by:?}");
    }
}

#[tokio::test]
async fn a_hook_can_veto_every_origin() {
    for by in ALL {
        let world = world(by, |plan| Plan { hooks: Arc::new(Against), ..plan }).await;
        assert_eq!(done(&world, by).await, refused("vetoed"), "{by:?}");
        assert!(!world.model.seen().iter().any(|seen| format!("{:?}", seen.messages.last()).contains("\"PART\"")));
    }
}

#[tokio::test]
async fn a_task_rule_denies_an_agent_to_every_delegating_origin() {
    let deny = || user(GrantLayer { deny: rules(&["Task(explore)"]), ..usual() });
    for by in DELEGATING {
        assert_eq!(met(by, |plan| plan.permissions(deny())).await, refused("permission"), "{by:?}");
    }
    for by in [Person, PersonAgain] {
        assert_eq!(met(by, |plan| plan.permissions(deny())).await, Ok(()), "a person delegates nothing: {by:?}");
    }
}

#[tokio::test]
async fn nobody_delegates_if_that_is_off_or_beyond_the_depth() {
    for (off, code) in [
        (EngineSettings { delegation: false, ..EngineSettings::default() }, "delegation_off"),
        (EngineSettings { max_depth: 0, ..EngineSettings::default() }, "depth"),
    ] {
        for by in [Host, Library, HostAgain] {
            assert_eq!(met(by, |plan| plan.rules(off.clone())).await, refused(code), "{by:?}");
        }
        for by in [Call, CallAgain] {
            assert!(met(by, |plan| plan.rules(off.clone())).await.is_err(), "it has no tool for it: {by:?}");
        }
        for by in [Person, PersonAgain] {
            assert_eq!(met(by, |plan| plan.rules(off.clone())).await, Ok(()), "{by:?}");
        }
    }
}

#[tokio::test]
async fn the_rate_of_starts_is_bounded_for_every_delegating_origin() {
    let none = EngineSettings { delegations_per_minute: Some(0), ..EngineSettings::default() };
    for by in DELEGATING {
        assert_eq!(met(by, |plan| plan.rules(none.clone())).await, refused("delegation_rate"), "{by:?}");
    }
    for by in [Person, PersonAgain] {
        assert_eq!(met(by, |plan| plan.rules(none.clone())).await, Ok(()), "a person may at any time: {by:?}");
    }
}

#[tokio::test]
async fn a_child_that_is_refused_does_not_count_as_started() {
    let one = EngineSettings { max_children: 1, ..EngineSettings::default() };
    let twice = reply::calls([
        reply::call("Task", json!({"description": "Part", "prompt": PART, "subagent_type": "explore"})),
        reply::call("Task", json!({"description": "Part", "prompt": "Another.", "subagent_type": "explore"})),
    ]);
    let script = Script::new().on(when::prompt_contains("MAIN").turn(0), twice).otherwise(reply::text("Done."));
    let world = Plan { hooks: Arc::new(Against), ..Plan::script(script).rules(one) }.build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(world.seen_by("Another.").len(), 1, "{}", world.transcript());
    let none = EngineSettings { max_children: 0, ..EngineSettings::default() };
    assert_eq!(met(Call, |plan| plan.rules(none)).await, refused("max_children"));
}

/// The newest configuration of the task in question.
fn config(world: &World) -> AgentConfig {
    let configs = world.events().into_iter().filter_map(|event| match event.fact {
        Fact::TaskStarted { job } if job.prompt == PART => Some(job.config),
        Fact::TaskResumed { config, .. } if event.task_id.to_string() == CHILD => Some(*config),
        _ => None,
    });
    configs.last().expect("it was started")
}

#[tokio::test]
async fn the_settings_limits_hold_for_every_delegating_origin() {
    let bounded = EngineSettings { max_tokens: Some(100_000), ..EngineSettings::default() };
    for by in DELEGATING {
        let world = world(by, |plan| plan.rules(bounded.clone())).await;
        assert_eq!(done(&world, by).await, Ok(()), "{by:?}");
        let limits = config(&world).limits;
        assert_eq!(limits.timeout, Some(bounded.default_timeout), "{by:?}");
        let tokens = limits.max_tokens.unwrap_or(u64::MAX);
        assert!((100_000..101_000).contains(&tokens), "beyond what was used before: {by:?}: {tokens}");
    }
    let world = world(Person, |plan| plan.rules(bounded)).await;
    assert_eq!(done(&world, Person).await, Ok(()));
    assert_eq!((config(&world).limits.timeout, config(&world).limits.max_tokens), (None, None));
}

const PLAIN: (&str, &str) = (".sortie/agents/lead.md", "---\nname: lead\ndescription: Leads.\n---\nLead.\n");
const NAMING: (&str, &str) =
    (".sortie/agents/lead.md", "---\nname: lead\ndescription: Leads.\ntools: Read, Write\n---\nLead.\n");

/// A main agent has `lead` do the part, in a contract that refuses circles and agents without tools that they name.
fn strict(lead: (&str, &str), script: Script) -> Plan {
    let part = json!({"description": "Part", "prompt": PART, "subagent_type": "lead"});
    let script = script.on(when::prompt_contains("MAIN").turn(0), task(part)).otherwise(reply::text("Done."));
    Plan::script(script).files(&[lead]).agent_files().contract("result")
}

#[tokio::test]
async fn an_agent_lacking_a_tool_it_names_is_refused_if_the_contract_says_so() {
    let deny = || user(GrantLayer { deny: rules(&["Write"]), ..usual() });
    let script = || Script::new();
    for by in [Host, Library] {
        let world = strict(NAMING, script()).permissions(deny()).build();
        assert_eq!(done_as(&world, by, "lead").await, refused("tool_access"), "{by:?}");
        let world = strict(NAMING, script()).build();
        assert_eq!(done_as(&world, by, "lead").await, Ok(()), "{by:?}");
    }
    let world = strict(NAMING, script()).permissions(deny()).build();
    world.run(ask("MAIN")).await;
    let told = world.transcript();
    assert!(told.contains("lacks permission for required tools: Write") && world.seen_by(PART).is_empty(), "{told}");
}

#[tokio::test]
async fn an_agent_cannot_delegate_to_itself_if_the_contract_says_so() {
    let inner = json!({"description": "Part", "prompt": "INNER", "subagent_type": "lead"});
    let script = || Script::new().on(when::prompt_contains(PART).turn(0), task(inner.clone()));
    for by in [Host, Library, Call] {
        let world = strict(PLAIN, script()).build();
        if by == Call {
            world.run(ask("MAIN")).await;
        } else {
            assert_eq!(done_as(&world, by, "lead").await, Ok(()), "{by:?}");
        }
        let told = world.transcript();
        assert!(told.contains("Circular delegation prevented: lead -> lead"), "{by:?}: {told}");
        assert!(world.seen_by("INNER").is_empty() && !world.seen_by(PART).is_empty(), "{by:?}");
    }
}

#[tokio::test]
async fn a_refused_sub_agent_of_a_library_leaves_no_trace() {
    let deny = user(GrantLayer { deny: rules(&["Task(explore)"]), ..usual() });
    let world_denied = world(Library, |plan| plan.permissions(deny)).await;
    assert_eq!(done(&world_denied, Library).await, refused("permission"));
    let world_vetoed = world(Library, |plan| Plan { hooks: Arc::new(Against), ..plan }).await;
    assert_eq!(done(&world_vetoed, Library).await, refused("vetoed"));
    for world in [world_denied, world_vetoed] {
        assert_eq!(world.journal.tasks(usize::MAX).expect("the journal reads").len(), 0);
    }
}

/// Refusals by a dry run, and by the start itself.
async fn dry_and_real(request: TaskRequest, plan: impl FnOnce(Plan) -> Plan) -> (Option<String>, Option<String>) {
    let plan = plan(Plan::script(Script::always(reply::text("Done."))).files(&[NAMING, TEMPLATE]).agent_files());
    let (contract, settings, layers) =
        (Arc::clone(&plan.contract), plan.rules.clone(), plan.permissions.layers.clone());
    let world = plan.build();
    let workspace = Workspace::open(&world.home.path().join("workspace")).expect("the workspace is there");
    let agents = folders(&Arc::new(workspace)).current();
    let authority = DryRun { agents: &agents, contract: &contract, rules: &settings, layers: &layers, remote: &[] };
    let models = ScriptedModels::of(Arc::clone(&world.model));
    let dry = authority.check(&request, TaskKind::Delegated, &models).err().map(|failure| failure.code.to_string());
    let real = match world.engine.task(request).await {
        Ok(running) => running.outcome().await.map(|_| None).expect("the journal works"),
        Err(failure) => Some(failure.code.to_string()),
    };
    (dry, real)
}

const TEMPLATE: (&str, &str) =
    (".sortie/templates/look.md", "---\ndescription: Looks.\nagent: explore\n---\nLook around.\n");

#[tokio::test]
async fn a_dry_run_refuses_what_the_start_refuses() {
    let lead = |prompt: &str| TaskRequest { agent: "lead".to_owned(), ..ask(prompt) };
    let usually = |prompt: &str| TaskRequest { agent_is_usual: true, ..lead(prompt) };
    let apart = TaskRequest { background: true, ..lead("Go.") };
    let denying = |rule: &str| user(GrantLayer { deny: rules(&[rule]), ..usual() });
    let refused = |code: &str| (Some(code.to_owned()), Some(code.to_owned()));
    assert_eq!(dry_and_real(lead("Go."), |plan| plan).await, (None, None));
    assert_eq!(dry_and_real(lead(" "), |plan| plan).await, refused("empty_prompt"));
    let still = EngineSettings { background: false, ..EngineSettings::default() };
    assert_eq!(dry_and_real(apart, |plan| plan.rules(still)).await, refused("background_off"));
    let flat = EngineSettings { max_depth: 0, ..EngineSettings::default() };
    assert_eq!(dry_and_real(lead("Go."), |plan| plan.rules(flat)).await, refused("depth"));
    assert_eq!(dry_and_real(lead("/look nope=1"), |plan| plan).await, refused("template_arguments"));
    let deny = denying("Task(explore)");
    assert_eq!(dry_and_real(usually("/look"), |plan| plan.permissions(deny)).await, refused("permission"));
    let strict = |plan: Plan| plan.contract("result").permissions(denying("Write"));
    assert_eq!(dry_and_real(lead("Go."), strict).await, refused("tool_access"));
    let unknown = TaskRequest { model: Some("nobody-has-it".to_owned()), ..lead("Go.") };
    assert_eq!(dry_and_real(unknown, |plan| plan).await, refused("unknown_model"));
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_of_a_resumption_checks_everything_named_besides_the_task() {
    let again = || TaskRequest { resume: Some(CHILD.to_owned()), agent_is_usual: true, ..ask("Go on.") };
    let dry = async |request| dry_and_real(request, |plan| plan).await.0;
    assert_eq!(dry(again()).await, None, "the task keeps its own agent and model");
    let nobody = TaskRequest { agent: "nobody".to_owned(), agent_is_usual: false, ..again() };
    assert_eq!(dry(nobody).await.as_deref(), Some("unknown_agent"));
    let no_model = TaskRequest { agent: "lead".to_owned(), model: Some("nobody-has-it".to_owned()), ..again() };
    assert_eq!(dry(no_model).await.as_deref(), Some("unknown_model"));
}
