//! Clean contexts: what a sub-agent sees, and how little of it reaches the main agent.

use serde_json::json;
use sortie_testkit::{Script, reply, when};

use super::{result, task};
use crate::world::{DONE, QUESTION, Run, WIRES, World, main_agent_calls};

#[test]
fn s3_01_s3_25_s3_53_a_sub_agent_starts_with_its_role_and_its_prompt_alone() {
    for wire in WIRES {
        let world = World::new();
        world.write("workspace/AGENTS.md", "INSTRUCTION of the project\n");
        let script = Script::new()
            .on(
                when::prompt_contains(QUESTION).turn(0),
                reply::text("THOUGHT").calls([task("Explore", " FIRST\n brief ")]),
            )
            .on(when::prompt_contains(QUESTION).turn(1), reply::calls([task("Plan", "SECOND brief")]))
            .on(when::prompt_contains(QUESTION), reply::text(DONE))
            .on(when::prompt_contains("FIRST"), reply::text("FIRST report"))
            .otherwise(reply::text("SECOND report"));
        let run = Run::of(&world, "typed", wire, script);
        assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
        assert!(run.main_agent()[0].contains("INSTRUCTION of the project"));
        let (explore, plan) = (&run.sub_agent("FIRST")[0], &run.sub_agent("SECOND")[0]);
        assert_eq!((explore.prompt.as_str(), explore.messages), (" FIRST\n brief ", 1));
        assert_eq!((plan.prompt.as_str(), plan.messages), ("SECOND brief", 1));
        assert_ne!(explore.system, plan.system);
        for words in [QUESTION, "THOUGHT", "INSTRUCTION of the project", &run.main_agent()[0].system] {
            assert!(!explore.contains(words) && !plan.contains(words), "{words}");
        }
        assert!(!plan.contains("FIRST"), "nothing of the one before");
    }
}

#[test]
fn s3_26_only_the_last_message_of_the_work_reaches_the_main_agent() {
    for wire in WIRES {
        let script = main_agent_calls([task("Explore", "CHILD looks")])
            .on(
                when::turn(0),
                reply::text("NARRATION").calls([reply::call("Read", json!({"file_path": "src/auth.rs"}))]),
            )
            .otherwise(reply::text("It is in src/auth.rs."));
        let run = Run::of(&World::new(), "typed", wire, script);
        assert!(run.sub_agents()[1].contains("pub fn login()"), "it did read the file");
        assert_eq!(result(&run)["result"], "It is in src/auth.rs.");
        for heard in run.main_agent() {
            assert!(!heard.contains("pub fn login()") && !heard.contains("NARRATION"), "{heard:?}");
        }
    }
}

#[test]
fn s3_28_exploring_through_a_sub_agent_leaves_the_main_agent_less_than_half_of_the_tokens() {
    let world = World::new();
    let files = 6;
    for number in 0..files {
        world.write(&format!("workspace/src/part_{number}.rs"), &format!("fn part_{number}() {{}}\n").repeat(100));
    }
    let reads =
        |number: u32| reply::calls([reply::call("Read", json!({"file_path": format!("src/part_{number}.rs")}))]);
    let reading = |script: Script, prompt: &str| {
        (0..files).fold(script, |script, turn| script.on(when::prompt_contains(prompt).turn(turn), reads(turn)))
    };
    let plain = reading(Script::new(), QUESTION).otherwise(reply::text(DONE));
    let delegated =
        reading(main_agent_calls([task("Explore", "CHILD looks")]), "CHILD").otherwise(reply::text("Six parts."));
    // Counted in the main agent's requests, at four bytes a token.
    let tokens = |script: Script| {
        let run = Run::of(&world, "typed", "anthropic", script);
        assert_eq!(run.ended.stdout, format!("{DONE}\n"), "{:#?}", run.ended);
        run.main_agent().iter().map(|heard| heard.body.to_string().len() / 4).sum::<usize>()
    };
    let (plain, delegated) = (tokens(plain), tokens(delegated));
    assert!(delegated * 100 <= plain * 45, "{delegated} of {plain} tokens");
}

#[test]
fn s3_30_a_sub_agent_runs_the_same_loop_with_all_its_abilities() {
    // Retries, parallel calls, an unknown tool and a broken argument: a sub-agent survives them as a main agent does.
    let looks = [
        reply::call("Read", json!({"file_path": "src/main.rs"})),
        reply::call("Glob", json!({"pattern": "**/*.rs"})),
        reply::call("Teleport", json!({})),
        reply::call("Read", json!({"path": 7})),
    ];
    let work = |script: Script, prompt: &str| {
        script
            .once(when::prompt_contains(prompt).turn(0), reply::status(500))
            .on(when::prompt_contains(prompt).turn(0), reply::calls(looks.clone()))
    };
    let plain = work(Script::new(), QUESTION).otherwise(reply::text("Done."));
    let delegated =
        work(main_agent_calls([task("general-purpose", "CHILD looks")]), "CHILD").otherwise(reply::text("Done."));
    let run = |script| Run::with(&World::new(), "typed", "anthropic", script, &["--set", "llm.retry_base_ms=1"]);
    let (plain, delegated) = (run(plain), run(delegated));
    assert_eq!(plain.ended.stdout, "Done.\n");
    assert_eq!(result(&delegated)["result"], "Done.");
    let (own, childs) = (plain.main_agent(), delegated.sub_agents());
    assert_eq!((own.len(), childs.len()), (3, 3), "the refused try, the calls, the answer");
    let texts =
        |heard: &crate::world::Heard| heard.results.iter().map(|result| result.text.clone()).collect::<Vec<_>>();
    let unnamed = |texts: Vec<String>| texts.into_iter().filter(|text| !text.contains("Teleport")).collect::<Vec<_>>();
    assert_eq!(unnamed(texts(&own[2])), unnamed(texts(&childs[2])), "the same answers, but for the list of tools");
    assert_eq!(texts(&childs[2]).len(), 4);
}

#[test]
fn s3_31_a_run_without_delegation_is_the_same_with_and_without_the_tool() {
    for wire in WIRES {
        let script = || {
            Script::new()
                .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]))
                .otherwise(reply::text("It starts there."))
        };
        let world = World::new();
        let with = Run::of(&world, "typed", wire, script());
        let without = Run::with(&world, "typed", wire, script(), &["--set", "task_tool.enabled=false"]);
        assert_eq!((with.ended.code, &with.ended.stdout), (0, &without.ended.stdout));
        let (with, without) = (with.main_agent(), without.main_agent());
        assert!(with[0].offers("Task") && !without[0].offers("Task"));
        assert_eq!(with[1].results, without[1].results);
        let delegation = ["Task", "TaskList", "TaskOutput", "TaskStop", "SendMessage", "Note"];
        let others: Vec<&str> = with[0].tool_names().into_iter().filter(|tool| !delegation.contains(tool)).collect();
        assert_eq!((others.len() + delegation.len(), others), (with[0].tools.len(), without[0].tool_names()));
    }
}
