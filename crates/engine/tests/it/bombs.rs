//! Agents that delegate everything, ten at a time: the limits on depth, width and number hold, each refusal says so,
//! and the run ends.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use sortie_engine::EngineSettings;
use sortie_protocol::{Fact, FailureCode, Status, TaskRequest};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use crate::support::{Plan, World, ask};

fn task(prompt: &str) -> ScriptedPart {
    reply::call("Task", json!({"description": "A piece", "prompt": prompt, "subagent_type": "general-purpose"}))
}

/// Every agent, a main agent or a child of any depth, starts ten children; then it reports.
fn bomb() -> Script {
    Script::new().on(when::turn(0), reply::calls((0..10).map(|_| task("BOOM")))).otherwise(reply::text("Bang."))
}

/// Number of started tasks by depth; checks that each of them ended once.
fn started(world: &World) -> Vec<usize> {
    let mut by_depth = vec![0; 5];
    let (mut begun, mut ended) = (HashSet::new(), HashSet::new());
    for event in world.events() {
        match event.fact {
            Fact::TaskStarted { .. } => {
                begun.insert(event.task_id);
                by_depth[event.depth as usize] += 1;
            }
            Fact::TaskEnded { outcome } => {
                assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
                assert!(ended.insert(event.task_id), "{} has ended twice", event.task_id);
            }
            _ => {}
        }
    }
    assert_eq!(begun, ended);
    by_depth
}

fn refusals(world: &World, text: &str) -> usize {
    let refused =
        |fact: &Fact| matches!(fact, Fact::CallFinished { output, .. } if output.output.for_model.contains(text));
    world.events().iter().filter(|event| refused(&event.fact)).count()
}

#[tokio::test]
async fn the_depth_limit_ends_a_bomb_and_says_so() {
    let world = Plan::script(bomb()).rules(EngineSettings { max_depth: 1, ..EngineSettings::default() }).build();
    assert_eq!(world.run(ask("BOOM")).await.status, Status::Completed);
    assert_eq!(started(&world), [1, 10, 0, 0, 0]);
    assert_eq!(refusals(&world, "Task is not available to this task"), 100);
}

#[tokio::test]
async fn the_limit_on_tasks_ends_a_bomb_of_any_width_and_says_so() {
    for max_concurrent in [1, 2, 20] {
        let rules = EngineSettings { max_depth: 4, max_children: 25, max_concurrent, ..EngineSettings::default() };
        let world = Plan::script(bomb()).rules(rules).build();
        let run = tokio::time::timeout(Duration::from_mins(1), world.run(ask("BOOM")));
        assert_eq!(run.await.expect("nobody waits for ever").status, Status::Completed);
        assert_eq!(started(&world).iter().sum::<usize>(), 1 + 25, "{max_concurrent} at once");
        // Each task below the depth limit has asked for ten.
        let n_asked: usize = 10 * started(&world)[..4].iter().sum::<usize>();
        let refused = refusals(&world, "the limit of 25 sub-agents is reached; continue without more");
        assert_eq!(refused, n_asked - 25, "{max_concurrent} at once");
        assert!(world.model.traffic().max_in_flight <= max_concurrent as u64, "{max_concurrent} at once");
    }
}

#[tokio::test]
async fn the_rate_of_delegations_is_bounded_for_all_trees_together() {
    let rules = EngineSettings { delegations_per_minute: Some(4), ..EngineSettings::default() };
    let script = bomb();
    let world = Plan::script(script).rules(rules).build();
    assert_eq!(world.run(ask("BOOM")).await.status, Status::Completed);
    assert_eq!(started(&world).iter().sum::<usize>(), 1 + 4);
    let told = "No sub-agent was started (delegation_rate): no more than 4 sub-agents may be started within a minute \
                (`task_tool.delegations_per_minute`); try again in ";
    assert_eq!(refusals(&world, told), 10 + 4 * 10 - 4);
    let without_parent = TaskRequest { agent: "explore".to_owned(), ..ask("BOOM") };
    let refused = world.engine.task(without_parent).await.map(drop);
    assert_eq!(refused.map_err(|failure| failure.code), Err(FailureCode::DelegationRate));
    assert_eq!(world.run(ask("BOOM")).await.status, Status::Completed, "a person may ask at any time");
}
