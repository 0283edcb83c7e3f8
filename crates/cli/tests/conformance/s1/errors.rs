//! The six error conditions, word for word, with the codes of their events.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sortie_testkit::{Fault, Script, ScriptedServer, reply, when};

use super::{REVIEWER, agent_with, answer, arguments, failed, not_delegated, result, task, with_agents};
use crate::entries::{TaskCall, at_every_entry};
use crate::program::wait_for;
use crate::world::{DONE, QUESTION, Run, World, main_agent_calls};

/// Runs the script, and checks the result of the main agent's call and that the agent continued.
fn check(world: &World, script: Script, expected: &Value) -> Run {
    let run = Run::with(world, "result", "anthropic", script, &["--set", "task_tool.default_timeout_seconds=1"]);
    assert_eq!(&result(&run), expected);
    assert!(run.result().is_error);
    run
}

/// Main agent that delegates once; nothing else is asked.
fn one_call(agent: &str) -> Script {
    main_agent_calls([task(agent, "CHILD works")])
}

#[test]
fn s1_15_without_agents_delegation_fails() {
    let expected = not_delegated("No subagents available for delegation");
    for wanted in ["code-reviewer", "explore", "general-purpose"] {
        let run = check(&World::new(), one_call(wanted), &expected);
        assert_eq!(run.sub_agents().len(), 0);
    }
    let server = ScriptedServer::start(Script::new()).unwrap();
    let ended = answer(&World::new(), &server, &arguments("explore", "p").to_string());
    assert_eq!((ended.code, ended.stdout_json()), (1, expected));
}

#[test]
fn s1_14_s1_16_an_unknown_agent_is_answered_with_the_available_ones() {
    let listed = "Available: code-reviewer, documentation-writer, test-generator";
    let expected = not_delegated(&format!("Subagent 'unknown-type' not found. {listed}"));
    let script = main_agent_calls([reply::call(
        "Task",
        json!({"description": "xyzzy plugh", "prompt": "CHILD works", "subagent_type": "unknown-type"}),
    )]);
    let run = check(&with_agents(), script, &expected);
    assert_eq!(run.sub_agents().len(), 0);
}

#[test]
fn s1_17_an_agent_with_an_unknown_model_is_not_initialized() {
    let world = with_agents();
    agent_with(&world, "lost", "description: Lost\nmodel: nowhere-99");
    let server = ScriptedServer::start(Script::new()).unwrap();
    // Without a main route: an id that no route serves.
    let args = ["task", "--contract", "result", "--json", &arguments("lost", "p").to_string()];
    let given = world.sortie(args).run().stdout_json();
    let error = given["error"].as_str().unwrap();
    assert!(error.starts_with("Failed to initialize subagent: agent lost: unknown model `nowhere-99`"), "{error}");
    assert_eq!(given, not_delegated(error));
    assert!(server.requests().is_empty());
}

#[test]
fn s1_17_an_agent_whose_file_is_broken_is_not_initialized() {
    for others in [with_agents(), World::new()] {
        agent_with(&others, "broken", "description: Reviews TypeScript code\nwibble: 3");
        let run = Run::of(&others, "result", "anthropic", one_call("broken").otherwise(reply::text("Done.")));
        let given = result(&run);
        let error = given["error"].as_str().unwrap();
        let words = ["Failed to initialize subagent: ", "/broken.md:4: ", "wibble"];
        assert!(words.iter().all(|words| error.contains(words)), "{error}");
        assert_eq!((&given, run.sub_agents().len()), (&not_delegated(error), 0));
    }
}

#[test]
fn s1_17_an_agent_whose_model_refuses_it_from_the_start_is_not_initialized() {
    for refusal in [401, 403, 404] {
        let script = one_call(REVIEWER).otherwise(reply::status(refusal));
        let run = Run::of(&with_agents(), "result", "anthropic", script);
        let given = result(&run);
        let error = given["error"].as_str().unwrap();
        assert!(
            error.starts_with("Failed to initialize subagent: ") && error.contains(&refusal.to_string()),
            "{error}"
        );
        assert_eq!(given, not_delegated(error));
    }
}

