//! Sub-agents of one type, run by a program: in the foreground and the background, resumed, watched and stopped.

use std::sync::Arc;

use serde_json::json;
use sortie_engine::{AgentRuns, EngineSettings, Hooks, RunStatus, SubagentError};
use sortie_journal::Journal as _;
use sortie_protocol::{FailureCode, GrantLayer, Limits, Message, Status, TaskId, TaskOutcome};
use sortie_testkit::{Script, reply};

use crate::mail_races::Site;
use crate::origins::Against;
use crate::permissions::{rules, user, usual};
use crate::relic::Relic;
use crate::support::{Plan, World, ask};

fn explorers(world: &World) -> AgentRuns {
    AgentRuns::of(&world.engine, "Explore").expect("a built-in agent")
}

fn completed(result: Result<TaskOutcome, SubagentError>) -> TaskOutcome {
    result.expect("it completes")
}

async fn outcome(runs: &AgentRuns, task: TaskId) -> TaskOutcome {
    match runs.status(task).await.expect("a task of its own") {
        RunStatus::Ended(outcome) => *outcome,
        open => panic!("{open:?}"),
    }
}

fn refusal(result: Result<TaskOutcome, SubagentError>) -> FailureCode {
    match result.expect_err("it is refused") {
        SubagentError::Refused(failure) => failure.code,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn s3_a_program_runs_a_sub_agent_of_a_type_to_its_end() {
    let world = Plan::script(Script::always(reply::text("Found."))).build();
    let outcome = completed(explorers(&world).with_model("light").run("Find the loop.").await);
    assert_eq!((outcome.agent.as_str(), outcome.text.as_str()), ("explore", "Found."));
    assert_eq!(outcome.model.id, "light");
    let seen = world.model.seen();
    assert_eq!((seen.len(), &seen[0].messages[..]), (1, &[Message::user("Find the loop.")][..]));
}

#[tokio::test]
async fn s3_a_run_in_the_background_has_an_id_a_file_and_a_status() {
    let world = Plan::script(Script::always(reply::text("Found.").held_by("gate"))).build();
    let runs = explorers(&world);
    let launched = runs.run_in_background("Find the loop.").await.expect("it starts");
    assert_eq!(runs.status(launched.task_id).await.expect("its own"), RunStatus::Running);
    world.model.gate("gate").open();
    runs.idle().await;
    assert_eq!(outcome(&runs, launched.task_id).await.text, "Found.");
    let file = launched.output_file.expect("people can follow it");
    assert!(std::fs::read_to_string(file).expect("it is there").contains("Found."));
}

#[tokio::test]
async fn s3_a_run_that_has_ended_is_resumed_with_a_prompt() {
    let world = Plan::script(Script::always(reply::text("Found."))).build();
    let runs = explorers(&world);
    let first = completed(runs.run("Find the loop.").await);
    let next = completed(runs.resume(first.task_id, Some("And its tests.".to_owned())).await);
    assert_eq!((next.task_id, next.agent), (first.task_id, "explore".to_owned()));
    let last = world.model.seen().pop().expect("a request");
    assert_eq!(last.messages.last(), Some(&Message::user("And its tests.")));
    assert_eq!(last.messages.first(), Some(&Message::user("Find the loop.")));
    assert!(runs.resume(first.task_id, None).await.is_err(), "nothing is left to do without a prompt");
}

#[tokio::test]
async fn s3_an_interrupted_run_goes_on_without_a_prompt() {
    let plan = || Plan::script(Script::always(reply::text("Found.")));
    let site = Site::new(plan());
    let runs = AgentRuns::of(&site.engine, "explore").expect("a built-in agent");
    let whole = completed(runs.run("Find the loop.").await);
    let appends = site.journal.appends();
    let site = site.later(plan(), Relic::of(&appends[..appends.len() - 1]).await);
    let runs = AgentRuns::of(&site.engine, "explore").expect("a built-in agent");
    let task = whole.task_id;
    assert_eq!(runs.status(task).await.expect("its own"), RunStatus::Interrupted);
    assert_eq!(completed(runs.resume(task, None).await).text, "Found.");
    assert_eq!(outcome(&runs, task).await.status, Status::Completed);
}

#[tokio::test]
async fn s3_a_stopped_run_has_ended_as_cancelled() {
    let world = Plan::script(Script::always(reply::never())).build();
    let runs = explorers(&world);
    let launched = runs.run_in_background("Find the loop.").await.expect("it starts");
    runs.stop(launched.task_id).await.expect("its own");
    assert_eq!(outcome(&runs, launched.task_id).await.status, Status::Cancelled);
}

#[tokio::test]
async fn s3_a_limit_ends_a_run_with_an_error_that_has_the_outcome() {
    let world = Plan::script(Script::always(reply::calls([reply::call("LS", json!({}))]).text("So far."))).build();
    let runs = explorers(&world).with_limits(Limits { max_turns: Some(1), ..Limits::default() });
    let SubagentError::Ended(outcome) = runs.run("Find the loop.").await.expect_err("one turn is too few") else {
        panic!("it ran")
    };
    assert_eq!(outcome.status, Status::Partial);
}

#[tokio::test]
async fn a_persons_run_is_not_in_sight_of_a_program() {
    let world = Plan::script(Script::always(reply::text("Found."))).build();
    let own = world.run(ask("by a person")).await.task_id;
    let runs = explorers(&world);
    assert_eq!(runs.status(own).await.expect_err("not its own").code, FailureCode::NoSuchTask);
    assert_eq!(runs.stop(own).await.expect_err("not its own").code, FailureCode::NoSuchTask);
    assert_eq!(refusal(runs.resume(own, None).await), FailureCode::NoSuchTask);
}

#[tokio::test]
async fn rules_hooks_and_limits_of_the_engine_bind_a_run_as_any_other() {
    let refused = async |plan: Plan| {
        let world = plan.build();
        let code = refusal(explorers(&world).run(crate::origins::PART).await);
        assert_eq!(world.journal.tasks(usize::MAX).expect("the journal reads").len(), 0);
        code
    };
    let plan = || Plan::script(Script::always(reply::text("Found.")));
    let deny = user(GrantLayer { deny: rules(&["Task(explore)"]), ..usual() });
    assert_eq!(refused(plan().permissions(deny)).await, FailureCode::Permission);
    let hooks = Arc::new(Against) as Arc<dyn Hooks>;
    assert_eq!(refused(Plan { hooks, ..plan() }).await, FailureCode::Vetoed);
    let off = EngineSettings { delegation: false, ..EngineSettings::default() };
    assert_eq!(refused(plan().rules(off)).await, FailureCode::DelegationOff);
}

#[test]
fn an_unknown_type_is_refused_before_anything_runs() {
    let world = Plan::script(Script::new()).build();
    for name in ["nobody", "main"] {
        let refused = AgentRuns::of(&world.engine, name).err().expect("refused");
        assert_eq!(refused.code, FailureCode::UnknownAgent);
    }
}

#[tokio::test]
async fn an_agent_whose_file_asks_for_an_isolation_that_is_missing_cannot_be_run() {
    let file = "---\nname: mover\ndescription: Moves files\nisolation: worktree\n---\nMove.\n";
    let world = Plan::script(Script::new()).files(&[(".claude/agents/mover.md", file)]).agent_files().build();
    let refused = AgentRuns::of(&world.engine, "mover").err().expect("its file is broken");
    assert_eq!(refused.code, FailureCode::UnusableAgent);
    assert!(
        refused.message.contains(".claude/agents/mover.md:4: ") && refused.message.contains("isolation"),
        "{refused}"
    );
}

#[tokio::test]
async fn s3_a_program_sets_the_tools_and_the_role_prompt_of_its_runs_and_they_stay_when_one_is_resumed() {
    let world = Plan::script(Script::always(reply::text("Found."))).build();
    let runs = explorers(&world).with_tools(["Read", "Grep"]).with_role_prompt("You mend documents.");
    let first = completed(runs.run("Mend a.md.").await);
    completed(runs.resume(first.task_id, Some("And b.md.".to_owned())).await);
    let launched = runs.run_in_background("Mend c.md.").await.expect("it starts");
    runs.idle().await;
    assert_eq!(outcome(&runs, launched.task_id).await.status, Status::Completed);
    let seen = world.model.seen();
    assert_eq!(seen.len(), 3);
    for seen in seen {
        assert_eq!((seen.system.as_str(), seen.tools.join(" ")), ("You mend documents.", "Read Grep".to_owned()));
    }
}

#[tokio::test]
async fn tools_that_a_program_sets_are_bound_by_the_users_rules_and_must_exist() {
    let deny = user(GrantLayer { deny: rules(&["Write"]), ..usual() });
    let world = Plan::script(Script::always(reply::text("Found."))).permissions(deny).build();
    completed(explorers(&world).with_tools(["Read", "Write"]).run("Look.").await);
    assert_eq!(world.model.seen()[0].tools.join(" "), "Read");
    let unknown = explorers(&world).with_tools(["Read", "Wryte"]).run("Look.").await;
    assert_eq!(refusal(unknown), FailureCode::InvalidArguments);
}
