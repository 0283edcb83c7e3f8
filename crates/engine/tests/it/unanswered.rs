//! Questions that nobody answers: a background task does not wait for ever, and every task keeps enough time to
//! continue without an answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::{Approval, Approver, EngineSettings, Inquiry, Permissions, Question};
use sortie_protocol::{Event, Fact, Status};
use sortie_testkit::{Script, ScriptedPart, ScriptedReply, reply, when};
use sortie_tools::BoxFuture;

use super::mail_at_every_event::{Asked, task};
use super::mail_races::{Site, answering};
use super::permissions::{Person, asking, user, usual};
use super::relic::Relic;
use super::support::{Plan, World, ask};

/// A main agent with a child that wants to write a file, and a grandchild that does, if the child delegates.
fn world(background: bool, child: (&str, Value)) -> World {
    let task = json!({
        "description": "Part", "prompt": "CHILD", "subagent_type": "general-purpose", "run_in_background": background
    });
    let write = reply::call("Write", json!({"file_path": "a.md", "content": "new"}));
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call(child.0, child.1)]))
        .on(when::prompt_contains("LEAF").turn(0), reply::calls([write]))
        .otherwise(reply::text("Done."));
    let permissions = Permissions { answer_within: Duration::from_secs(7), ..asking(&Person::who_says([])) };
    Plan::script(script)
        .rules(EngineSettings { max_depth: 3, ..EngineSettings::default() })
        .permissions(permissions)
        .build()
}

fn write() -> (&'static str, Value) {
    ("Write", json!({"file_path": "a.md", "content": "new"}))
}

fn refusals(world: &World) -> Vec<String> {
    let refused = |fact| match fact {
        Fact::CallFinished { output, refused: true } => Some(output.output.for_model),
        _ => None,
    };
    world.events().into_iter().filter_map(|event| refused(event.fact)).collect()
}

const REFUSAL: &str = "Write was not run: nobody answered within 7 s, the timeout of background tasks \
                       (`permissions.answer_seconds`)";

