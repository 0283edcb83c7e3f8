//! Sub-agents of one reply are admitted in the order of its calls: to slots, to limits on starts and on children.

use serde_json::json;
use sortie_engine::EngineSettings;
use sortie_protocol::{Fact, Limits, TaskRequest};
use sortie_testkit::{Script, reply, when};

use crate::support::{Plan, World, ask};

const CHILDREN: usize = 8;

/// Main agent that delegates as often as this in one reply.
fn delegating(in_background: bool) -> Script {
    let task = |number: usize| {
        let prompt = format!("CHILD {number}");
        let brief = json!({"description": prompt, "prompt": prompt, "run_in_background": in_background});
        reply::call("Task", brief)
    };
    Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls((0..CHILDREN).map(task)))
        .on(when::prompt_contains("MAIN"), reply::text("All is done."))
        .otherwise(reply::text("A report."))
}

/// Prompts of the children in the order in which their model calls began.
fn asked(world: &World) -> Vec<String> {
    let briefs = world.model.seen().into_iter().map(|seen| format!("{:?}", seen.messages.first()));
    briefs.filter_map(|brief| Some(brief[brief.find("CHILD ")?..][..7].to_owned())).collect()
}

fn in_order(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("CHILD {number}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn with_one_slot_sub_agents_run_in_the_order_of_the_calls() {
    for in_background in [false, true] {
        for _ in 0..10 {
            let rules = EngineSettings { max_concurrent: 1, ..EngineSettings::default() };
            let world = Plan::script(delegating(in_background)).rules(rules).build();
            world.run(ask("MAIN")).await;
            assert_eq!(asked(&world), in_order(CHILDREN), "in background: {in_background}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_first_calls_are_the_ones_that_a_limit_admits() {
    let rate = EngineSettings { delegations_per_minute: Some(3), ..EngineSettings::default() };
    let few = Limits { max_children: Some(3), ..Limits::default() };
    for (rules, limits) in [(rate, Limits::default()), (EngineSettings::default(), few)] {
        for _ in 0..10 {
            let world = Plan::script(delegating(false)).rules(rules.clone()).build();
            world.run(TaskRequest { limits, ..ask("MAIN") }).await;
            let mut asked = asked(&world);
            asked.sort();
            assert_eq!(asked, in_order(3));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_of_a_library_get_their_slots_in_the_order_of_their_starts() {
    let rules = EngineSettings { max_concurrent: 1, ..EngineSettings::default() };
    let world = Plan::script(Script::always(reply::text("A report."))).rules(rules).build();
    let mut running = Vec::new();
    for prompt in in_order(CHILDREN) {
        let request = TaskRequest { agent: "explore".to_owned(), ..ask(&prompt) };
        running.push(world.engine.task(request).await.expect("it starts"));
    }
    for running in running {
        running.outcome().await.expect("the journal works");
    }
    assert_eq!(asked(&world), in_order(CHILDREN));
}

#[tokio::test]
async fn a_refused_call_holds_up_no_later_one() {
    let task = |agent: &str, prompt: &str| {
        reply::call("Task", json!({"description": prompt, "prompt": prompt, "subagent_type": agent}))
    };
    let calls = [task("nobody", "CHILD 0"), reply::call("Task", json!({})), task("explore", "CHILD 2")];
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls(calls))
        .otherwise(reply::text("All is done."));
    let world = Plan::script(script).build();
    world.run(ask("MAIN")).await;
    let started = world.events().into_iter().filter(|event| matches!(event.fact, Fact::ChildStarted { .. }));
    assert_eq!((started.count(), asked(&world)), (1, vec!["CHILD 2".to_owned()]));
}
