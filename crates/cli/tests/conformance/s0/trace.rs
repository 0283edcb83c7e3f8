//! Records about sub-agents: S0-68 and S0-69.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sortie_testkit::reply;

use super::errand::{run_with, task};
use crate::world::{World, main_agent_calls};

#[test]
fn s0_68_s0_69_every_sub_agent_is_recorded_under_an_id_of_its_own_with_its_route_and_model() {
    let world = World::new();
    let calls = ["main", "light"].map(|model| {
        task(json!({"description": model, "prompt": format!("CHILD {model}"), "subagent_type": "plan", "model": model}))
    });
    let script = main_agent_calls(calls).otherwise(reply::text("FINAL"));
    let run = run_with(&world, "anthropic", script, &["--output-format", "json"]);
    let root = run.ended.stdout_json()["task_id"].as_str().unwrap().to_owned();

    let recorded = world.sortie(["tasks", "show", &root, "--json"]).run().stdout_json();
    let children = recorded["children"].as_array().unwrap();
    let ids: BTreeSet<&str> = children.iter().map(|child| child["task_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{recorded:#}");
    assert!(ids.iter().all(|id| id.starts_with("agent-") && *id != root), "{ids:?}");
    let models: Vec<&Value> = children.iter().map(|child| &child["model"]).collect();
    let expected = [json!({"route": "main", "id": "test-model"}), json!({"route": "light", "id": "light-model"})];
    assert_eq!(models, expected.iter().collect::<Vec<_>>());
}
