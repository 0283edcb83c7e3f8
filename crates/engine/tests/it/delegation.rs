//! Sub-agents: a clean context, one report back, limits that hold for the whole tree.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::EngineSettings;
use sortie_protocol::{Fact, Status, TaskRequest, Usage};
use sortie_testkit::{Script, ScriptedModel, ScriptedPart, ScriptedReply, reply, when};

use crate::support::{Plan, World, ask};

fn task(prompt: &str, agent: &str) -> ScriptedPart {
    reply::call("Task", json!({"description": "a piece", "prompt": prompt, "subagent_type": agent}))
}

/// A main agent that delegates these pieces at once and then says that it is done.
fn delegating(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    Script::new()
        .on(when::prompt_contains("The question").turn(0), reply::calls(calls))
        .on(when::prompt_contains("The question"), reply::text("Done."))
}

/// The main agent's outputs of its delegations.
fn reports(world: &World) -> String {
    world.seen_by("The question").pop().expect("a request of the main agent").to_string()
}

#[tokio::test]
async fn a_child_sees_its_brief_and_nothing_of_the_parents_conversation() {
    let script = Script::new()
        .on(when::prompt_contains("SECRET").turn(0), reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]))
        .on(when::prompt_contains("SECRET").turn(1), reply::calls([task("  Look at b.txt.\n", "explore")]))
        .on(when::prompt_contains("SECRET").turn(2), reply::text("Done."))
        .on(
            when::prompt_contains("Look at b.txt").turn(0),
            reply::calls([reply::call("Read", json!({"file_path": "b.txt"}))]),
        )
        .on(when::prompt_contains("Look at b.txt").turn(1), reply::text("b.txt has words."));
    let world = Plan::script(script).files(&[("a.txt", "PARENT-FILE"), ("b.txt", "CHILD-FILE")]).build();
    let outcome = world.run(ask("A SECRET question")).await;
    assert_eq!(outcome.status, Status::Completed);

    for request in world.seen_by("Look at b.txt") {
        let text = request.to_string();
        assert!(!text.contains("SECRET") && !text.contains("PARENT-FILE"), "{text}");
        assert!(text.contains(r#"user: "  Look at b.txt.\n""#), "the brief is sent unchanged");
    }
    let parent = world.seen_by("SECRET").pop().expect("a request").to_string();
    assert!(parent.contains("b.txt has words."), "the report is there");
    assert!(!parent.contains("CHILD-FILE"), "the child's tool output is not");
}

#[tokio::test]
async fn the_parent_gets_a_head_line_and_the_report_between_marks() {
    let script = delegating([task("a piece of work", "explore")])
        .on(when::prompt_contains("a piece of work"), reply::text("In src/a.rs:3."));
    let world = Plan::script(script).build();
    world.run(ask("The question")).await;
    let seen = world.seen_by("The question").pop().expect("two requests");
    let sortie_protocol::Message::Outputs { outputs } = &seen.messages[2] else { panic!("outputs come third") };
    let text = outputs[0].output.for_model.replace(char::is_numeric, "#");
    expect![[r#"
        agent-aaaaaaaaaaab explore completed, # calls, ### tokens, #.# s
        [report mark]
        In src/a.rs:#.
        [end mark]"#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn the_whole_run_is_in_the_journal() {
    let script = delegating([task("a piece of work", "explore")])
        .on(
            when::prompt_contains("a piece of work").turn(0),
            reply::calls([reply::call("Grep", json!({"pattern": "needle"}))]),
        )
        .on(when::prompt_contains("a piece of work"), reply::text("Found."));
    let world = Plan::script(script).files(&[("hay.txt", "hay\nneedle\n")]).build();
    world.run(ask("The question")).await;
    expect![[r#"
        task-1 #1 task_started main "a question": "The question"
        task-1 #2 task_admitted
        task-1 #3 model_called turn 1
        task-1 #4 model_replied turn 1: call_0_1 Task {"description":"a piece","prompt":"a piece of work","subagent_type":"explore"}
        task-1 #5 call_started call_0_1: Task {"description":"a piece","prompt":"a piece of work","subagent_type":"explore"} (once)
          task-2 #1 task_started explore "a piece": "a piece of work"
        task-1 #6 child_started call_0_1: task-2
          task-2 #2 task_admitted
          task-2 #3 model_called turn 1
          task-2 #4 model_replied turn 1: call_0_1 Grep {"pattern":"needle"}
          task-2 #5 call_started call_0_1: Grep {"pattern":"needle"}
          task-2 #6 call_finished call_0_1: "hay.txt"
          task-2 #7 model_called turn 2
          task-2 #8 model_replied turn 2: "Found."
          task-2 #9 task_ended completed: "Found." Grep×1
        task-1 #7 child_ended call_0_1: task-2 leg 1
        task-1 #8 call_finished call_0_1: "task-2 explore completed, 1 call, 326 tokens, … s\n[report mark]\nFound.\n[end mark]"
        task-1 #9 model_called turn 2
        task-1 #10 model_replied turn 2: "Done."
        task-1 #11 task_ended completed: "Done." Task×1
    "#]].assert_eq(&world.transcript());
}

#[tokio::test]
async fn twenty_children_work_at_once_and_the_twenty_first_waits_its_turn() {
    let script = delegating((0..21).map(|_| task("a piece of work", "explore")))
        .on(when::prompt_contains("a piece of work"), reply::text("Report.").held_by("children"));
    let world = Plan::script(script).build();
    let running = world.start(ask("The question")).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 20).await;
    let admitted = |world: &World| {
        world.events().iter().filter(|event| event.depth == 1 && event.fact == Fact::TaskAdmitted).count()
    };
    assert_eq!(admitted(&world), 20);
    world.model.gate("children").open();
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    assert_eq!(admitted(&world), 21);
    assert_eq!(world.model.traffic().max_in_flight, 20);
}

#[tokio::test]
async fn with_one_slot_a_child_that_delegates_lends_it_to_its_own_child() {
    let script = delegating([task("middle piece", "general-purpose"), task("middle piece", "general-purpose")])
        .on(when::prompt_contains("middle piece").turn(0), reply::calls([task("small piece", "explore")]))
        .on(when::prompt_contains("middle piece"), reply::text("Middle."))
        .on(when::prompt_contains("small piece"), reply::text("Small."));
    let rules = EngineSettings { max_concurrent: 1, ..EngineSettings::default() };
    let world = Plan::script(script).rules(rules).build();
    let outcome = world.run(ask("The question")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(world.model.traffic().max_in_flight, 1);
    assert_eq!(world.seen_by("small piece").len(), 2);
}

#[tokio::test]
async fn the_task_tool_is_neither_offered_nor_run_at_the_depth_limit() {
    let script = delegating([task("level one", "general-purpose")])
        .on(when::prompt_contains("level one").turn(0), reply::calls([task("level two", "general-purpose")]))
        .on(when::prompt_contains("level one"), reply::text("One."))
        .on(when::prompt_contains("level two").turn(0), reply::calls([task("level three", "explore")]))
        .on(when::prompt_contains("level two"), reply::text("Two."));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let tools = |text: &str| world.seen_by(text)[0].tools.join(" ");
    assert_eq!(
        tools("level one"),
        "Read LS Glob Grep TodoWrite WebFetch Write Edit MultiEdit Task TaskOutput TaskStop SendMessage TaskList Ask Note"
    );
    assert_eq!(
        tools("level two"),
        "Read LS Glob Grep TodoWrite WebFetch Write Edit MultiEdit SendMessage TaskList Ask Note"
    );
    assert!(world.seen_by("level three").is_empty());
    let refused = world.seen_by("level two")[1].to_string();
    assert!(refused.contains("Task is not available to this task"), "{refused}");
}

#[tokio::test]
async fn a_delegation_that_cannot_start_is_an_output_that_says_why() {
    let calls = [
        task("a piece", "wizard"),
        task(" ", "explore"),
        task("a piece", "main"),
        reply::call("Task", json!({"description": "d", "prompt": "a piece", "model": "gpt-0"})),
        reply::raw_call("Task", "{}"),
    ];
    let world = Plan::script(delegating(calls)).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let reports = reports(&world);
    let lines: String =
        reports.lines().filter(|line| line.starts_with("output")).map(|line| line.to_owned() + "\n").collect();
    expect![[r#"
        output call_0_1 failed: "No sub-agent was started (unknown_agent): unknown agent `wizard`; there are general-purpose, explore, plan, summary, bash"
        output call_0_2 failed: "No sub-agent was started (invalid_arguments): `prompt` is empty; it must be a non-empty string"
        output call_0_3 failed: "No sub-agent was started (unknown_agent): unknown agent `main`; there are general-purpose, explore, plan, summary, bash"
        output call_0_4 failed: "No sub-agent was started (unknown_model): unknown model `gpt-0`; this test knows `scripted` only"
        output call_0_5 failed: "No sub-agent was started (invalid_arguments): `description` is missing; it must be a non-empty string"
    "#]].assert_eq(&lines);
    assert_eq!(world.events().iter().filter(|event| event.depth == 1).count(), 0);
}

#[tokio::test]
async fn the_count_of_children_is_bounded_for_the_whole_tree() {
    let script = delegating((0..5).map(|_| task("a piece of work", "explore")))
        .on(when::prompt_contains("a piece of work"), reply::text("Report."));
    let rules = EngineSettings { max_children: 3, ..EngineSettings::default() };
    let world = Plan::script(script).rules(rules).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    assert_eq!(reports(&world).matches("[report mark]").count(), 3);
    assert_eq!(reports(&world).matches("the limit of 3 sub-agents is reached").count(), 2);
}

#[tokio::test]
async fn stopping_the_parent_stops_every_child_and_its_model_call() {
    let script = delegating([task("one piece", "explore"), task("other piece", "general-purpose")])
        .on(when::prompt_contains("one piece"), reply::never())
        .on(when::prompt_contains("other piece").turn(0), reply::calls([task("deep piece", "explore")]))
        .on(when::prompt_contains("deep piece"), reply::never());
    let world = Plan::script(script).build();
    let running = world.start(ask("The question")).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 2).await;
    running.stop();
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(world.model.traffic().in_flight, 0);
    let endings: Vec<_> = world
        .events()
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::TaskEnded { outcome } => Some(outcome.status),
            _ => None,
        })
        .collect();
    assert_eq!(endings, [Status::Cancelled; 4], "all four tasks ended, each once, and before their parent");
}

#[tokio::test]
async fn a_panic_in_one_child_does_not_affect_siblings_or_parent() {
    let script = ScriptedModel::answering(|request| -> ScriptedReply {
        let first = format!("{:?}", request.messages.first());
        match (first.contains("The question"), request.messages.len()) {
            (true, 1) => reply::calls([task("the bad piece", "explore"), task("the good piece", "explore")]),
            (true, _) => reply::text("Done."),
            _ if first.contains("bad") => panic!("boom"),
            _ => reply::text("A good report."),
        }
    });
    let world = Plan::of(script).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let reports = reports(&world);
    assert!(reports.contains("A good report."), "{reports}");
    assert!(reports.contains("explore failed") && reports.contains("boom"), "{reports}");
}

#[tokio::test]
async fn a_parent_that_panics_takes_its_children_along_and_all_endings_are_recorded() {
    struct Trips;
    impl sortie_tools::Tool for Trips {
        fn spec(&self) -> sortie_protocol::ToolSpec {
            let schema = json!({"type": "object"});
            sortie_protocol::ToolSpec { name: "Trips".to_owned(), description: String::new(), schema }
        }
        fn idempotent(&self) -> bool {
            panic!("the parent trips")
        }
        fn delegates(&self) -> bool {
            false
        }
        fn run<'a>(
            &'a self,
            _arguments: &'a str,
            _context: sortie_tools::CallContext<'a>,
        ) -> sortie_tools::BoxFuture<'a, sortie_protocol::ToolOutput> {
            Box::pin(std::future::pending())
        }
    }
    let script = delegating([task("a piece of work", "general-purpose")])
        .on(
            when::prompt_contains("a piece of work").turn(0),
            reply::calls([task("deep piece", "explore"), reply::call("Trips", json!({}))]),
        )
        .on(when::prompt_contains("deep piece"), reply::never());
    let world = Plan::script(script).tool(Trips).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    assert!(reports(&world).contains("the parent trips"));
    let ended =
        |world: &World| world.events().iter().filter(|event| matches!(event.fact, Fact::TaskEnded { .. })).count();
    // The grandchild ends by itself, after its ancestors.
    while ended(&world) < 3 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn spending_of_children_is_in_the_parents_usage() {
    let spend = |tokens| Usage { input_tokens: tokens, output_tokens: 1, ..Usage::default() };
    let script = Script::new()
        .on(when::prompt_contains("The question").turn(0), reply::calls([task("a piece", "explore")]).usage(spend(100)))
        .on(when::prompt_contains("The question"), reply::text("Done.").usage(spend(1000)))
        .on(when::prompt_contains("a piece"), reply::text("Report.").usage(spend(10)));
    let world = Plan::script(script).build();
    let outcome = world.run(ask("The question")).await;
    let expected = Usage { input_tokens: 1110, output_tokens: 3, turns: 3, tool_calls: 1, ..Usage::default() };
    assert_eq!(Usage { duration_ms: 0, ..outcome.usage }, expected);
}

#[tokio::test]
async fn a_long_report_is_cut_marked_and_kept_in_full() {
    let report: &'static str = Box::leak("A sentence with ä. ".repeat(1000).into_boxed_str());
    let script = delegating([task("a piece", "explore")]).on(when::prompt_contains("a piece"), reply::text(report));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let child = world
        .events()
        .into_iter()
        .find_map(|event| match event.fact {
            Fact::TaskEnded { outcome } if event.depth == 1 => Some(*outcome),
            _ => None,
        })
        .expect("the child ended");
    assert!(child.truncated && child.text.len() <= 8000, "{} bytes", child.text.len());
    let path = child.full_text_path.expect("the whole is in a file");
    let kept = child.text.rsplit_once('\n').expect("a mark in a line of its own").0.chars().count();
    let end = format!(
        "A sentence with ä.\n[… the report was cut here; TaskOutput with offset {kept} has the rest; for people the whole is \
         in {path}]"
    );
    assert!(child.text.ends_with(&end), "{}", &child.text[7000..]);
    assert_eq!(std::fs::read_to_string(&path).expect("the file is there"), report);
    assert!(std::path::Path::new(&path).starts_with(world.home.path()));
    assert!(path.contains(&format!("/reports/{}-", child.task_id)), "in its task's name: {path}");
    assert!(reports(&world).contains(&path), "the parent is told where");
}

#[tokio::test(start_paused = true)]
async fn a_childs_deadline_is_its_own_or_its_parents_whichever_is_first() {
    let limits = |seconds: Value| {
        reply::call(
            "Task",
            json!({"description": "d", "prompt": "a piece", "subagent_type": "explore", "limits": {"timeout_seconds": seconds}}),
        )
    };
    let script =
        delegating([limits(json!(2)), limits(json!(500))]).on(when::prompt_contains("a piece"), reply::never());
    let world = Plan::script(script).build();
    let mut request = ask("The question");
    request.limits.timeout = Some(Duration::from_secs(1000));
    let outcome = world.run(request).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
    let mut durations: Vec<_> = world
        .events()
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::TaskEnded { outcome } if event.depth == 1 => Some((outcome.status, outcome.usage.duration_ms)),
            _ => None,
        })
        .collect();
    durations.sort_by_key(|(_, duration)| *duration);
    assert_eq!(durations, [(Status::Failed, 2000), (Status::Failed, 300_000)], "asked for, and the default");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_reaches_a_child_that_still_waits_for_a_slot() {
    let quick = json!({"description": "d", "prompt": "the quick piece", "limits": {"timeout_seconds": 2}});
    let script = delegating([reply::call("Task", quick), task("the slow piece", "explore")])
        .on(when::prompt_contains("the quick piece").turn(0), reply::calls([task("a queued piece", "explore")]))
        .on(when::prompt_contains("the slow piece"), reply::text("Slow.").after_ms(12_000));
    let world = Plan::script(script).rules(EngineSettings { max_concurrent: 1, ..EngineSettings::default() }).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let mut ended: Vec<_> = world
        .events()
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::TaskEnded { outcome } if event.depth > 0 => {
                Some((event.depth, outcome.status, outcome.usage.duration_ms))
            }
            _ => None,
        })
        .collect();
    ended.sort_by_key(|&(depth, status, duration)| (depth, duration, status.to_string()));
    let expected = [(1, Status::Failed, 2000), (1, Status::Completed, 12_000), (2, Status::Failed, 0)];
    assert_eq!(ended, expected, "the queued one never ran, and its parent did not wait for the slow one");
}

