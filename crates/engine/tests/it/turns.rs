//! The loop: turns, calls, and the facts they record.

use expect_test::expect;
use serde_json::json;
use sortie_protocol::Status;
use sortie_testkit::{Script, reply, when};

use crate::support::{Plan, ask};

#[tokio::test]
async fn a_question_is_answered_in_one_turn() {
    let world = Plan::script(Script::always(reply::text("Forty-two."))).build();
    let outcome = world.run(ask("What is the answer?")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Forty-two."));
    expect![[r#"
        task-1 #1 task_started main "a question": "What is the answer?"
        task-1 #2 task_admitted
        task-1 #3 model_called turn 1
        task-1 #4 model_replied turn 1: "Forty-two."
        task-1 #5 task_ended completed: "Forty-two."
    "#]]
    .assert_eq(&world.transcript());
}

#[tokio::test]
async fn a_call_runs_and_its_output_goes_back_to_the_model() {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]).text("Looking."))
        .on(when::last_contains("hello from the file"), reply::text("It says hello."));
    let world = Plan::script(script).files(&[("a.txt", "hello from the file\n")]).build();
    let outcome = world.run(ask("What does a.txt say?")).await;
    assert_eq!(outcome.text, "It says hello.", "the text is that of the last reply");
    assert_eq!(outcome.usage.turns, 2);
    assert_eq!(outcome.tool_summary.len(), 1);
    expect![[r#"
        task-1 #1 task_started main "a question": "What does a.txt say?"
        task-1 #2 task_admitted
        task-1 #3 model_called turn 1
        task-1 #4 model_replied turn 1: "Looking." + call_0_1 Read {"file_path":"a.txt"}
        task-1 #5 call_started call_0_1: Read {"file_path":"a.txt"}
        task-1 #6 call_finished call_0_1: "1\thello from the file"
        task-1 #7 model_called turn 2
        task-1 #8 model_replied turn 2: "It says hello."
        task-1 #9 task_ended completed: "It says hello." Read×1
    "#]]
    .assert_eq(&world.transcript());
}

#[tokio::test]
async fn the_model_sees_the_brief_its_own_replies_and_the_outputs() {
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]))
        .on(when::turn(1), reply::text("Done."));
    let world = Plan::script(script).files(&[("a.txt", "one\ntwo\n")]).build();
    world.run(ask("  Read a.txt, please.\n")).await;
    let last = world.model.seen().pop().expect("two requests");
    let seen = last.to_string().replace(&format!("{:?}", last.system), "<role prompt>");
    expect![[r#"
        model: scripted
        system: <role prompt>
        tools: Read LS Glob Grep TodoWrite WebFetch Write Edit MultiEdit Task TaskOutput TaskStop SendMessage TaskList Note
        user: "  Read a.txt, please.\n"
        call call_0_1: Read {"file_path":"a.txt"}
        output call_0_1: "1\tone\n2\ttwo"
    "#]]
    .assert_eq(&seen);
}

#[tokio::test]
async fn calls_of_one_turn_run_at_once_and_settle_in_call_order() {
    // Each call waits for the other one: run one after the other they would never end.
    let script = Script::new()
        .on(
            when::prompt_contains("The question").turn(0),
            reply::calls([
                reply::call("Task", json!({"description": "one", "prompt": "first piece", "subagent_type": "explore"})),
                reply::call(
                    "Task",
                    json!({"description": "two", "prompt": "second piece", "subagent_type": "explore"}),
                ),
                reply::call("Read", json!({"file_path": "a.txt"})),
            ]),
        )
        .on(when::prompt_contains("first piece"), reply::text("first report").held_by("first"))
        .on(when::prompt_contains("second piece"), reply::text("second report").held_by("second"))
        .on(when::prompt_contains("The question").turn(1), reply::text("Both are in."));
    let world = Plan::script(script).files(&[("a.txt", "text")]).build();
    let running = world.start(ask("The question")).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 2).await;
    world.model.gate("second").open();
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    world.model.gate("first").open();
    assert_eq!(running.outcome().await.expect("the journal works").text, "Both are in.");

    let last = world.seen_by("The question").pop().expect("the parent's second request").to_string();
    let place = |text: &str| last.find(text).expect("in the last request");
    assert!(place("first report") < place("second report") && place("second report") < place("1\\ttext"), "{last}");
}

#[tokio::test]
async fn a_request_only_grows_at_its_end() {
    let read = |file: &str| reply::calls([reply::call("Read", json!({"file_path": file}))]);
    let script = Script::new()
        .on(when::turn(0), read("a.txt"))
        .on(when::turn(1), read("missing.txt"))
        .on(when::turn(2), reply::calls([reply::raw_call("Grep", "{not json")]))
        .on(when::turn(3), reply::text("Done."));
    let world = Plan::script(script).files(&[("a.txt", "text")]).build();
    world.run(ask("Go.")).await;
    let seen = world.model.seen();
    assert_eq!(seen.len(), 4);
    for pair in seen.windows(2) {
        let (earlier, later) = (&pair[0], &pair[1]);
        assert_eq!((&earlier.system, &earlier.tools), (&later.system, &later.tools));
        assert_eq!(earlier.messages[..], later.messages[..earlier.messages.len()], "no message ever changes");
    }
}

#[tokio::test]
async fn call_ids_that_a_server_repeats_or_leaves_out_are_made_unique() {
    use sortie_llm::{BoxFuture, Model, ModelError, ModelEvent, ModelRequest};
    use sortie_protocol::{CallId, Part, Reply, StopReason, ToolCall, Usage};

    struct SameIds;
    impl Model for SameIds {
        fn call<'a>(
            &'a self,
            request: ModelRequest<'a>,
            _observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
        ) -> BoxFuture<'a, Result<Reply, ModelError>> {
            let call = |id: &str| {
                let arguments = r#"{"file_path":"a.txt"}"#.to_owned();
                Part::Call(ToolCall { id: CallId::from(id), tool: "Read".to_owned(), arguments })
            };
            let (parts, stop) = match request.messages.len() {
                1 => (vec![call("x"), call("x"), call("")], StopReason::Calls),
                3 => (vec![call("x")], StopReason::Calls),
                _ => (vec![Part::Text { text: format!("{:?}", request.messages) }], StopReason::End),
            };
            Box::pin(async move {
                Ok(Reply {
                    parts,
                    stop,
                    usage: Usage::default(),
                    usage_doubted: false,
                    usage_high: false,
                    model: "same".to_owned(),
                })
            })
        }
    }
    struct OnlyModel;
    impl sortie_llm::Models for OnlyModel {
        fn choose(
            &self,
            _asked: Option<&str>,
            _inherited: Option<&sortie_protocol::ModelChoice>,
        ) -> Result<sortie_llm::Chosen, sortie_llm::UnknownModel> {
            Ok(sortie_protocol::ModelChoice { route: "main".to_owned(), id: "same".to_owned() }.into())
        }
        fn open(&self, _choice: &sortie_protocol::ModelChoice) -> Result<std::sync::Arc<dyn Model>, ModelError> {
            Ok(std::sync::Arc::new(SameIds))
        }
    }

    let world = Plan::script(Script::new()).files(&[("a.txt", "text")]).build_with(std::sync::Arc::new(OnlyModel));
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
    for id in ["\"x\"", "\"x_2\"", "\"call_2\"", "\"x_3\""] {
        assert_eq!(outcome.text.matches(&format!("CallId({id})")).count(), 2, "{id} has one call and one output");
    }
}
