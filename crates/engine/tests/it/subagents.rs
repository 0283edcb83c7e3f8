//! The library entry of the contract `result`: the agents, one of them at work, observers. Names carry statement ids.

use serde_json::json;
use sortie_engine::{EngineSettings, Parameters, SubagentError, Subagents};
use sortie_journal::{Journal, TaskState};
use sortie_protocol::{Failure, FailureCode, Limits, Message, Status};
use sortie_testkit::{Script, reply, when};

use crate::support::{Plan, World};

mod observers;

const REVIEWER: (&str, &str) = (
    ".sortie/agents/code-reviewer.md",
    "---\nname: code-reviewer\ndescription: review typescript code\ntools: Read\nmodel: light\nmaxTurns: 1\n---\nYou review.\n",
);
const BROKEN: (&str, &str) = (".sortie/agents/broken.md", "---\nname: [\n---\n");

pub(super) fn subagents(world: &World) -> Subagents {
    Subagents::of(world.engine.clone())
}

pub(super) fn parameters(prompt: &str, agent: &str) -> Parameters {
    Parameters { description: "a piece".to_owned(), prompt: prompt.to_owned(), subagent_type: agent.to_owned() }
}

async fn execute(world: &World, prompt: &str) -> Result<String, SubagentError> {
    let subagents = subagents(world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let subagent = subagents.create(&explore, parameters(prompt, "explore")).await.expect("it can be created");
    subagents.execute(subagent, prompt).await
}

fn ended(executed: Result<String, SubagentError>) -> (Status, String) {
    let error = executed.expect_err("it does not complete");
    let said = error.to_string();
    let SubagentError::Ended(outcome) = error else { panic!("{said}") };
    (outcome.status, said)
}

#[test]
fn s1_28_the_present_agents_are_loaded_with_problems_in_files() {
    let world = Plan::script(Script::new()).files(&[REVIEWER, BROKEN]).agent_files().contract("result").build();
    let subagents = subagents(&world);
    let names = || subagents.load().agents.into_iter().map(|agent| agent.name).collect::<Vec<_>>();
    assert_eq!(names(), ["code-reviewer"]);
    let mut wrong: Vec<String> = subagents.load().findings.into_iter().map(|finding| finding.path).collect();
    wrong.dedup();
    assert_eq!(wrong, [BROKEN.0]);

    let file = world.home.path().join("workspace/.sortie/agents/writer.md");
    std::fs::write(file, "---\nname: writer\ndescription: writes\n---\nYou write.\n").expect("a new file");
    assert_eq!(names(), ["code-reviewer", "writer"]);
}

#[test]
fn s1_28_an_agent_is_found_by_its_name_or_not_at_all() {
    let world = Plan::script(Script::new()).build();
    let found = |name: &str| subagents(&world).find(name).map(|agent| agent.name);
    assert_eq!(found("explore").as_deref(), Some("explore"));
    assert_eq!(found("EXPLORE").as_deref(), Some("explore"));
    assert_eq!(found("nobody"), None);
    assert_eq!(found("main"), None, "nobody can delegate to it");
}

#[test]
fn s1_28_the_agent_that_fits_a_description_is_found_if_any_does() {
    let world = Plan::script(Script::new()).files(&[REVIEWER]).agent_files().build();
    let best = |text: &str| subagents(&world).best_match(text).map(|agent| agent.name);
    assert_eq!(best("please review this typescript code").as_deref(), Some("code-reviewer"));
    assert_eq!(best("bake a chocolate cake"), None);
}

#[tokio::test]
async fn s1_24_each_sub_agent_has_an_id_and_a_context_of_its_own() {
    let script = Script::new()
        .on(when::prompt_contains("one piece"), reply::text("One."))
        .on(when::prompt_contains("other piece"), reply::text("Other."));
    let world = Plan::script(script).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let create =
        async |prompt| subagents.create(&explore, parameters(prompt, "explore")).await.expect("it can be created");
    let (one, other) = (create("one piece").await, create("other piece").await);
    assert_ne!(one.id(), other.id());
    let (one, other) = tokio::join!(subagents.execute(one, "one piece"), subagents.execute(other, "other piece"));
    assert_eq!((one.expect("a text"), other.expect("a text")), ("One.".to_owned(), "Other.".to_owned()));
    for prompt in ["one piece", "other piece"] {
        assert_eq!(world.seen_by(prompt)[0].messages, [Message::user(prompt)]);
    }
}

#[tokio::test]
async fn s1_24_a_sub_agent_that_is_never_executed_leaves_no_trace() {
    let world = Plan::script(Script::new()).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    drop(subagents.create(&explore, parameters("a piece", "explore")).await.expect("it can be created"));
    assert_eq!(world.events(), []);
}

#[tokio::test]
async fn s1_25_a_sub_agent_runs_on_the_model_and_prompt_of_its_configuration() {
    let world = Plan::script(Script::always(reply::text("Fine."))).files(&[REVIEWER]).agent_files().build();
    let subagents = subagents(&world);
    let reviewer = subagents.find("code-reviewer").expect("it is in a file");
    let subagent =
        subagents.create(&reviewer, parameters("Review.", "code-reviewer")).await.expect("it can be created");
    assert_eq!(subagent.job().config.model.id, "light");
    subagents.execute(subagent, "Review.").await.expect("a text");
    let seen = &world.model.seen()[0];
    assert_eq!(
        (seen.model.as_str(), seen.system.trim(), seen.tools.join(" ")),
        ("light", "You review.", "Read".into())
    );
}

#[tokio::test]
async fn s1_26_a_sub_agents_resources_are_released_however_it_ends() {
    let script =
        Script::new().on(when::prompt_contains("fails"), reply::status(400)).on(when::any(), reply::text("Done."));
    let world = Plan::script(script).rules(EngineSettings { max_concurrent: 1, ..EngineSettings::default() }).build();
    for round in 0..20 {
        execute(&world, &format!("this {round} works")).await.expect("a text");
        execute(&world, &format!("this {round} fails")).await.expect_err("the model refuses it");
    }
    let tasks = world.journal.tasks(usize::MAX).expect("the journal reads");
    assert_eq!(tasks.len(), 40);
    assert!(tasks.iter().all(|task| matches!(task.state, TaskState::Ended(_))));
    assert_eq!(world.model.traffic().in_flight, 0);
    let reports = std::fs::read_dir(world.home.path().join("reports")).expect("the folder is there");
    assert_eq!(reports.count(), 0, "no report is left in a file");
}

#[tokio::test]
async fn s1_26_a_dropped_sub_agent_is_stopped() {
    let script = Script::new().on(when::prompt_contains("long"), reply::never()).otherwise(reply::text("Done."));
    let world = Plan::script(script).rules(EngineSettings { max_concurrent: 1, ..EngineSettings::default() }).build();
    tokio::select! {
        _ = execute(&world, "a long piece") => panic!("it never ends by itself"),
        _ = world.model.traffic_reaches(|traffic| traffic.in_flight == 1) => {}
    }
    assert_eq!(execute(&world, "a short piece").await.expect("its slot is free again"), "Done.");
}

#[tokio::test]
async fn s1_27_success_is_the_final_text_and_nothing_else() {
    let text = format!("{}  \n ", "words ".repeat(20_000));
    let world =
        Plan::script(Script::always(reply::text(&text))).contract("result").files(&[REVIEWER]).agent_files().build();
    let subagents = subagents(&world);
    let reviewer = subagents.find("code-reviewer").expect("it is in a file");
    let subagent =
        subagents.create(&reviewer, parameters("Review.", "code-reviewer")).await.expect("it can be created");
    assert_eq!(subagents.execute(subagent, "Review.").await.expect("a text"), text);
}

#[tokio::test]
async fn s1_27_a_failure_and_a_limit_are_errors_that_say_what_happened() {
    let script = Script::new()
        .on(when::prompt_contains("refused"), reply::status(400))
        .on(when::any(), reply::calls([reply::call("LS", json!({}))]).text("So far."));
    let world = Plan::script(script).files(&[REVIEWER]).agent_files().build();
    let (status, said) = ended(execute(&world, "to be refused").await);
    assert_eq!(status, Status::Failed);
    assert!(said.starts_with("`explore` ended failed: "), "{said}");

    let subagents = subagents(&world);
    let reviewer = subagents.find("code-reviewer").expect("it may take one turn");
    let subagent =
        subagents.create(&reviewer, parameters("Review.", "code-reviewer")).await.expect("it can be created");
    assert_eq!(subagent.job().config.limits, Limits { max_turns: Some(1), ..subagent.job().config.limits });
    let limited = (Status::Partial, "`code-reviewer` ended partial: the turns limit was reached".to_owned());
    assert_eq!(ended(subagents.execute(subagent, "Review.").await), limited);
}

#[tokio::test]
async fn s1_28_an_impossible_sub_agent_is_refused_before_anything_starts() {
    let world = Plan::script(Script::new()).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let refused = async |configuration, prompt| {
        let created = subagents.create(configuration, parameters(prompt, "x")).await;
        created.err().map(|failure: Failure| failure.code).expect("refused")
    };
    assert_eq!(refused(&explore, "  ").await, FailureCode::EmptyPrompt);
    let unusable = sortie_agents::AgentDefinition { model: Some("nobody-has-it".to_owned()), ..explore.clone() };
    assert_eq!(refused(&unusable, "a piece").await, FailureCode::UnknownModel);
    let main = sortie_agents::AgentDefinition { delegable: false, ..explore.clone() };
    assert_eq!(refused(&main, "a piece").await, FailureCode::UnknownAgent);
    assert_eq!(world.events(), []);
}

#[tokio::test]
async fn a_sub_agent_whose_limits_leave_no_room_for_a_first_call_cannot_be_created() {
    let rules = EngineSettings { max_tokens: Some(2_000), ..EngineSettings::default() };
    let world = Plan::script(Script::new()).rules(rules).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let refused = subagents.create(&explore, parameters("a piece", "explore")).await.err().expect("refused");
    assert_eq!(refused.code, FailureCode::NoRoom);
    assert!(refused.message.contains("2000 of 2000 are left"), "{refused}");
}

#[tokio::test]
async fn s1_28_a_task_says_if_another_agent_serves_than_was_requested() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let notices = async |asked| {
        let created = subagents.create(&explore, parameters("a piece", asked)).await;
        created.expect("it can be created").job().notices.clone()
    };
    assert_eq!(notices("seeker").await, ["requested `seeker`; `explore` serves"]);
    assert_eq!(notices("Explore").await, [""; 0]);
}

