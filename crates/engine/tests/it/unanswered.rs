//! Questions that nobody answers: a task in the background does not wait for ever, one that is waited for does.

use std::time::Duration;

use serde_json::{Value, json};
use sortie_engine::{Permissions, Rules};
use sortie_protocol::{Fact, Status};
use sortie_testkit::{Script, reply, when};

use super::permissions::{Person, asking};
use super::support::{Plan, World, ask};

/// A main agent with a child that wants to write a file, and a grandchild that does, where the child delegates.
fn world(background: bool, child: (&str, Value)) -> World {
    let task = json!({
        "description": "Part", "prompt": "CHILD", "subagent_type": "general-purpose", "run_in_background": background
    });
    let write = reply::call("Write", json!({"file_path": "a.md", "content": "new"}));
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call(child.0, child.1)]))
        .on(when::prompt_contains("LEAF").turn(0), reply::calls([write]))
        .otherwise(reply::text("Done."));
    let permissions = Permissions { answer_within: Duration::from_secs(7), ..asking(&Person::who_says([])) };
    Plan::script(script).rules(Rules { max_depth: 3, ..Rules::default() }).permissions(permissions).build()
}

fn write() -> (&'static str, Value) {
    ("Write", json!({"file_path": "a.md", "content": "new"}))
}

fn refusals(world: &World) -> Vec<String> {
    let refused = |fact| match fact {
        Fact::CallFinished { output, refused: true } => Some(output.output.for_model),
        _ => None,
    };
    world.events().into_iter().filter_map(|event| refused(event.fact)).collect()
}

const REFUSAL: &str = "Write was not run: nobody answered within 7 s, and a task in the background waits no longer \
                       (`permissions.answer_seconds`)";

#[tokio::test(start_paused = true)]
async fn in_the_background_and_below_it_no_answer_is_a_no_after_a_while() {
    let below = ("Task", json!({"description": "Leaf", "prompt": "LEAF", "subagent_type": "general-purpose"}));
    for child in [write(), below] {
        let world = world(true, child);
        let outcome = world.run(ask("MAIN")).await;
        assert_eq!(outcome.status, Status::Completed);
        assert_eq!(refusals(&world), [REFUSAL]);
        assert!(!world.home.path().join("a.md").exists());
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_is_waited_for_waits_for_the_answer() {
    let world = world(false, write());
    let running = world.start(ask("MAIN")).await;
    let stop = running.stopper();
    tokio::spawn(async move {
        // Sleeps on purpose: the clock is paused.
        tokio::time::sleep(Duration::from_mins(3)).await;
        stop.cancel();
    });
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(refusals(&world), ["Write was not run: the task was stopped before anybody answered"]);
}