#[test]
fn s1_18_a_task_out_of_time_says_how_long_it_had_and_its_connection_is_closed() {
    let expected = failed("Subagent task timed out after 1000ms", "Task failed: timed out after 1000ms");
    for stalling in [reply::never(), reply::text("word ".repeat(99)).fault(Fault::SlowDrip { ms: 200 })] {
        let script = Script::new()
            .on(when::prompt_contains(QUESTION).turn(0), reply::calls([task(REVIEWER, "CHILD works")]))
            .on(when::prompt_contains(QUESTION), reply::text(DONE).held_by("parent"))
            .otherwise(stalling);
        let (world, server) = (with_agents(), ScriptedServer::start(script).unwrap());
        let args = ["run", "--contract", "result", "--set", "task_tool.default_timeout_seconds=1", QUESTION];
        let live = world.sortie(args).on(&server, "anthropic").start();
        // While its parent continues: at the end of a process everything is closed.
        wait_for(&server, |traffic| traffic.calls == 3 && traffic.in_flight == 1 && traffic.abandoned == 1);
        server.gate("parent").open();
        let run = Run { ended: live.wait(), server };
        assert_eq!((result(&run), run.sub_agents().len()), (expected.clone(), 1));
        assert!(run.result().is_error);
    }
}

#[test]
fn s1_19_s1_44_a_circle_of_two_is_prevented_with_its_chain() {
    let script = one_call(REVIEWER)
        .once(when::prompt_contains("CHILD works"), reply::calls([task("test-generator", "SECOND level")]))
        .once(when::prompt_contains("SECOND level"), reply::calls([task(REVIEWER, "CIRCLE works")]))
        .on(when::prompt_contains("SECOND level"), reply::text("Without the reviewer."))
        .otherwise(reply::text("Done."));
    let run = Run::of(&with_agents(), "result", "anthropic", script);
    assert_eq!(result(&run)["content"], "Done.");
    assert_eq!(run.sub_agent("CIRCLE").len(), 0);
    let second = run.sub_agent("SECOND level");
    assert_eq!(
        second[1].results[0].json(),
        not_delegated("Circular delegation prevented: code-reviewer -> test-generator -> code-reviewer")
    );
}

#[test]
fn s1_19_s1_44_a_deeper_circle_is_reported_with_its_whole_chain() {
    let script = one_call("documentation-writer")
        .once(when::prompt_contains("CHILD works"), reply::calls([task(REVIEWER, "SECOND level")]))
        .once(when::prompt_contains("SECOND level"), reply::calls([task(REVIEWER, "CIRCLE works")]))
        .otherwise(reply::text("Done."));
    let run = Run::of(&with_agents(), "result", "anthropic", script);
    let given = run.sub_agent("SECOND level")[1].results[0].json();
    let chain = "documentation-writer -> code-reviewer -> code-reviewer";
    assert_eq!(given, not_delegated(&format!("Circular delegation prevented: {chain}")));
}

#[test]
fn s1_19_s1_44_an_agent_cannot_delegate_to_itself() {
    let script = one_call(REVIEWER)
        .once(when::prompt_contains("CHILD works"), reply::calls([task(REVIEWER, "CIRCLE works")]))
        .otherwise(reply::text("Done."));
    let run = Run::of(&with_agents(), "result", "anthropic", script);
    assert_eq!(result(&run)["content"], "Done.");
    assert_eq!(run.sub_agent("CIRCLE").len(), 0);
    let given = run.sub_agent("CHILD works")[1].results[0].json();
    assert_eq!(given, not_delegated("Circular delegation prevented: code-reviewer -> code-reviewer"));
}

#[test]
fn s1_44_a_chain_without_a_circle_ends_at_the_depth_limit() {
    let script = one_call(REVIEWER)
        .once(when::prompt_contains("CHILD works"), reply::calls([task("test-generator", "SECOND level")]))
        .once(when::prompt_contains("SECOND level"), reply::calls([task("documentation-writer", "THIRD level")]))
        .otherwise(reply::text("Done."));
    let run = Run::of(&with_agents(), "result", "anthropic", script);
    assert_eq!(result(&run)["content"], "Done.");
    assert_eq!(run.sub_agent("THIRD level").len(), 0);
    let given = run.sub_agent("SECOND level")[1].results[0].json();
    assert_eq!(given, not_delegated("maximum sub-agent depth exceeded"));
}

/// World in which `narrow` lacks what `searcher` needs.
fn with_a_narrow_agent() -> World {
    let world = with_agents();
    agent_with(&world, "narrow", "description: Reads and delegates\ntools: Read, Task");
    agent_with(&world, "searcher", "description: Searches\ntools: Grep, Glob, Read");
    world
}

fn narrow_delegates_to_searcher() -> Script {
    one_call("narrow")
        .once(when::prompt_contains("CHILD works"), reply::calls([task("searcher", "SEARCH")]))
        .otherwise(reply::text("Done."))
}

