//! Answers by a schema.

use std::sync::Arc;

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::{EngineSettings, Resumption};
use sortie_protocol::{Fact, Limits, Message, Status, StopReason, TaskOutcome, TaskRequest};
use sortie_testkit::{Script, ScriptedModel, reply, when};

use super::every_event::Place;
use super::relic::Relic;
use super::support::{Plan, World, ask};

fn schema() -> Value {
    json!({"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]})
}

fn ask_for(schema: Value) -> TaskRequest {
    TaskRequest { output_schema: Some(schema), ..ask("Where?") }
}

/// One answer after the other; the last one again and again.
fn answers(texts: &[&str]) -> Script {
    let (last, first) = texts.split_last().expect("at least one");
    let script = first
        .iter()
        .zip(0..)
        .fold(Script::new(), |script, (text, turn)| script.on(when::turn(turn), reply::text(*text)));
    script.otherwise(reply::text(*last))
}

/// Answers sent back, and why.
fn returned(world: &World) -> Vec<String> {
    let text = |fact| match fact {
        Fact::AnswerReturned { text } => Some(text),
        _ => None,
    };
    world.events().into_iter().filter_map(|event| text(event.fact)).collect()
}

fn told(outcome: &TaskOutcome) -> (Status, Option<&str>, &str, Option<&Value>) {
    let code = outcome.error.as_ref().map(|error| error.code.as_str());
    (outcome.status, code, &outcome.text, outcome.structured.as_ref())
}

const WRONG_TWICE: [&str; 3] = ["In line 3.", r#"{"line": "3"}"#, "Here:\n```json\n{\"line\": 3}\n```"];

#[tokio::test]
async fn an_answer_is_sent_back_with_its_errors_until_it_fits() {
    let world = Plan::script(answers(&WRONG_TWICE)).build();
    let outcome = world.run(ask_for(schema())).await;
    assert_eq!(told(&outcome), (Status::Completed, None, WRONG_TWICE[2], Some(&json!({"line": 3}))));
    assert_eq!(outcome.usage.turns, 3, "each answer is a turn");
    expect![[r#"
        [
            "Your answer does not fit the schema: it has no JSON value (expected value at line 1 column 1). Answer again with one JSON value that fits, and nothing else.",
            "Your answer does not fit the schema: `/line` must be a whole number, not \"3\". Answer again with one JSON value that fits, and nothing else.",
        ]
    "#]]
    .assert_debug_eq(&returned(&world));
    let seen = world.model.seen();
    assert!(seen.iter().all(|seen| seen.system == seen_system(&seen.system)), "the schema is told once");
    assert!(seen.windows(2).all(|pair| pair[1].messages.starts_with(&pair[0].messages)), "the conversation only grows");
}

/// A system prompt that has the schema at its end, and nowhere else.
fn seen_system(system: &str) -> String {
    let told = "Your final answer must be one JSON value that fits this JSON Schema, and nothing else:\n";
    let (role, _) = system.split_once(told).expect("it is told");
    format!("{role}{told}{}", schema())
}

#[tokio::test]
async fn a_task_without_a_fitting_answer_does_not_complete() {
    let world = Plan::script(answers(&["No idea."])).build();
    let outcome = world.run(ask_for(schema())).await;
    assert_eq!(told(&outcome), (Status::Failed, Some("output_schema"), "No idea.", None));
    assert_eq!((returned(&world).len(), outcome.usage.turns), (3, 4));
}

#[tokio::test]
async fn a_report_at_a_limit_has_a_value_or_says_that_it_has_none() {
    let limited = |last: &'static str| async move {
        let script = Script::new()
            .on(when::last_contains("reached a limit"), reply::text(last))
            .otherwise(reply::text("In line 3."));
        let limits = Limits { max_turns: Some(1), ..Limits::default() };
        Plan::script(script).build().run(TaskRequest { limits, ..ask_for(schema()) }).await
    };
    let fits = limited(r#"{"line": 3}"#).await;
    assert_eq!(told(&fits), (Status::Partial, None, r#"{"line": 3}"#, Some(&json!({"line": 3}))));
    assert!(fits.notices.is_empty(), "{:?}", fits.notices);
    let unfit = limited("Line 3.").await;
    assert_eq!(told(&unfit), (Status::Partial, None, "Line 3.", None));
    expect!["the answer does not fit the output schema: it has no JSON value (expected value at line 1 column 1)"]
        .assert_eq(&unfit.notices.join("\n"));
}

#[tokio::test]
async fn a_cut_answer_is_not_sent_back() {
    let cut = reply::text(r#"{"line": 3"#).stop(StopReason::Length);
    let world = Plan::script(Script::always(cut)).build();
    let outcome = world.run(ask_for(schema())).await;
    assert_eq!((outcome.status, outcome.usage.turns, outcome.structured), (Status::Partial, 1, None));
}

#[tokio::test]
async fn no_answer_is_sent_back_twice_after_a_kill_at_any_step() {
    let never = ["No idea.", "None.", "Really none.", "I give up."];
    for (texts, status) in [(WRONG_TWICE.as_slice(), Status::Completed), (&never, Status::Failed)] {
        let place = Place::new();
        let engine = |journal: &Arc<Relic>| {
            let model = Arc::new(ScriptedModel::new(answers(texts)));
            place.engine_with(Arc::clone(journal), model, EngineSettings::default())
        };
        let journal = Arc::new(Relic::default());
        let whole = engine(&journal).run(ask_for(schema())).await.expect("it starts");
        let whole = whole.outcome().await.expect("the journal works");
        assert_eq!(whole.status, status);
        let appends = journal.appends();
        for n_left in 1..appends.len() {
            let journal = Arc::new(Relic::of(&appends[..n_left]).await);
            let resumed = engine(&journal).resume(whole.task_id, Resumption::default()).await.expect("it resumes");
            let outcome = resumed.outcome().await.expect("the journal works");
            assert_eq!(told(&outcome), told(&whole), "after {n_left} of {}", appends.len());
            assert_eq!(outcome.usage.turns, whole.usage.turns, "after {n_left}: no turn more, and none less");
        }
    }
}

#[tokio::test]
async fn a_follow_up_keeps_the_schema() {
    let script = Script::new()
        .on(when::last_contains("does not fit"), reply::text(r#"{"line": 4}"#))
        .on(when::last_contains("And then?"), reply::text("In line 4."))
        .otherwise(reply::text(r#"{"line": 3}"#));
    let world = Plan::script(script).build();
    let first = world.run(ask_for(schema())).await;
    let follow_up = Resumption { prompt: Some("And then?".to_owned()), ..Resumption::default() };
    let second = world.engine.resume(first.task_id, follow_up).await.expect("it resumes");
    let second = second.outcome().await.expect("the journal works");
    assert_eq!(told(&second), (Status::Completed, None, r#"{"line": 4}"#, Some(&json!({"line": 4}))));
}

/// A main agent that makes these calls, one a turn; returns the answers.
async fn calls_answered(calls: &[Value], child: Script) -> (World, Vec<String>) {
    let calls = calls.iter().zip(0..).fold(child, |script, (arguments, turn)| {
        let call = reply::calls([reply::call("Task", arguments.clone())]);
        script.on(when::prompt_contains("MAIN").turn(turn), call)
    });
    let world = Plan::script(calls.on(when::prompt_contains("MAIN"), reply::text("Done."))).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let last = world.seen_by("MAIN").pop().expect("the main agent was asked");
    let outputs = last.messages.into_iter().filter_map(|message| match message {
        Message::Outputs { outputs } => Some(outputs),
        _ => None,
    });
    let outputs = outputs.flatten().map(|output| output.output.for_model).collect();
    (world, outputs)
}

fn call(more: &Value) -> Value {
    let mut arguments = json!({"description": "d", "prompt": "CHILD", "subagent_type": "explore"});
    let fields = more.as_object().expect("an object").clone();
    arguments.as_object_mut().expect("an object").extend(fields);
    arguments
}

#[tokio::test]
async fn a_parent_gets_the_value_alone() {
    let child = Script::new().on(when::prompt_contains("CHILD"), reply::text("It is {\"line\": 3,\n\"sure\": true}."));
    let (_, outputs) = calls_answered(&[call(&json!({"output_schema": schema()}))], child).await;
    assert!(outputs[0].ends_with("[report mark]\n{\"line\":3,\"sure\":true}\n[end mark]"), "{}", outputs[0]);
}

#[tokio::test]
async fn an_unusable_schema_starts_nothing() {
    let (world, outputs) = calls_answered(&[call(&json!({"output_schema": {"format": "uri"}}))], Script::new()).await;
    expect![
        "No sub-agent was started (invalid_arguments): `output_schema` cannot be used: `format` at the top is not supported; leave it out, or use other keywords"
    ]
    .assert_eq(&outputs[0]);
    assert!(world.seen_by("CHILD").is_empty());
}

#[tokio::test]
async fn a_call_cannot_resume_a_sub_agent_with_another_schema() {
    let id = "agent-aaaaaaaaaaab";
    let child = Script::new().on(when::system_contains("JSON Schema"), reply::text(r#"{"line": 3}"#));
    let calls = [
        call(&json!({"output_schema": schema()})),
        call(&json!({"resume": id, "output_schema": {"type": "string"}})),
        call(&json!({"resume": id, "output_schema": schema()})),
        call(&json!({"resume": id})),
    ];
    let (_, outputs) = calls_answered(&calls, child).await;
    expect![
        "No sub-agent was started (invalid_arguments): a resumed task keeps its `output_schema`; leave it out, or start a new task"
    ]
    .assert_eq(&outputs[1]);
    for answered in [0, 2, 3] {
        assert!(outputs[answered].ends_with("{\"line\":3}\n[end mark]"), "{}", outputs[answered]);
    }
}

#[tokio::test]
async fn an_agent_file_has_a_schema_and_a_call_may_ask_for_another_one() {
    let file =
        "---\nname: finder\ndescription: Finds.\noutputSchema:\n  type: object\n  required: [line]\n---\nFind it.\n";
    let script = Script::new()
        .on(when::system_contains(r#""required":["line"]"#), reply::text(r#"{"line": 3}"#))
        .on(when::system_contains(r#"{"type":"integer"}"#), reply::text("3"))
        .otherwise(reply::text("Nobody asks for a schema."));
    let world = Plan::script(script).files(&[(".sortie/agents/finder.md", file)]).agent_files().build();
    let asked = |output_schema| TaskRequest { agent: "finder".to_owned(), output_schema, ..ask("Where?") };
    let by_file = world.engine.task(asked(None)).await.expect("it starts").outcome().await.expect("the journal works");
    assert_eq!(by_file.structured, Some(json!({"line": 3})));
    let by_call = world.engine.task(asked(Some(json!({"type": "integer"})))).await.expect("it starts");
    let by_call = by_call.outcome().await.expect("the journal works");
    assert_eq!(by_call.structured, Some(json!(3)));
}

#[tokio::test(start_paused = true)]
async fn text_while_children_work_is_not_an_answer_and_the_last_value_counts() {
    let child = |prompt: &str| call(&json!({"prompt": prompt, "run_in_background": true}));
    let children = ["CHILD 1", "CHILD 2"].map(|prompt| reply::call("Task", child(prompt)));
    let script = Script::new()
        .on(when::prompt_contains("CHILD 1"), reply::text("Line 3.").after_ms(100))
        .on(when::prompt_contains("CHILD 2"), reply::text("Line 4.").after_ms(200))
        .on(when::turn(0), reply::calls(children))
        .on(when::turn(1), reply::text("They are looking."))
        .on(when::turn(2), reply::text(r#"{"line": 3}"#))
        .otherwise(reply::text(r#"{"line": 4}"#));
    let world = Plan::script(script).build();
    let outcome = world.run(ask_for(schema())).await;
    assert_eq!(told(&outcome), (Status::Completed, None, r#"{"line": 4}"#, Some(&json!({"line": 4}))));
    assert_eq!(returned(&world), [""; 0]);
    assert_eq!(world.seen_by("Where?").len(), 4);
}
