//! Limits of a sub-agent's work.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedPart, reply, when};

use super::{result, task, with};
use crate::world::{Run, World, main_agent_calls};

/// Main agent with this call, and a sub-agent that looks around until told to stop.
fn endless(call: ScriptedPart) -> Script {
    main_agent_calls([call])
        .on(when::last_contains("limit"), reply::text("So far: nothing."))
        // Refused or not, it is a turn.
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
fn s3_21_s3_52_each_type_has_its_number_of_turns_and_one_call_to_report() {
    for (agent, turns) in [("Explore", 10), ("Plan", 5), ("Bash", 20), ("general-purpose", 20)] {
        let run = Run::of(&World::new(), "typed", "anthropic", endless(task(agent, "CHILD works")));
        let mut result = result(&run);
        // Bash lists no directory, and says how often it tried.
        let refused = result.as_object_mut().and_then(|result| result.shift_remove("refused"));
        assert_eq!(refused.map(|refused| refused[0]["count"].clone()), (agent == "Bash").then(|| turns.into()));
        assert_eq!(result, stopped());
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
fn s3_08_a_call_can_set_more_turns_than_a_type_usually_has() {
    for (asked, turns) in [(json!(12), 12), (json!(1000), 100)] {
        let call = reply::call("Task", with("max_turns", asked.clone()));
        let run = Run::of(&World::new(), "typed", "anthropic", endless(call));
        assert_eq!(run.sub_agents().len(), turns + 1, "{asked}");
        let error = result(&run)["error"].as_str().unwrap().to_owned();
        let fewer = ": 1000 turns were asked for; `explore` has 100";
        assert_eq!(error.ends_with(fewer), turns == 100, "{error}");
    }
}

#[test]
fn s3_08_the_number_in_an_agents_own_file_is_a_bound_and_the_answer_says_so() {
    let world = World::new();
    let text = "---\nname: poet\ndescription: Writes poems\nmaxTurns: 2\n---\nYou rhyme.\n";
    world.write("workspace/.sortie/agents/poet.md", text);
    let mut arguments = with("max_turns", json!(30));
    arguments["subagent_type"] = json!("poet");
    let run = Run::of(&world, "typed", "anthropic", endless(reply::call("Task", arguments)));
    assert_eq!(run.sub_agents().len(), 3);
    let error = "the turn limit was reached before the work was done: 30 turns were asked for; `poet` has 2";
    assert_eq!(result(&run), json!({"success": false, "result": "So far: nothing.", "error": error}));
}

#[test]
fn s3_08_an_agent_file_without_a_turn_limit_can_get_more_than_the_default() {
    for (asked, turns, given) in [(None, 20, "20"), (Some(json!(25)), 25, "25"), (Some(json!(1e30)), 100, "1e+30")] {
        let world = World::new();
        world.write("workspace/.sortie/agents/poet.md", "---\nname: poet\ndescription: Writes\n---\nYou rhyme.\n");
        let mut arguments = with("max_turns", asked.unwrap_or(Value::Null));
        arguments["subagent_type"] = json!("poet");
        let run = Run::of(&world, "typed", "anthropic", endless(reply::call("Task", arguments)));
        assert_eq!(run.sub_agents().len(), turns + 1, "{given}");
        let error = result(&run)["error"].as_str().unwrap().to_owned();
        let fewer = format!(": {given} turns were asked for; `poet` has 100");
        assert_eq!(error.ends_with(&fewer), turns == 100, "{error}");
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