#[test]
fn s1_20_an_agent_that_needs_tools_its_parent_may_not_use_is_not_started() {
    let run = Run::of(&with_a_narrow_agent(), "result", "anthropic", narrow_delegates_to_searcher());
    assert_eq!(result(&run)["content"], "Done.");
    assert_eq!(run.sub_agent("SEARCH").len(), 0);
    let given = run.sub_agent("CHILD works")[1].results[0].json();
    assert_eq!(given, not_delegated("Subagent lacks permission for required tools: Grep, Glob"));
}

#[test]
fn s1_20_an_agent_lacking_a_tool_that_its_file_names_is_refused_at_every_entry() {
    let world = with_agents();
    agent_with(&world, "searcher", "description: Searches\ntools: Read, Grep, Glob");
    agent_with(&world, "builder", "description: Builds\ntools: Read, Write, Bash, Edit(a/**), Edit(b/**)");
    let denying = world.write("denying.toml", "[permissions]\ndeny = [\"Bash\", \"Glob\"]\n");
    let config = ["--config", denying.to_str().unwrap()];
    for (agent, flags, missing) in [
        ("searcher", &["--deny", "Grep"][..], Some("Grep")),
        ("searcher", &["--deny", "Grep(secret*)"], None),
        ("searcher", &["--permission-mode", "plan"], None),
        ("searcher", &config, Some("Glob")),
        ("builder", &["--deny", "Bash(rm:*)"], None),
        ("builder", &["--deny", "Bash", "--deny", "Write"], Some("Write, Bash")),
        ("builder", &["--permission-mode", "plan"], Some("Write, Bash, Edit")),
        ("builder", &config, Some("Bash")),
    ] {
        let (arguments, child) = (arguments(agent, "CHILD works"), reply::text("Done."));
        let call = TaskCall { contract: "result", arguments, flags, child, models: None };
        for answer in at_every_entry(&world, &call) {
            let (entry, asked) = (answer.entry, answer.children.len());
            match missing {
                Some(missing) => {
                    let refusal = format!("Subagent lacks permission for required tools: {missing}");
                    assert_eq!((answer.json(), asked), (not_delegated(&refusal), 0), "{entry} {agent} {flags:?}");
                    assert!(answer.is_error, "{entry} {agent} {flags:?}");
                }
                None => assert_eq!((&answer.json()["success"], asked), (&json!(true), 1), "{entry} {agent} {flags:?}"),
            }
        }
    }
}

/// Codes and errors of all finished Task calls, one a line, from the event stream.
fn codes(world: &World, script: Script) -> String {
    let flags = ["--output-format", "stream-json", "--set", "task_tool.default_timeout_seconds=1"];
    let run = Run::with(world, "result", "anthropic", script, &flags);
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    let events = run.ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers = events.filter(|event| event["type"] == "call_finished");
    answers.fold(String::new(), |mut lines, event| {
        let answer: Value = serde_json::from_str(event["for_model"].as_str().unwrap()).unwrap();
        let error = answer["error"].as_str().unwrap_or_default();
        writeln!(lines, "{} {}", event["code"], error.split([':', '.']).next().unwrap()).unwrap();
        lines
    })
}

#[test]
fn s1_21_events_carry_the_nearest_http_code_and_results_do_not() {
    let world = with_a_narrow_agent();
    agent_with(&world, "lost", "description: Lost\nmodel: main");
    let circle = one_call(REVIEWER)
        .once(when::prompt_contains("CHILD works"), reply::calls([task(REVIEWER, "CIRCLE works")]))
        .otherwise(reply::text("Done."));
    let unknown = main_agent_calls([reply::call(
        "Task",
        json!({"description": "xyzzy", "prompt": "CHILD works", "subagent_type": "unknown-type"}),
    )]);
    for (world, script, expected) in [
        (&World::new(), one_call(REVIEWER), "404 No subagents available for delegation\n"),
        (&world, unknown, "404 Subagent 'unknown-type' not found\n"),
        (&world, one_call("lost").otherwise(reply::status(401)), "500 Failed to initialize subagent\n"),
        (&world, one_call(REVIEWER).otherwise(reply::never()), "408 Subagent task timed out after 1000ms\n"),
        (&world, circle, "409 Circular delegation prevented\nnull \n"),
        (&world, narrow_delegates_to_searcher(), "403 Subagent lacks permission for required tools\nnull \n"),
    ] {
        assert_eq!(codes(world, script), expected);
    }
}