#[tokio::test]
async fn tokens_of_children_are_drawn_from_their_parents_budget() {
    let spend = Usage { input_tokens: 2_500, ..Usage::default() };
    let script = Script::new()
        .on(when::last_contains("reached a limit"), reply::text("So far.").usage(spend))
        .on(when::prompt_contains("The question").turn(0), reply::calls([task("a piece", "explore")]).usage(spend))
        .otherwise(reply::calls([reply::call("LS", json!({}))]).text("Working.").usage(spend));
    let world = Plan::script(script).build();
    let mut request = ask("The question");
    request.limits.max_tokens = Some(12_000);
    let outcome = world.run(request).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(sortie_protocol::Limit::Tokens)));
    assert_eq!(outcome.usage.input_tokens, 10_000, "the child stopped when its parent's tokens were used up");
    assert_eq!(world.seen_by("a piece").len(), 2, "and left its parent what that needs for its report");
    assert_eq!(outcome.text, "So far.");
}

#[tokio::test]
async fn a_childs_ending_and_its_delivery_are_recorded_together() {
    let script = delegating([task("a piece", "explore")]).on(when::prompt_contains("a piece"), reply::text("Report."));
    let world = Plan::script(script).build();
    world.run(ask("The question")).await;
    let events = world.events();
    let at = events.iter().position(|event| event.depth == 1 && matches!(event.fact, Fact::TaskEnded { .. }));
    let next = &events[at.expect("the child ended") + 1];
    let call = sortie_protocol::CallId::from("call_0_1");
    assert_eq!(
        (next.depth, &next.fact),
        (0, &Fact::ChildEnded { call, child: events[at.expect("it did")].task_id, child_leg: 1 })
    );
}

