//! How long a sub-agent goes on.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use super::{result, task, with};
use crate::world::{Run, World, main_agent_calls};

/// A main agent with this call, and a sub-agent that never stops looking unless it is told to.
fn endless(call: ScriptedPart) -> Script {
    main_agent_calls([call])
        .on(when::last_contains("limit"), reply::text("So far: nothing."))
        .otherwise(reply::calls([reply::call("LS", json!({}))]))
}

fn stopped() -> Value {
    json!({
        "success": false,
        "result": "So far: nothing.",
        "error": "the turn limit was reached before the work was done",
    })
}

#[test]
fn s3_52_explore_plan_and_general_purpose_have_their_numbers_of_turns_and_one_call_to_report() {
    for (agent, turns) in [("Explore", 10), ("Plan", 5), ("general-purpose", 20)] {
        let run = Run::of(&World::new(), "typed", "anthropic", endless(task(agent, "CHILD works")));
        assert_eq!(result(&run), stopped());
        assert_eq!(run.sub_agents().len(), turns + 1, "{agent}");
    }
}

#[test]
fn s3_08_a_call_can_set_fewer_turns() {
    for (asked, turns) in [(json!(2), 2), (json!(1), 1), (json!(2.5), 3)] {
        let run =
            Run::of(&World::new(), "typed", "openai-chat", endless(reply::call("Task", with("max_turns", asked))));
        assert_eq!(result(&run), stopped());
        assert_eq!(run.sub_agents().len(), turns + 1);
    }
}

#[test]
fn s3_52_time_ends_a_sub_agent_and_closes_its_connection() {
    let script = main_agent_calls([task("Explore", "CHILD works")]).otherwise(reply::never());
    let flags = ["--set", "task_tool.default_timeout_seconds=1"];
    let run = Run::with(&World::new(), "typed", "anthropic", script, &flags);
    assert_eq!(result(&run), json!({"success": false, "error": "timed out after 1000ms"}));
    assert_eq!((run.sub_agents().len(), run.server.traffic().abandoned), (1, 1));
}

#[test]
fn s3_52_text_that_came_before_the_time_ran_out_is_kept() {
    let script = main_agent_calls([task("Explore", "CHILD works")])
        .on(when::turn(0), reply::text("A first finding.").calls([reply::call("LS", json!({}))]))
        .otherwise(reply::never());
    let flags = ["--set", "task_tool.default_timeout_seconds=1"];
    let run = Run::with(&World::new(), "typed", "anthropic", script, &flags);
    let given = result(&run);
    assert_eq!((&given["success"], &given["result"]), (&json!(false), &json!("A first finding.")));
    assert!(given["error"].as_str().unwrap().starts_with("timed out after 1"), "{given}");
}
