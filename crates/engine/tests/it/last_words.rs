//! Answers that did not end a task because it waited for mail: they belong to its result, now and after a crash.

use std::sync::Arc;

use serde_json::json;
use sortie_protocol::{Fact, Status};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use super::relic::Relic;
use super::remains::{ROOT, Site, left_behind, resume};
use super::support::{Plan, World, ask};

fn task(prompt: &str, is_apart: bool) -> ScriptedPart {
    let arguments = json!({
        "description": "Part", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": is_apart
    });
    reply::call("Task", arguments)
}

/// A child that answers twice, since its own child reports in between; so does the main agent.
fn twice() -> Script {
    Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("MIDDLE", true)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::text("Meanwhile: four."))
        .on(when::prompt_contains("MAIN"), reply::text("And the rest."))
        .on(when::prompt_contains("MIDDLE").turn(0), reply::calls([task("LEAF", true)]))
        .on(when::prompt_contains("MIDDLE").turn(1), reply::text("The first half."))
        .on(when::prompt_contains("MIDDLE"), reply::text("The second half."))
        .otherwise(reply::text("Here.").after_ms(100))
}

fn endings(world: &World) -> Vec<String> {
    let ended = |fact: &Fact| match fact {
        Fact::TaskEnded { outcome } => Some(outcome.text.clone()),
        _ => None,
    };
    world.events().iter().filter_map(|event| ended(&event.fact)).collect()
}

#[tokio::test(start_paused = true)]
async fn answers_before_a_report_belong_to_the_result_of_main_agent_and_child() {
    let world = Plan::script(twice()).build();
    let outcome = world.run(ask("MAIN")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Meanwhile: four.\n\nAnd the rest."));
    assert_eq!(endings(&world), ["Here.", "The first half.\n\nThe second half.", "Meanwhile: four.\n\nAnd the rest."]);
    let told = format!("{:?}", world.seen_by("MAIN").last());
    assert!(told.contains("The first half."), "the one above reads all of it: {told}");
}

#[tokio::test(start_paused = true)]
async fn a_task_stopped_after_a_wake_up_keeps_its_answers() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task("FIRST", true)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::text("Meanwhile: four."))
        .on(when::prompt_contains("MAIN"), reply::status(401))
        .otherwise(reply::text("Here.").after_ms(100));
    let outcome = Plan::script(script).build().run(ask("MAIN")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Failed, "Meanwhile: four."));
}

#[tokio::test(start_paused = true)]
async fn earlier_answers_belong_to_the_result_after_a_crash_and_a_new_prompt() {
    let site = Site::new();
    let appends = site.whole(twice()).await;
    for (kind, prompt) in [("task_parked", None), ("mail_read", None), ("task_parked", Some("MORE"))] {
        let journal = Arc::new(Relic::of(&left_behind(&appends, ROOT, kind)).await);
        let (engine, _) = site.engine(Plan::script(twice()), &journal);
        let text = resume(&engine, prompt).await.text;
        assert!(text.starts_with("Meanwhile: four.\n\nAnd the rest."), "after {kind}: {text}");
    }
}
