//! `--show`, its defaults by contract, and the two settings about the display of sub-agents.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::run::delegating;
use crate::terminal::on_terminal;
use crate::world::{Ended, World};

/// Task that makes one call and reports.
fn looking() -> ScriptedServer {
    let look = reply::calls([reply::call("Grep", json!({"pattern": "AuthError"}))]);
    let script = Script::new().once(when::any(), look).otherwise(reply::text("src/auth.rs:2 returns AuthError"));
    ScriptedServer::start(script).unwrap()
}

/// Equivalent request in each contract.
fn request(contract: &str) -> &'static str {
    match contract {
        "delegate" => r#"{"task": "Look for errors"}"#,
        "result" => r#"{"description": "Find it", "prompt": "Look for errors", "subagent_type": "finder"}"#,
        _ => r#"{"description": "Find it", "prompt": "Look for errors", "subagent_type": "explore"}"#,
    }
}

/// One delegation in a contract, with these further arguments.
fn task(contract: &str, more: &[&str]) -> Ended {
    let world = World::new();
    let finder = "---\nname: finder\ndescription: Finds\ntools: Grep\n---\nYou find things.\n";
    world.write("workspace/.sortie/agents/finder.md", finder);
    let args = ["task", "--contract", contract, "--json", request(contract)];
    let ended = world.sortie(args.iter().chain(more)).on(&looking(), "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout_json().is_object());
    ended
}

fn run(more: &[&str]) -> Ended {
    let (world, server) = (World::new(), ScriptedServer::start(delegating()).unwrap());
    let ended = world.sortie(["run", "QUESTION"].iter().chain(more)).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    ended
}

fn stderr(ended: &Ended) -> String {
    let transcript = ended.transcript();
    transcript.split_once("--- stderr\n").map(|(_, stderr)| stderr.to_owned()).unwrap_or_default()
}

#[test]
fn c_26_envelope_and_child_show_nothing() {
    for contract in ["envelope", "child"] {
        assert_eq!(task(contract, &[]).stderr, "", "{contract}");
    }
}

#[test]
fn s1_33_s1_46_result_shows_blocks_with_name_status_and_two_messages() {
    expect![[r#"
        ○ initializing · finder agent-1___________
        ◐ active · finder agent-1___________
        ● completed · finder agent-1___________
        │ Find it · main (test-model)
        │ … 1 earlier message
        │ Grep "AuthError" → 1 file
        │ src/auth.rs:2 returns AuthError
        └ 1 call · 716 tokens · <t>s
    "#]]
    .assert_eq(&stderr(&task("result", &[])));
}

#[test]
fn s1_46_on_a_terminal_a_block_is_redrawn_in_place_until_it_is_completed() {
    let world = World::new();
    let slow = ScriptedServer::start(Script::always(reply::text("Found.").after_ms(350))).unwrap();
    let args = ["task", "--contract", "result", "--set", "agents.builtin=true", "--json", request("typed")];
    let (_, shown) = on_terminal(world.sortie(args).on(&slow, "anthropic"), "xterm");
    let drawn = shown.matches("◐ active · explore agent-").count();
    assert!(drawn > 1, "several frames: {shown:?}");
    // The last one may have one more line, if it falls between the reply and the end.
    assert!(shown.matches("A\r\x1b[J").count() >= drawn, "each one is taken back: {shown:?}");
    let (_, ending) = shown.rsplit_once("● completed").unwrap();
    assert!(ending.contains("│ Found.\n└ "), "{ending:?}");
    assert!(!ending.contains("active"), "{ending:?}");
}

#[test]
fn s1_46_verbose_expands_the_blocks() {
    let brief = "│ Look for errors\n";
    assert!(!task("result", &[]).stderr.contains(brief));
    assert!(task("result", &["--verbose"]).stderr.contains(brief), "the first of its messages");
}

#[test]
fn s2_58_s2_59_delegate_shows_a_line_at_the_start_and_one_at_the_end() {
    expect![[r#"
        ○ Delegating task to sub-agent... Look for errors · general-purpose agent-1___________ · main (test-model)
        ● Sub-agent completed: Look for errors · general-purpose agent-1___________ · 1 call · <n>k tokens · <t>s
    "#]]
    .assert_eq(&stderr(&task("delegate", &[])));
}

#[test]
fn s2_25_s2_68_verbose_logging_shows_each_call_of_a_sub_agent_and_is_off_by_default() {
    let call = ": Grep \"AuthError\" → ";
    assert!(!task("delegate", &[]).stderr.contains(call));
    let verbose = ["--set", "task_tool.enable_verbose_logging=true"];
    for contract in ["envelope", "delegate", "typed", "child", "sortie"] {
        let shown = task(contract, &verbose).stderr;
        assert!(shown.contains(call), "{contract}: {shown}");
    }
    let shown = run(&verbose).stderr;
    assert!(shown.contains(call) && !shown.contains("main: "), "a main agent is no sub-agent: {shown}");
}

#[test]
fn s3_46_boxes_in_typed_say_launching_subagent_and_subagent_result() {
    expect![[r#"
        ┌─ Launching Subagent ──────────────────────────┐
        │ Type: Explore                                 │
        │ Task: Find it                                 │
        │ Model: haiku (claude-haiku-4)                 │
        └───────────────────────────────────────────────┘
        [Explore agent working...]
        ┌─ Subagent Result ─────────────────────────────┐
        │ src/auth.rs:2 returns AuthError               │
        └───────────────────────────────────────────────┘
          1 call · <n>k tokens · <t>s
    "#]]
    .assert_eq(&stderr(&task("typed", &["--show", "boxes"])));
}

#[test]
fn s3_46_a_terminal_gets_the_boxes_of_typed_by_default() {
    let args = ["task", "--contract", "typed", "--json", request("typed")];
    let (_, shown) = on_terminal(World::new().sortie(args).on(&looking(), "anthropic"), "xterm");
    for part in ["┌─ Launching Subagent ─", "│ Type: Explore ", "┌─ Subagent Result ─"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn s3_47_boxes_in_typed_announce_several_at_once() {
    let shown = run(&["--contract", "typed", "--show", "boxes"]).stderr;
    assert!(shown.starts_with("[Launching 2 Explore agents in parallel...]\n"), "{shown}");
    for part in ["┌─ Agent 1: ", "┌─ Agent 2: ", "│ Found: src/auth.rs:2 returns AuthError "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.matches("│ Status: Completed ").count(), 2, "{shown}");
}

#[test]
fn a_task_that_keeps_its_walls_is_not_called_unconfined() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("Done."))).unwrap();
    for (flags, is_open) in [(&[][..], false), (&["--unconfined"], true)] {
        let args = [&["run", "QUESTION", "--output-format", "json"], flags].concat();
        let started = world.sortie(args).on(&server, "anthropic").run().stdout_json();
        let args = ["resume", started["task_id"].as_str().unwrap(), "MORE", "--unconfined"];
        let resumed = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!((resumed.code, resumed.stderr.contains("[unconfined]")), (0, is_open), "{resumed:#?}");
    }
}

#[test]
fn any_form_can_be_asked_for_in_any_contract() {
    for (form, sign) in [("blocks", "● completed · explore"), ("line", "○ Delegating task"), ("boxes", "┌─ explore · ")]
    {
        let shown = task("child", &["--show", form]).stderr;
        assert!(shown.contains(sign), "{form}: {shown}");
    }
}

#[test]
fn json_gives_each_event_a_line_on_stderr_and_leaves_stdout_to_the_answer() {
    let ended = run(&["--show", "json"]);
    assert_eq!(ended.stdout, "Errors are made in `src/auth.rs:2`.\n");
    let lines: Vec<Value> = ended.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["type"] == "task_started").count(), 3);
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["status"]), (&json!("outcome"), &json!("completed")));
}

#[test]
fn quiet_leaves_the_answer_alone_and_still_reports_errors() {
    let ended = run(&["--show", "quiet"]);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("Errors are made in `src/auth.rs:2`.\n", ""));
    let (world, server) = (World::new(), ScriptedServer::start(Script::always(reply::status(400))).unwrap());
    let failed = world.sortie(["run", "x", "--show", "quiet"]).on(&server, "anthropic").run();
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.starts_with("error: ") && failed.stderr.contains("(model_bad_request)"), "{failed:#?}");
}

