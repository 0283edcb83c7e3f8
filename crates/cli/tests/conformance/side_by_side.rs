//! One run in all six contracts, as one page: the main agent's call, the sub-agent's input, and the result.
//! `UPDATE_EXPECT=1` writes it.

use std::fmt::Write as _;

use expect_test::expect_file;
use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Script, ScriptedReply, ScriptedServer, reply, when};

use crate::transcript::normalised;
use crate::world::{Ended, QUESTION, Run, World, main_agent_calls};

const BRIEF: &str = "Where is login defined?";

/// Equivalent call in each contract: its name, its tool, its arguments, and flags where needed.
fn contracts(brief: &str) -> [(&'static str, &'static str, Value, &'static [&'static str]); 6] {
    let typed = |agent: &str| json!({"description": "Find login", "prompt": brief, "subagent_type": agent});
    [
        ("envelope", "Task", typed("explore"), &[]),
        ("result", "Task", typed("explore"), &["--set", "agents.builtin=true"]),
        ("delegate", "task", json!({"task": brief}), &[]),
        ("typed", "Task", typed("Explore"), &[]),
        ("child", "task", typed("explore"), &[]),
        ("sortie", "Task", typed("explore"), &[]),
    ]
}

/// Adds equal figures to every reply, so that sums can be compared.
fn counted(reply: ScriptedReply) -> ScriptedReply {
    reply.usage(Usage { input_tokens: 1000, output_tokens: 10, ..Usage::default() })
}

fn looks() -> ScriptedReply {
    let read = |path: &str| reply::call("Read", json!({"file_path": path}));
    let search = reply::call("Grep", json!({"pattern": "login"}));
    counted(reply::calls([read("src/auth.rs"), read("src/main.rs"), read("src/auth.rs"), search]))
}

/// Sub-agent that looks around and then ends with this.
fn sub_agent(script: Script, last: ScriptedReply) -> Script {
    script.on(when::turn(0), looks()).otherwise(counted(last))
}

#[test]
fn the_same_run_reads_like_this_in_all_six_contracts() {
    let report = "One file defines it:\nsrc/auth.rs:1";
    let page = [
        scenario("it completes", BRIEF, &reply::text(report)),
        scenario("its model breaks", BRIEF, &reply::status(400)),
        scenario("it says nothing", BRIEF, &reply::text("")),
        scenario("it is not told what to do", " ", &reply::text(report)),
    ];
    expect_file!["golden/side_by_side.txt"].assert_eq(&page.join("\n"));
}

/// The sub-agent needs one turn to look around and one for its report; the main agent calls, and ends.
#[test]
fn s1_37_s2_19_s3_28_s4_03_no_contract_asks_more_often_than_its_script_or_hands_the_parent_more_than_the_report() {
    for (contract, tool, arguments, flags) in contracts(BRIEF) {
        let script = sub_agent(main_agent_calls([reply::call(tool, arguments)]), reply::text("One file defines it."));
        let run = run(&World::new(), contract, flags, script);
        let (main, child) = (run.main_agent(), run.sub_agents());
        assert_eq!((main.len(), child.len()), (2, 2), "{contract}");
        assert!(child[1].contains("pub fn login") && !main[1].contains("pub fn login"), "{contract}");
        let grown = main[1].body.to_string().len() - main[0].body.to_string().len();
        assert!(grown < 1500, "{contract}: {grown} bytes for a call and its report");
    }
}

fn scenario(name: &str, brief: &str, last: &ScriptedReply) -> String {
    let sections = contracts(brief).map(|(contract, tool, arguments, flags)| {
        let world = World::new();
        let call = reply::call(tool, arguments.clone());
        let run = run(&world, contract, flags, sub_agent(main_agent_calls([call]), last.clone()));
        let task = task(&world, contract, flags, &arguments, sub_agent(Script::new(), last.clone()));
        let mut section = format!("{contract}\n");
        row(&mut section, "calls", &format!("{tool} {arguments}"));
        given(&mut section, &run);
        returned(&mut section, &run, &task);
        normalised(&section, &world.path(""))
    });
    format!("## {name}\n\n{}", sections.join("\n"))
}

fn run(world: &World, contract: &str, flags: &[&str], script: Script) -> Run {
    let server = ScriptedServer::start(script).unwrap();
    let args = [&["run", "--contract", contract], flags, &[QUESTION]].concat();
    let ended = world.sortie(args).on(&server, "anthropic").env("LIGHT_LLM_MODEL_ID", "light-model").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    Run { ended, server }
}

fn task(world: &World, contract: &str, flags: &[&str], arguments: &Value, script: Script) -> Ended {
    let server = ScriptedServer::start(script).unwrap();
    let arguments = arguments.to_string();
    let args = [&["task", "--contract", contract], flags, &["--json", &arguments]].concat();
    world.sortie(args).on(&server, "anthropic").env("LIGHT_LLM_MODEL_ID", "light-model").run()
}

fn row(section: &mut String, label: &str, value: &str) {
    writeln!(section, "    {label:<16} {value}").unwrap();
}

/// Input of the sub-agent's model, if there was one.
fn given(section: &mut String, run: &Run) {
    let Some(first) = run.sub_agents().into_iter().next() else { return row(section, "sub-agent", "none") };
    row(section, "model", &first.model);
    row(section, "tools", &first.tool_names().join(", "));
    let (role, title) = first.system.split_once("\n\n# Task\n").unwrap_or((&first.system, ""));
    row(section, "role", role.split_once('.').unwrap().0);
    if !title.is_empty() {
        row(section, "# Task", title);
    }
    row(section, "is told", &first.prompt);
}

/// Result for the main agent, and for a program that delegates; the two must agree.
fn returned(section: &mut String, run: &Run, task: &Ended) {
    let (result, printed) = (run.result(), timeless(task.stdout_json()));
    if let Ok(read) = serde_json::from_str::<Value>(&result.text) {
        assert_eq!(nameless(&timeless(read)), nameless(&printed), "a program reads what a main agent reads");
    }
    row(section, "marked as error", if result.is_error { "yes" } else { "no" });
    row(section, "exit", &task.code.to_string());
    for (key, value) in printed.as_object().unwrap() {
        row(section, &format!("  {key}"), &value.to_string());
    }
    if !result.text.starts_with('{') {
        section.push_str("    to the model:\n");
        for line in unmarked(&result.text).lines() {
            writeln!(section, "        {line}").unwrap();
        }
    }
}

/// Value without numbers that differ between runs.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                *value = if key.ends_with("_ms") { json!("<ms>") } else { timeless(value.take()) };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

/// Text without ids and ports, to compare two runs.
fn nameless(value: &Value) -> String {
    normalised(&value.to_string(), std::path::Path::new("/nowhere"))
}

/// Text without the random mark and the time.
fn unmarked(text: &str) -> String {
    let mark = text.split_once("[report ").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(mark, _)| mark);
    let text = if mark.is_empty() { text.to_owned() } else { text.replace(mark, "mark") };
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let head = head.rsplit_once(", ").map_or(head.to_owned(), |(head, _time)| format!("{head}, <t> s"));
    format!("{head}\n{rest}")
}
