//! The specification's outlook: task templates, cached results, and a model that fits the task.

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use super::{CONTRACT, task};
use crate::program::wait_for;
use crate::world::{DONE, QUESTION, Run, WIRES, World, main_agent_calls};

#[test]
fn s2_82_a_task_that_names_a_template_gets_its_text() {
    let world = World::new();
    let text = "---\ndescription: Write tests for one file\narguments: [path]\n---\nWrite tests for {{path}}.\n";
    world.write("workspace/.sortie/templates/try-file.md", text);
    for wire in WIRES {
        let script = main_agent_calls([task("/try-file path=src/a.rs")]).otherwise(reply::text("Written."));
        let run = Run::of(&world, CONTRACT, wire, script);
        assert_eq!(run.result().json()["summary"], "Written.");
        let child = run.sub_agents().remove(0);
        assert!(
            child.prompt.contains("Write tests for src/a.rs.") && !child.prompt.contains("/try-file"),
            "{}",
            child.prompt
        );
        let description = run.main_agent().remove(0).tool("task").description.clone();
        assert!(description.contains("/try-file path=: Write tests for one file"), "{description}");
    }
}

#[test]
fn s2_82_templates_for_common_tasks_are_predefined() {
    let world = World::new();
    for (call, words) in [
        ("/test-file path=src/a.rs", "Write tests for `src/a.rs`"),
        ("/review", "Review the uncommitted changes"),
        ("/explain what=login", "Explain login to a developer"),
        ("/fix-failing-test test=login_fails", "The test `login_fails` fails."),
        ("/summarise-changes", "Summarise the changes since the last tag"),
        ("/write-docs what=login", "Document login in"),
    ] {
        let script = main_agent_calls([task(call)]).otherwise(reply::text("Done."));
        let run = Run::of(&world, CONTRACT, "anthropic", script);
        assert_eq!(run.result().json()["summary"], "Done.");
        assert!(run.sub_agents()[0].prompt.contains(words), "{call}: {}", run.sub_agents()[0].prompt);
    }
}