#[tokio::test]
async fn a_delegation_without_a_parent_model_has_a_childs_limits() {
    let script = Script::always(reply::text("Report."));
    let world = Plan::script(script).build();
    let request = TaskRequest { agent: "explore".to_owned(), ..ask("a piece") };
    let running = world.engine.task(request).await.expect("it can start");
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!((outcome.status, outcome.agent.as_str()), (Status::Completed, "explore"));
    let Fact::TaskStarted { job } = &world.events()[0].fact else { panic!("it starts") };
    assert_eq!(job.config.limits.timeout, Some(Duration::from_mins(5)));
    assert_eq!((job.config.depth, job.parent), (1, None));
    assert!(world.engine.task(TaskRequest { agent: "main".to_owned(), ..ask("x") }).await.is_err());
}

#[tokio::test]
async fn siblings_share_their_tools_and_role_prompt() {
    let script = delegating([task("one piece", "explore"), task("other piece", "explore")])
        .on(when::any(), reply::text("Report."));
    let world = Plan::script(script).build();
    world.run(ask("The question")).await;
    let (one, other) = (&world.seen_by("one piece")[0], &world.seen_by("other piece")[0]);
    assert_eq!((&one.system, &one.tools), (&other.system, &other.tools));
}

#[tokio::test]
async fn an_unknown_key_of_a_call_is_ignored_with_a_notice_to_all() {
    let call = json!({"description": "d", "prompt": "a piece", "subagent_type": "explore", "colour": "red"});
    let script = delegating([reply::call("Task", call)]).on(when::prompt_contains("a piece"), reply::text("Report."));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    assert!(reports(&world).contains("notice: unknown key `colour` was ignored"));
    let noticed = Fact::Noticed { text: "unknown key `colour` was ignored".to_owned() };
    assert!(world.events().iter().any(|event| event.depth == 1 && event.fact == noticed));
}

#[tokio::test]
async fn there_is_no_task_tool_if_delegation_is_off() {
    let world = Plan::script(Script::always(reply::text("Done.")))
        .rules(EngineSettings { delegation: false, ..EngineSettings::default() })
        .build();
    world.run(ask("The question")).await;
    assert_eq!(world.model.seen()[0].tools.join(" "), "Read LS Glob Grep TodoWrite WebFetch Write Edit MultiEdit");
}