#[tokio::test]
async fn s1_28_sub_agents_of_a_host_can_delegate_as_those_of_a_model_do() {
    let task = json!({"description": "a piece", "prompt": "the inner piece", "subagent_type": "explore"});
    let script = Script::new()
        .on(when::prompt_contains("the outer piece").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("the outer piece"), reply::text("Both done."))
        .on(when::prompt_contains("the inner piece"), reply::text("Done."));
    let world = Plan::script(script).build();
    let subagents = subagents(&world);
    let general = subagents.find("general-purpose").expect("a built-in agent");
    let outer = subagents.create(&general, parameters("the outer piece", "general-purpose")).await.expect("created");
    assert_eq!(subagents.execute(outer, "the outer piece").await.expect("a text"), "Both done.");
    assert_eq!(world.seen_by("the inner piece").len(), 1);
}

#[tokio::test]
async fn s1_28_the_prompt_of_the_execution_is_the_brief() {
    let world = Plan::script(Script::always(reply::text("Fine."))).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let subagent = subagents.create(&explore, parameters("the draft", "explore")).await.expect("it can be created");
    let (id, prompt) = (subagent.id(), "  Look at src/a.rs.\r\n");
    assert_eq!(subagents.execute(subagent, prompt).await.expect("a text"), "Fine.");
    assert_eq!(world.model.seen()[0].messages, [Message::user(prompt)]);
    let tasks = world.journal.tasks(usize::MAX).expect("the journal reads");
    assert_eq!(tasks.iter().map(|task| task.task_id).collect::<Vec<_>>(), [id]);
}

#[tokio::test]
async fn s1_28_no_part_of_a_replaced_prompt_is_sent() {
    let world = Plan::script(Script::always(reply::text("Fine."))).contract("delegate").build();
    let subagents = subagents(&world);
    let agent = subagents.load().agents.swap_remove(0);
    let subagent = subagents.create(&agent, parameters("the draft", &agent.name)).await.expect("it can be created");
    subagents.execute(subagent, "the brief").await.expect("a text");
    let sent = format!("{:?}", world.model.seen()[0]);
    assert!(sent.contains("the brief") && !sent.contains("the draft"), "{sent}");
}

#[tokio::test]
async fn s1_28_an_impossible_prompt_of_an_execution_is_refused() {
    let world = Plan::script(Script::new()).build();
    let subagents = subagents(&world);
    let explore = subagents.find("explore").expect("a built-in agent");
    let subagent = subagents.create(&explore, parameters("a piece", "explore")).await.expect("it can be created");
    let refused = subagents.execute(subagent, " ").await.expect_err("an empty prompt");
    assert!(matches!(refused, SubagentError::Refused(Failure { code: FailureCode::EmptyPrompt, .. })), "{refused:?}");
    assert_eq!(world.events(), []);
}