#[test]
fn a_format_for_programs_has_no_progress_unless_requested() {
    assert_eq!(run(&["--output-format", "json", "--contract", "delegate"]).stderr, "");
    let ended = run(&["--output-format", "json", "--show", "line", "--verbose"]);
    assert_eq!(ended.stdout_json()["children"].as_array().unwrap().len(), 2);
    assert_eq!(ended.stderr.matches("○ Delegating task to sub-agent...").count(), 2, "{}", ended.stderr);
    assert!(ended.stderr.contains(": Grep \"AuthError\" → "), "{}", ended.stderr);
}

#[test]
fn verbose_without_lines_to_show_is_wrong_usage() {
    let world = World::new();
    for form in ["json", "quiet"] {
        let task = ["task", "--json", "{}", "--verbose", "--show", form];
        for args in [&["run", "x", "--verbose", "--show", form][..], &task] {
            let ended = world.sortie(args).run();
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
            assert!(ended.stderr.starts_with("error: --verbose is for --show blocks, line or boxes"), "{ended:#?}");
        }
    }
    assert!(world.kept_nothing());
}

#[test]
fn result_has_the_built_in_agents_if_the_setting_says_so() {
    let world = World::new();
    let explore = request("typed");
    let ask = |more: &[&str]| {
        let args = ["task", "--contract", "result", "--json", explore];
        world.sortie(args.iter().chain(more)).on(&looking(), "anthropic").run()
    };
    let refused = ask(&[]);
    assert_eq!((refused.code, refused.stdout_json()["success"].clone()), (1, json!(false)), "{refused:#?}");
    let shown = ask(&["--set", "agents.builtin=true"]);
    assert_eq!(shown.stdout_json()["content"], "src/auth.rs:2 returns AuthError", "{shown:#?}");
    let description = |more: &[&str]| {
        let args = ["schema", "--contract", "result", "--format", "anthropic"];
        world.sortie(args.iter().chain(more)).run().stdout_json()["description"].as_str().unwrap().contains("explore")
    };
    assert_eq!((description(&[]), description(&["--set", "agents.builtin=true"])), (false, true));
}

#[test]
fn a_delegation_that_did_not_start_is_reported() {
    let wizard = reply::call("Task", json!({"description": "Cast", "prompt": "Cast it", "subagent_type": "wizard"}));
    let script = Script::new().once(when::any(), reply::calls([wizard])).otherwise(reply::text("Done."));
    for form in ["blocks", "line", "boxes"] {
        let server = ScriptedServer::start(script.clone()).unwrap();
        let ended = World::new().sortie(["run", "--show", form, "Cast"]).on(&server, "anthropic").run();
        assert!(ended.stderr.contains("failed: not started: unknown agent `wizard`"), "{form}: {}", ended.stderr);
    }
}