#[test]
fn s2_83_an_identical_task_on_the_same_files_is_answered_without_a_model() {
    let world = World::new();
    let script = main_agent_calls([task("CHILD looks")]).otherwise(reply::text("It is there."));
    let keeping: &[&str] = &["--set", "task_tool.cache=true"];
    let mut run = Run::of(&world, CONTRACT, "anthropic", script);
    let mut n_asked = vec![run.sub_agents().len()];
    for flags in [&[], keeping, keeping] {
        run = run.again(&world, CONTRACT, "anthropic", flags);
        n_asked.push(run.sub_agents().len());
    }
    assert_eq!(n_asked, [1, 2, 3, 3], "off by default");
    let told = run.result().json()["summary"].to_string();
    assert!(told.starts_with(r#""It is there.\n[answered from "#), "{told}");
    world.write("workspace/src/auth.rs", "// another\n");
    for _ in 0..2 {
        run = run.again(&world, CONTRACT, "anthropic", keeping);
        assert_eq!(run.ended.stdout, format!("{DONE}\n"));
        assert_eq!(run.sub_agents().len(), 4, "a change is noticed");
    }
}

#[test]
fn s2_86_a_rule_chooses_a_model_and_the_result_says_which_and_why() {
    let world = World::new();
    for (agent, brief, route, why) in [
        ("explore", "CHILD looks", "light", "`explore` only reads, and its brief is short"),
        ("general-purpose", "CHILD works", "main", "`general-purpose` may do more than read"),
    ] {
        let call = json!({"description": "d", "prompt": brief, "subagent_type": agent, "model": "auto"});
        let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
        let task = world.sortie(["task", "--json", &call.to_string()]).on(&server, "anthropic");
        let told = task.env("LIGHT_LLM_MODEL_ID", "small").run().stdout_json();
        assert_eq!(told["model"]["route"], route);
        assert_eq!(told["notices"], json!([format!("the model `auto` is the route `{route}`: {why}")]));
        let served = if route == "light" { "small" } else { "test-model" };
        assert_eq!(server.requests()[0].body["model"], served);
    }
}

#[test]
fn s2_86_the_rule_can_apply_to_all_sub_agents_and_a_call_overrides_it() {
    for (call, model) in
        [(json!({"task": "CHILD"}), "test-model"), (json!({"task": "CHILD", "model": "light"}), "small")]
    {
        let script = main_agent_calls([reply::call("task", call)]).otherwise(reply::text("Done."));
        let server = ScriptedServer::start(script).unwrap();
        let args = ["run", "--contract", CONTRACT, "--model", "other", "--set", "task_tool.model=auto", QUESTION];
        let ended = World::new().sortie(args).on(&server, "anthropic").env("LIGHT_LLM_MODEL_ID", "small").run();
        assert_eq!(ended.stdout.trim_end(), DONE, "{ended:#?}");
        let models: Vec<_> = server.requests().iter().map(|request| request.body["model"].clone()).collect();
        assert_eq!(models, ["other", model, "other"], "not its parent's");
    }
}

/// Sub-agents at work at once, and the points at which each waits for the other.
fn talking() -> Script {
    let note = |text: &str| reply::call("Note", json!({ "text": text }));
    main_agent_calls([task("FIRST looks"), task("SECOND looks")])
        .on(when::prompt_contains("FIRST").turn(0), reply::calls([note("login is in src/auth.rs")]))
        .on(when::prompt_contains("FIRST").turn(1), reply::calls([reply::call("LS", json!({}))]).held_by("sent"))
        .on(when::prompt_contains("FIRST"), reply::text("First done."))
        .on(when::prompt_contains("SECOND").turn(0), reply::calls([reply::call("Note", json!({}))]).held_by("posted"))
        .on(
            when::prompt_contains("SECOND").turn(1),
            reply::calls([
                reply::call("SendMessage", json!({"to": "<task 1>", "message": "FOUND IT TOO"})),
                reply::call("SendMessage", json!({"to": "parent", "message": "BOTH HAVE IT"})),
            ]),
        )
        .on(when::prompt_contains("SECOND"), reply::text("Second done."))
}

#[test]
fn s2_84_sub_agents_share_findings_and_write_to_each_other_and_to_their_parent() {
    for wire in WIRES {
        let world = World::new();
        let server = ScriptedServer::start(talking()).unwrap();
        let live = world.sortie(["run", "--contract", CONTRACT, QUESTION]).on(&server, wire).start();
        wait_for(&server, |traffic| traffic.calls == 4 && traffic.in_flight == 2);
        server.gate("posted").open();
        wait_for(&server, |traffic| traffic.calls == 6 && traffic.in_flight == 1);
        server.gate("sent").open();
        let run = Run { ended: live.wait(), server };
        assert_eq!(run.ended.stdout, format!("{DONE}\n"), "{:#?}", run.ended);
        let second = run.sub_agent("SECOND looks");
        assert!(second[1].results[0].text.contains("login is in src/auth.rs"), "{:#?}", second[1].results);
        let sent: Vec<&str> = second[2].results[1..].iter().map(|result| result.text.as_str()).collect();
        assert!(sent.iter().all(|receipt| receipt.contains("delivered: agent-")), "{sent:?}");
        assert!(run.sub_agent("FIRST looks")[2].contains("FOUND IT TOO"));
        assert!(run.main_agent()[1].contains("BOTH HAVE IT"));
        assert!(!run.main_agent()[0].offers("Note"), "the main agent works alone while they are at work");
    }
}

#[test]
fn s2_84_a_message_to_an_ended_sub_agent_says_how_to_go_on() {
    let note = reply::calls([reply::call("Note", json!({"text": "mine"}))]);
    let read = reply::calls([reply::call("Note", json!({}))]);
    let send = reply::calls([reply::call("SendMessage", json!({"to": "<task 1>", "message": "More?"}))]);
    let script = main_agent_calls([task("OUTER looks")])
        .on(when::prompt_contains("OUTER").turn(0), reply::calls([task("INNER looks")]))
        .on(when::prompt_contains("INNER").turn(0), note)
        .on(when::prompt_contains("OUTER").turn(1), read)
        .on(when::prompt_contains("OUTER").turn(2), send)
        .otherwise(reply::text("Done."));
    let run = Run::of(&World::new(), CONTRACT, "anthropic", script);
    let told = run.sub_agent("OUTER looks")[3].results[2].text.clone();
    assert!(told.contains("has ended, and nothing resumes it here; start a new one with `task`"), "{told}");
}