#[tokio::test(start_paused = true)]
async fn f55_in_the_background_and_below_a_missing_answer_becomes_a_no() {
    let below = ("Task", json!({"description": "Leaf", "prompt": "LEAF", "subagent_type": "general-purpose"}));
    for child in [write(), below] {
        let world = world(true, child);
        let outcome = world.run(ask("MAIN")).await;
        assert_eq!(outcome.status, Status::Completed);
        assert_eq!(refusals(&world), [REFUSAL]);
        assert!(!world.home.path().join("a.md").exists());
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreground_task_waits_for_the_answer() {
    let world = world(false, write());
    let running = world.start(ask("MAIN")).await;
    let stop = running.stopper();
    tokio::spawn(async move {
        // Sleeps on purpose: the clock is paused.
        tokio::time::sleep(Duration::from_mins(3)).await;
        stop.cancel();
    });
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(refusals(&world), ["Write was not run: the task was stopped before anybody answered"]);
}

/// Somebody who sees each question and answers none.
#[derive(Default)]
struct Silent {
    seen: Mutex<Vec<String>>,
    /// Timeout of each approval request, and later changes to it.
    waits: Mutex<Vec<Option<Duration>>>,
}

impl Silent {
    fn see(&self, what: &str) {
        self.seen.lock().expect("nobody panicked").push(what.to_owned());
    }

    fn hear(&self, within: Option<Duration>) {
        self.waits.lock().expect("nobody panicked").push(within);
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("nobody panicked").clone()
    }

    /// Timeouts of the questions, in whole seconds.
    fn waits(&self) -> Vec<Option<u64>> {
        let waits = self.waits.lock().expect("nobody panicked");
        waits.iter().map(|within| within.map(|within| within.as_secs())).collect()
    }

    /// Permissions with this approver, and this approval timeout in the background.
    fn asked_for(self: &Arc<Self>, answer_within: Duration) -> Permissions {
        Permissions { answer_within, approver: Arc::clone(self) as Arc<dyn Approver>, ..user(usual()) }
    }
}

impl Approver for Silent {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval> {
        self.see(&question.tool);
        self.hear(question.within);
        Box::pin(std::future::pending())
    }

    fn hurry(&self, _question: &Question, within: Duration) {
        self.hear(Some(within));
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry<'a>) -> BoxFuture<'a, Option<String>> {
        self.see(inquiry.question);
        Box::pin(std::future::pending())
    }
}

/// A background sub-agent for each of these calls, each this long after the one before it.
fn one_call_each(calls: [ScriptedPart; 4], limits: &Value, apart_ms: u64) -> Script {
    let part = |at: usize| format!("PART {at}");
    let task = |at: usize| {
        let arguments = json!({
            "description": "Part", "prompt": part(at), "subagent_type": "general-purpose", "run_in_background": true,
            "limits": limits,
        });
        reply::call("Task", arguments)
    };
    let all = reply::calls((0..calls.len()).map(task));
    let mut script = Script::new().on(when::prompt_contains("MAIN").turn(0), all);
    for (at, call) in calls.into_iter().enumerate() {
        let call = reply::calls([call]).after_ms(apart_ms * at as u64);
        script = script.on(when::prompt_contains(part(at)).turn(0), call);
    }
    script
}

#[tokio::test(start_paused = true)]
async fn f55_the_timeout_begins_when_a_question_is_shown_and_then_the_next_one_follows() {
    let write = |path: &str| reply::call("Write", json!({"file_path": path, "content": "new"}));
    let inquire =
        |question: &str| reply::call("Ask", json!({"question": question, "to": "person", "timeout_seconds": 5}));
    let calls = [write("a.md"), inquire("Which?"), write("c.md"), inquire("When?")];
    let script = one_call_each(calls, &json!({}), 10);
    let silent = Arc::new(Silent::default());
    let permissions = silent.asked_for(Duration::from_secs(7));
    let world = Plan::script(script.otherwise(reply::text("Done."))).permissions(permissions).build();
    let began = tokio::time::Instant::now();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(silent.seen(), ["Write", "Which?", "Write", "When?"]);
    assert_eq!(refusals(&world), [REFUSAL, REFUSAL]);
    assert_eq!(began.elapsed().as_secs(), 7 + 5 + 7 + 5, "each has its whole time");
}

/// The ending of each sub-agent, in the order of their ends.
fn endings(events: &[Event]) -> Vec<(Status, &str)> {
    let below = events.iter().filter(|event| event.depth > 0);
    let outcomes = below.filter_map(|event| match &event.fact {
        Fact::TaskEnded { outcome } => Some((outcome.status, outcome.text.as_str())),
        _ => None,
    });
    outcomes.collect()
}

#[tokio::test(start_paused = true)]
async fn a_task_without_an_approval_has_time_to_report_that() {
    for background in [true, false] {
        let task = json!({
            "description": "Part", "prompt": "CHILD", "subagent_type": "general-purpose", "run_in_background": background
        });
        let (tool, arguments) = write();
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task)]))
            .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call(tool, arguments)]).after_ms(20_000))
            .otherwise(reply::text("Done."));
        let silent = Arc::new(Silent::default());
        // The approval timeout equals the time that each sub-agent has.
        let permissions = silent.asked_for(EngineSettings::default().default_timeout);
        let world = Plan::script(script).permissions(permissions).build();
        assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
        assert_eq!(silent.waits(), [Some(210)], "three quarters of what is left");
        let refusal = "Write was not run: nobody answered within 210 s, and there is little time left; continue without it, \
                       and say so in your report";
        assert_eq!(refusals(&world), [refusal]);
        assert_eq!(endings(&world.events()), [(Status::Completed, "Done.")]);
    }
}

/// Background sub-agents that ask one after the other, within a second of each other: three for approval, and one with
/// a question. Each has 100 s.
fn a_queue(silent: &Arc<Silent>, answer_within: Duration) -> World {
    let write = || reply::call("Write", json!({"file_path": "a.md", "content": "new"}));
    let calls = [write(), write(), write(), reply::call("Ask", json!({"question": "Which?", "to": "person"}))];
    let script = one_call_each(calls, &json!({"timeout_seconds": 100}), 1000);
    let permissions = silent.asked_for(answer_within);
    Plan::script(script.otherwise(reply::text("Done."))).permissions(permissions).build()
}

