//! Tool outputs as the model reads them, in a contract with a format for them: the same in history and journal.

use std::future::Future;
use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{Fact, Message, Status, ToolOutput};
use sortie_testkit::{Script, ScriptedPart, reply, when};
use sortie_tools::{CallContext, TypedTool};

use crate::support::{Plan, World, ask};

/// A tool that obeys: panics, waits, or says much.
struct Odd;

impl TypedTool for Odd {
    type Input = Value;
    const NAME: &'static str = "Odd";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "odd".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    #[expect(clippy::manual_async_fn, reason = "the panic belongs inside the future")]
    fn run(&self, input: Value, context: CallContext<'_>) -> impl Future<Output = ToolOutput> + Send {
        async move {
            assert!(input["does"] != "panic", "a cog came off");
            match input["does"].as_str() {
                Some("wait") => std::future::pending().await,
                Some("tell") => ToolOutput::done("line\n".repeat(3000), "3000 lines"),
                _ => ToolOutput::failure(format!("structured: {}", context.structured)),
            }
        }
    }
}

fn odd(does: &str) -> ScriptedPart {
    reply::call("Odd", json!({"does": does}))
}

fn plan(calls: impl IntoIterator<Item = ScriptedPart>) -> Plan {
    Plan::script(Script::new().on(when::turn(0), reply::calls(calls)).otherwise(reply::text("Done."))).tool(Odd)
}

/// Outputs in the model's last request.
fn read_by_model(world: &World) -> Vec<ToolOutput> {
    let last = world.model.seen().pop().expect("a request");
    let Some(Message::Outputs { outputs }) = last.messages.last().cloned() else { panic!("outputs come last") };
    outputs.into_iter().map(|output| output.output).collect()
}

/// Recorded outputs, in the order of the calls' ids.
fn recorded(world: &World) -> Vec<ToolOutput> {
    let finished = world.events().into_iter().filter_map(|event| match event.fact {
        Fact::CallFinished { output, .. } => Some((output.call, output.output)),
        _ => None,
    });
    let mut finished: Vec<_> = finished.collect();
    finished.sort_by(|(left, _), (right, _)| left.0.cmp(&right.0));
    finished.into_iter().map(|(_, output)| output).collect()
}

fn object(output: &ToolOutput) -> Value {
    serde_json::from_str(&output.for_model).expect("an object")
}

#[tokio::test]
async fn p_14_p_15_every_output_is_worded_once_even_refusals_and_panics() {
    let calls = [
        reply::call("Read", json!({"file_path": "a.txt"})),
        reply::call("Nothing", json!({})),
        odd("panic"),
        odd("fail"),
        reply::raw_call("Read", "{"),
    ];
    let world = plan(calls).contract("envelope").files(&[("a.txt", "text")]).build();
    world.run(ask("Go.")).await;
    let outputs = read_by_model(&world);
    let codes: Vec<Value> = outputs.iter().map(|output| object(output)["error"]["code"].clone()).collect();
    let expected = [json!(null), json!("NOT_FOUND"), json!("INTERNAL_ERROR"), json!("EXECUTION_ERROR")];
    assert_eq!(codes[..4], expected);
    assert_eq!(codes[4], "INVALID_PARAM");
    assert_eq!(object(&outputs[0])["data"], json!({"content": "1\ttext"}));
    assert!(outputs[3].for_model.contains("structured: true"), "{}", outputs[3].for_model);
    assert_eq!(outputs, recorded(&world), "history and journal hold the same");
    assert!(outputs.iter().all(|output| output.verbatim && output.payload.is_none() && output.fault.is_none()));
}

#[tokio::test]
async fn other_contracts_get_tool_outputs_as_text_and_not_as_objects() {
    let world = plan([odd("fail"), odd("tell")]).contract("child").build();
    world.run(ask("Go.")).await;
    let outputs = read_by_model(&world);
    assert_eq!((outputs[0].for_model.as_str(), outputs[0].verbatim), ("structured: false", false));
    assert_eq!(outputs[1].for_model.lines().count(), 3000, "and nothing is cut");
}

#[tokio::test]
async fn p_10_a_long_output_is_spilled_and_cut() {
    let world = plan([odd("tell")]).contract("envelope").build();
    world.run(ask("Go.")).await;
    let object = object(&read_by_model(&world)[0]);
    assert_eq!((&object["status"], &object["data"]["truncated"]), (&json!("partial"), &json!(true)));
    let path = object["data"]["truncation"]["full_output_path"].as_str().expect("a path");
    assert_eq!(std::fs::read_to_string(path).expect("the whole"), "line\n".repeat(3000));
    assert!(path.contains("/reports/agent-aaaaaaaaaaaa-"), "in its task's name: {path}");
}

#[tokio::test(start_paused = true)]
async fn p_12_a_tool_ended_by_the_deadline_is_a_timeout() {
    let world = plan([odd("wait")]).contract("envelope").build();
    let mut request = ask("Go.");
    request.limits.timeout = Some(Duration::from_mins(1));
    assert_eq!(world.run(request).await.status, Status::Failed);
    assert_eq!(object(&recorded(&world)[0])["error"]["code"], "TIMEOUT");
}

#[tokio::test]
async fn calls_at_a_limit_are_refused_in_the_same_format() {
    let script = Script::new().otherwise(reply::calls([odd("fail")]).text("So far."));
    let world = Plan::script(script).tool(Odd).contract("envelope").build();
    let mut request = ask("Go.");
    request.limits.max_turns = Some(1);
    world.run(request).await;
    let refused = recorded(&world).pop().expect("the refused call");
    assert_eq!(object(&refused)["error"]["code"], "PERMISSION_DENIED");
    assert!(refused.for_model.contains("the turns limit was reached"), "{}", refused.for_model);
}

#[tokio::test]
async fn s2_64_the_prompt_leaves_delegation_out_if_nobody_delegates() {
    for (delegation, speaks) in [(true, true), (false, false)] {
        let plan = Plan::script(Script::always(reply::text("Done.")));
        let rules = sortie_engine::EngineSettings { delegation, ..plan.rules.clone() };
        let world = plan.rules(rules).build();
        world.run(ask("Go.")).await;
        let system = world.model.seen().pop().expect("a request").system;
        assert_eq!(system.contains("Delegate with Task"), speaks, "{system}");
        assert_eq!(system.contains("sub-agent"), speaks, "{system}");
        assert!(
            system.starts_with("You are the main agent") && system.contains("Answer the request first"),
            "{system}"
        );
    }
}
