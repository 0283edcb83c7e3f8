//! The small model that a tool may ask: its task pays for it, and its call is not a turn.

use std::sync::Arc;

use serde_json::{Value, json};
use sortie_llm::{Chosen, Model, ModelError, Models, UnknownModel};
use sortie_protocol::{Fact, ModelChoice, Status, ToolOutput, Usage};
use sortie_testkit::{Script, ScriptedModel, reply, when};
use sortie_tools::{CallContext, TypedTool};

use crate::support::{Plan, World, ask};

/// A tool that asks the small model.
struct Asks;

impl TypedTool for Asks {
    type Input = Value;
    const NAME: &'static str = "Asks";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "asks".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, _input: Value, context: CallContext<'_>) -> ToolOutput {
        let assistant = context.assistant.expect("there is one");
        match assistant.answer("Answer from the text.", "The text.", "The small question?").await {
            Ok(answer) => ToolOutput::done(answer, "asked"),
            Err(failure) => ToolOutput::failure(failure.to_string()),
        }
    }
}

fn used(input_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens: 1, ..Usage::default() }
}

fn script() -> Script {
    beginning_with(100)
}

fn beginning_with(input_tokens: u64) -> Script {
    Script::new()
        .on(when::prompt_contains("The small question?"), reply::text("A small answer.").usage(used(40)))
        .on(when::prompt_contains("Go.").turn(0), {
            reply::calls([reply::call("Asks", json!({}))]).usage(used(input_tokens))
        })
        .otherwise(reply::text("Done.").usage(used(200)))
}

/// A table of one model, which says that it stands in.
struct StandIn(Arc<ScriptedModel>);

impl Models for StandIn {
    fn choose(&self, asked: Option<&str>, _inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let choice = ModelChoice { route: "main".to_owned(), id: "only".to_owned() };
        Ok(Chosen { choice, notice: asked.map(|asked| format!("`{asked}` is served by only")) })
    }

    fn open(&self, _choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::clone(&self.0) as Arc<dyn Model>)
    }
}

fn told_by_tool(world: &World) -> String {
    let finished = |fact: Fact| if let Fact::CallFinished { output, .. } = fact { Some(output) } else { None };
    let output = world.events().into_iter().find_map(|event| finished(event.fact)).expect("a call");
    output.output.for_model
}

#[tokio::test]
async fn the_answer_goes_to_the_tool_and_the_tokens_count_for_the_task() {
    let world = Plan::script(script()).tool(Asks).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
    assert_eq!(told_by_tool(&world), "A small answer.");
    assert_eq!((outcome.usage.total_tokens(), outcome.usage.turns), (101 + 41 + 201, 2));
    assert!(world.transcript().contains("assisted by"), "{}", world.transcript());
    let small = world.seen_by("The small question?").remove(0);
    assert_eq!((small.system.as_str(), small.tools.len()), ("Answer from the text.", 0));
}

#[tokio::test]
async fn the_outcome_names_a_stand_in_model_once() {
    let model = Arc::new(ScriptedModel::new(script()));
    let plan = Plan::script(Script::new()).tool(Asks);
    let world = plan.build_with(Arc::new(StandIn(model)));
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(outcome.notices, ["`light` is served by only"]);
}

#[tokio::test]
async fn a_task_without_tokens_cannot_ask_the_side_model() {
    let world = Plan::script(beginning_with(8_990)).tool(Asks).build();
    let mut request = ask("Go.");
    request.limits.max_tokens = Some(9_000);
    world.run(request).await;
    assert_eq!(told_by_tool(&world), "the tokens of this task are used up");
    assert!(world.seen_by("The small question?").is_empty());
}
