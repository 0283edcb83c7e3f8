//! Questions that nobody answers: a task in the background does not wait for ever, one that is waited for does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sortie_engine::{Approval, Approver, Inquiry, Permissions, Question, Rules};
use sortie_protocol::{Fact, Status};
use sortie_testkit::{Script, reply, when};
use sortie_tools::BoxFuture;

use super::permissions::{Person, asking, user, usual};
use super::support::{Plan, World, ask};

/// A main agent with a child that wants to write a file, and a grandchild that does, where the child delegates.
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
    Plan::script(script).rules(Rules { max_depth: 3, ..Rules::default() }).permissions(permissions).build()
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

const REFUSAL: &str = "Write was not run: nobody answered within 7 s, and a task in the background waits no longer \
                       (`permissions.answer_seconds`)";

#[tokio::test(start_paused = true)]
async fn f55_in_the_background_and_below_it_no_answer_is_a_no_after_a_while() {
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
async fn whoever_is_waited_for_waits_for_the_answer() {
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
}

impl Silent {
    fn see(&self, what: &str) {
        self.seen.lock().expect("nobody panicked").push(what.to_owned());
    }
}

impl Approver for Silent {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval> {
        self.see(&question.tool);
        Box::pin(std::future::pending())
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry<'a>) -> BoxFuture<'a, Option<String>> {
        self.see(inquiry.question);
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn f55_patience_begins_when_a_question_is_shown_and_then_it_is_the_next_ones_turn() {
    let task = |prompt: &str| {
        let arguments = json!({
            "description": "Part", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": true
        });
        reply::call("Task", arguments)
    };
    let write = |path: &str| reply::call("Write", json!({"file_path": path, "content": "new"}));
    let inquire =
        |question: &str| reply::call("Ask", json!({"question": question, "to": "person", "timeout_seconds": 5}));
    let calls = [("A", write("a.md")), ("B", inquire("Which?")), ("C", write("c.md")), ("D", inquire("When?"))];
    let mut script = Script::new().on(
        when::prompt_contains("MAIN").turn(0),
        reply::calls(calls.iter().map(|call| task(&format!("PART {}", call.0)))),
    );
    for (at, (name, call)) in calls.into_iter().enumerate() {
        let call = reply::calls([call]).after_ms(10 * at as u64);
        script = script.on(when::prompt_contains(format!("PART {name}")).turn(0), call);
    }
    let silent = Arc::new(Silent::default());
    let approver = Arc::clone(&silent) as Arc<dyn Approver>;
    let permissions = Permissions { answer_within: Duration::from_secs(7), approver, ..user(usual()) };
    let world = Plan::script(script.otherwise(reply::text("Done."))).permissions(permissions).build();
    let began = tokio::time::Instant::now();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert_eq!(*silent.seen.lock().expect("nobody panicked"), ["Write", "Which?", "Write", "When?"]);
    assert_eq!(refusals(&world), [REFUSAL, REFUSAL]);
    assert_eq!(began.elapsed().as_secs(), 7 + 5 + 7 + 5, "each has its whole time");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_has_expired_before_it_was_read_is_told_as_such() {
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
    assert!(read[0].contains(r"Which one?\n(It has asked this, and no longer waits for an answer.)"), "{read:?}");
    assert!(!read[0].contains("SendMessage to"), "{read:?}");
}