#[tokio::test(start_paused = true)]
async fn a_question_that_expires_in_the_queue_says_that_it_was_never_shown() {
    let silent = Arc::new(Silent::default());
    let world = a_queue(&silent, Duration::from_secs(90));
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    // The others would have less than a second, since they have waited for the first.
    assert_eq!(silent.seen(), ["Write"]);
    assert_eq!(silent.waits(), [Some(75)], "as long as it can really wait");
    expect![[r"
        Write was not run: nobody answered within 75 s, and there is little time left; continue without it, and say so in your report
        Write was not run: your question was never shown to anyone: others were asked before it, and there is little time left; continue without it, and say so in your report
        Write was not run: your question was never shown to anyone: others were asked before it, and there is little time left; continue without it, and say so in your report"]]
    .assert_eq(&refusals(&world).join("\n"));
    let told = format!("{:?}", world.seen_by("PART 3").last().expect("it resumes").messages.last());
    assert!(told.contains("your question was never shown to anyone: others were asked before it"), "{told}");
    assert_eq!(endings(&world.events()), [(Status::Completed, "Done."); 4]);
}

#[tokio::test(start_paused = true)]
async fn waiting_in_the_queue_gives_a_question_no_more_time() {
    let silent = Arc::new(Silent::default());
    let world = a_queue(&silent, Duration::from_mins(1));
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(silent.waits(), [Some(60), Some(15)], "three quarters of what was left when it was asked");
    let refusal = "Write was not run: nobody answered within 15.2 s, and there is little time left; continue without it, and \
                   say so in your report";
    assert_eq!(refusals(&world)[1], refusal);
}

/// A task with hardly any time asks the person.
fn hurried(asked: &Asked<'_>) -> ScriptedReply {
    let short = json!({
        "description": "Part", "prompt": "CHILD", "subagent_type": "general-purpose", "limits": {"timeout_seconds": 2},
    });
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([reply::call("Task", short)]),
        ("CHILD", 0) => reply::calls([reply::call("Ask", json!({"question": "Which?", "to": "person"}))]),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_agents_own_question_is_not_shown_either_without_time_to_answer_it() {
    let silent = Arc::new(Silent::default());
    let site = Site::new(answering(hurried).permissions(silent.asked_for(Duration::from_mins(1))));
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(silent.seen(), [""; 0]);
    let outputs = site.outputs("CHILD");
    let words = "your question was never shown to anyone: there is too little time left for an answer; use your best";
    assert!(outputs[0].contains(words), "{outputs:?}");
}

/// A task with little time fails while its child, which has more, asks.
fn failing_meanwhile(asked: &Asked<'_>) -> ScriptedReply {
    let short = json!({
        "description": "Part", "prompt": "MIDDLE", "subagent_type": "general-purpose", "limits": {"timeout_seconds": 20},
    });
    let write = reply::call("Write", json!({"file_path": "a.md", "content": "new"}));
    let inquire = reply::call("Ask", json!({"question": "Which?", "to": "person", "timeout_seconds": 50}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([reply::call("Task", short)]),
        ("MIDDLE", 0) => reply::calls([task("WRITING", true), task("ASKING", true)]),
        ("MIDDLE", _) => reply::status(401).after_ms(100),
        ("WRITING", 0) => reply::calls([write]),
        ("ASKING", 0) => reply::calls([inquire]).after_ms(10),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_an_adopted_child_have_its_new_deadline() {
    let silent = Arc::new(Silent::default());
    let site = Site::new(answering(failing_meanwhile).permissions(silent.asked_for(Duration::from_mins(1))));
    let began = tokio::time::Instant::now();
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(silent.waits(), [Some(15)], "three quarters of what its parent has");
    let outputs = site.outputs("WRITING");
    assert!(outputs[0].contains("nobody answered within 60 s, the timeout of background tasks"), "{outputs:?}");
    assert_eq!(silent.seen(), ["Write", "Which?"]);
    assert!(began.elapsed() >= Duration::from_secs(110), "{:?}", began.elapsed());
}

/// A foreground child asks for approval, and meanwhile a question to its parent releases it.
fn let_go_meanwhile(asked: &Asked<'_>) -> ScriptedReply {
    let write = reply::call("Write", json!({"file_path": "a.md", "content": "new"}));
    let inquire = reply::call("Ask", json!({"question": "Which one?", "timeout_seconds": 1}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("CHILD", false)]),
        ("CHILD", 0) => reply::calls([write, inquire]),
        _ => asked.report(),
    }
}

/// Each takes a second.
fn is_slow(fact: &Fact) -> bool {
    match fact {
        Fact::CallStarted { call, .. } => call.tool == "Ask",
        Fact::ChildReleased { .. } => true,
        _ => false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_released_while_it_asks_gets_the_timeout_from_then_on() {
    let silent = Arc::new(Silent::default());
    let plan = answering(let_go_meanwhile).permissions(silent.asked_for(Duration::from_secs(3)));
    let site = Site::of(plan, Relic::default().slow(is_slow));
    let began = tokio::time::Instant::now();
    assert_eq!(site.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(silent.waits(), [Some(225), Some(3)]);
    let outputs = site.outputs("CHILD");
    assert!(outputs[0].contains("nobody answered within 3 s, the timeout of background tasks"), "{outputs:?}");
    assert!(began.elapsed() >= Duration::from_secs(2 + 3), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_question_that_expired_before_it_was_read_says_so() {
    let task = json!({
        "description": "Part", "prompt": "CHILD", "subagent_type": "general-purpose", "run_in_background": true
    });
    let inquire = reply::call("Ask", json!({"question": "Which one?", "timeout_seconds": 5}));
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("LS", json!({}))]).after_ms(9000))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([inquire]))
        .on(when::prompt_contains("CHILD"), reply::text("By myself.").after_ms(60_000))
        .otherwise(reply::text("Done."));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let told = world.transcript();
    let read: Vec<&str> = told.lines().filter(|line| line.contains("mail_read")).collect();
    assert!(read[0].contains(r"Which one?\n(It no longer waits for an answer.)"), "{read:?}");
    assert!(!read[0].contains("SendMessage to"), "{read:?}");
}
