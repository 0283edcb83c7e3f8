//! The gate: a refusal is worded so that a model can act on it, and every call gets its output.

use std::future::Future;
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::{Message, Status, StopReason, ToolOutput};
use sortie_testkit::{Script, reply, when};
use sortie_tools::{CallContext, TypedTool};

use crate::support::{Plan, World, ask};

/// The outputs in the model's last request, one line each.
fn outputs(world: &World) -> String {
    let last = world.model.seen().pop().expect("a request");
    let Some(Message::Outputs { outputs }) = last.messages.last().cloned() else { panic!("outputs come last") };
    let line = |output: &ToolOutput| format!("{}{}", if output.failed { "FAILED " } else { "" }, output.for_model);
    let text: String = outputs.iter().map(|output| line(&output.output) + "\n").collect();
    text.replace(&*world.home.path().to_string_lossy(), "<home>")
}

async fn outputs_of(plan: Plan) -> String {
    let world = plan.build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
    outputs(&world)
}

fn once(calls: impl IntoIterator<Item = sortie_testkit::ScriptedPart>) -> Script {
    Script::new().on(when::turn(0), reply::calls(calls)).on(when::turn(1), reply::text("Done."))
}

#[tokio::test]
async fn unknown_tools_and_wrong_arguments_become_outputs_that_say_what_to_do() {
    let calls = [
        reply::call("Raed", json!({"file_path": "a.txt"})),
        reply::call("Bash", json!({"command": "rm -rf /"})),
        reply::raw_call("Read", "{\"file_path\": "),
        reply::call("Read", json!({"file": "a.txt"})),
        reply::call("Read", json!({"file_path": "/etc/passwd"})),
    ];
    expect![[r#"
        FAILED There is no tool `Raed`. Did you mean Read? You have: Read, LS, Glob, Grep, TodoWrite, WebFetch, Write, Edit, MultiEdit, Task, TaskOutput, TaskStop, SendMessage, TaskList, Note.
        FAILED There is no tool `Bash`. You have: Read, LS, Glob, Grep, TodoWrite, WebFetch, Write, Edit, MultiEdit, Task, TaskOutput, TaskStop, SendMessage, TaskList, Note.
        FAILED Read was not run: its arguments do not fit (EOF while parsing a value at line 1 column 14). They must match this schema: {"type":"object","properties":{"file_path":{"type":"string"},"offset":{"type":"integer","description":"first line, counted from 1"},"limit":{"type":"integer","description":"lines, default 2000"}},"required":["file_path"]}
        FAILED Read was not run: its arguments do not fit (missing field `file_path` at line 1 column 16). They must match this schema: {"type":"object","properties":{"file_path":{"type":"string"},"offset":{"type":"integer","description":"first line, counted from 1"},"limit":{"type":"integer","description":"lines, default 2000"}},"required":["file_path"]}
        FAILED `/etc/passwd` is outside the workspace <home>/workspace; only paths inside it can be used
    "#]].assert_eq(&outputs_of(Plan::script(once(calls))).await);
}

#[tokio::test]
async fn a_tool_outside_the_grant_is_refused_even_if_the_model_calls_it_unasked() {
    let script = Script::new()
        .on(
            when::prompt_contains("The question").turn(0),
            reply::calls([reply::call(
                "Task",
                json!({"description": "d", "prompt": "a piece", "subagent_type": "explore"}),
            )]),
        )
        .on(
            when::prompt_contains("a piece").turn(0),
            reply::calls([
                reply::call("TodoWrite", json!({"todos": []})),
                reply::call("Task", json!({"description": "d", "prompt": "deeper"})),
            ]),
        )
        .on(when::prompt_contains("a piece"), reply::text("I was refused."))
        .on(when::prompt_contains("The question").turn(1), reply::text("Done."));
    let world = Plan::script(script).build();
    let outcome = world.run(ask("The question")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert!(world.seen_by("deeper").is_empty(), "no grandchild was started");
    let child = world.seen_by("a piece").pop().expect("the child's last request").to_string();
    assert!(
        child.contains("TodoWrite is not granted to this task (by agent explore). You have: Read, LS, Glob, Grep."),
        "{child}"
    );
    assert!(child.contains("Task is not granted to this task (by agent explore)"), "{child}");
    assert!(world.transcript().contains("refused"), "the refusals are recorded");
}

/// A tool that panics.
struct Breaks;

impl TypedTool for Breaks {
    type Input = Value;
    const NAME: &'static str = "Breaks";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "breaks".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    #[expect(clippy::manual_async_fn, reason = "the panic belongs inside the future")]
    fn run(&self, _input: Value, _context: CallContext<'_>) -> impl Future<Output = ToolOutput> + Send {
        async { panic!("a cog came off") }
    }
}

#[tokio::test]
async fn a_tool_that_panics_fails_its_call_and_nothing_else() {
    let calls = [reply::call("Breaks", json!({})), reply::call("Read", json!({"file_path": "a.txt"}))];
    let plan = Plan::script(once(calls)).files(&[("a.txt", "still here")]).tool(Breaks);
    expect![[r#"
        FAILED Breaks broke down: a cog came off. This is a bug in the tool; try another way.
        1	still here
    "#]]
    .assert_eq(&outputs_of(plan).await);
}

#[tokio::test]
async fn no_call_of_a_reply_that_was_cut_is_executed_even_if_its_arguments_parse() {
    let half_that_parses = json!({"file_path": "new.txt", "content": "half of it"});
    let script = Script::new()
        .on(
            when::turn(0),
            reply::calls([
                reply::call("Read", json!({"file_path": "a.txt"})),
                reply::call("Write", half_that_parses),
                reply::raw_call("Read", "{\"file_path\": \"a.t"),
            ])
            .stop(StopReason::Length),
        )
        .on(when::turn(1), reply::text("Done."));
    let plan = Plan::script(script).files(&[("a.txt", "text")]);
    expect![[r#"
        FAILED Read was not run: your output limit cut this reply, so none of its calls was run. Make the calls again, shorter or fewer at a time.
        FAILED Write was not run: your output limit cut this reply, so none of its calls was run. Make the calls again, shorter or fewer at a time.
        FAILED Read was not run: your output limit cut this reply, so none of its calls was run. Make the calls again, shorter or fewer at a time.
    "#]]
    .assert_eq(&outputs_of(plan).await);
}

#[tokio::test]
async fn five_hundred_calls_in_one_turn_all_get_an_output() {
    let calls = (0..500).map(|_| reply::call("Read", json!({"file_path": "a.txt"})));
    let world = Plan::script(once(calls)).files(&[("a.txt", "text")]).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(outputs(&world).lines().count(), 500);
    assert_eq!(outputs(&world).matches("at most 256 calls").count(), 500 - 256);
    assert_eq!(outcome.usage.tool_calls, 256, "refused calls are not counted");
}

/// A tool that never ends by itself.
struct Waits;

impl TypedTool for Waits {
    type Input = Value;
    const NAME: &'static str = "Waits";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "waits".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, _input: Value, _context: CallContext<'_>) -> ToolOutput {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_calls_under_way_and_all_are_answered() {
    let calls = [reply::call("Waits", json!({})), reply::call("Waits", json!({}))];
    let script = Script::new().on(when::turn(0), reply::calls(calls).text("I wait."));
    let world = Plan::script(script).tool(Waits).build();
    let mut request = ask("Go.");
    request.limits.timeout = Some(Duration::from_mins(1));
    let outcome = world.run(request).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Partial, "I wait."));
    let stopped = world.transcript().matches("Waits was stopped before it was done").count();
    assert_eq!(stopped, 2, "{}", world.transcript());
}
