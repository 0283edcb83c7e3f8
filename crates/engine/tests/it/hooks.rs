//! Hooks at the starts of tasks: they hear of each leg that somebody asks for, and nothing waits longer than it must.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sortie_engine::{Asking, Hooks, Resumption, Verdict};
use sortie_journal::{Entry, Journal as _};
use sortie_protocol::{Event, Fact, FailureCode, Job, Limits, Status, TaskOutcome, TaskRequest};
use sortie_testkit::{Script, reply, when};
use sortie_tools::BoxFuture;

use super::relic::Relic;
use super::remains::{CHILD, ROOT, Site, id, left_behind, writing};
use super::support::{Plan, ask};

/// Remembers its calls, and vetoes prompts with BAD. A prompt with SLOW is never decided, and one with BROKEN reports a
/// broken hook.
#[derive(Default)]
struct Listener {
    told: Mutex<Vec<String>>,
}

impl Listener {
    fn note(&self, text: String) {
        self.told.lock().expect("nobody panicked").push(text);
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().expect("nobody panicked").clone()
    }
}

impl Hooks for Listener {
    fn before_start<'a>(&'a self, job: &'a Job, leg: u32) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            self.note(format!("{} leg {leg}: {}", job.config.agent, job.prompt));
            if job.prompt.contains("SLOW") {
                return std::future::pending().await;
            }
            let veto = job.prompt.contains("BAD").then(|| "not this".to_owned());
            let notices = job.prompt.contains("BROKEN").then(|| "the hook failed".to_owned());
            Verdict { veto, notices: notices.into_iter().collect() }
        })
    }

    fn ended(&self, job: &Job, leg: u32, outcome: &TaskOutcome) {
        self.note(format!("{} leg {leg} has ended: {}", job.config.agent, outcome.status));
    }

    fn asks(&self, _job: &Job, _asking: &Asking<'_>) {}

    fn settled(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

fn plan(script: Script) -> (Arc<Listener>, Plan) {
    let listener = Arc::new(Listener::default());
    let hooks = Arc::clone(&listener) as Arc<dyn Hooks>;
    (listener, Plan { hooks, ..Plan::script(script) })
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_of_each_follow_up_with_its_leg_and_prompt() {
    let child = "agent-aaaaaaaaaaab";
    let first = json!({"description": "Part", "prompt": "FIRST", "subagent_type": "explore"});
    let resume = |prompt: &str| json!({"description": "More", "prompt": prompt, "resume": child});
    let send = |text: &str| reply::call("SendMessage", json!({"to": child, "message": text}));
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", first)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("Task", resume("SECOND"))]))
        .on(when::prompt_contains("MAIN").turn(2), reply::calls([send("THIRD")]))
        .on(when::prompt_contains("MAIN").turn(3), reply::text("Waiting."))
        .on(when::prompt_contains("MAIN").turn(4), reply::calls([reply::call("Task", resume("BAD"))]))
        .on(when::prompt_contains("MAIN").turn(5), reply::calls([send("BAD, too")]))
        .otherwise(reply::text("Done."));
    let (listener, plan) = plan(script);
    let world = plan.build();
    let outcome = world.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Completed);
    let more = |prompt: &str| Resumption { prompt: Some(prompt.to_owned()), ..Resumption::default() };
    let refused = world.engine.resume(outcome.task_id, more("BAD")).await.err().expect("a hook is against it");
    assert_eq!(refused.code, FailureCode::Vetoed);
    let running = world.engine.resume(outcome.task_id, more("MORE")).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    assert_eq!(
        listener.told(),
        [
            "main leg 1: MAIN",
            "explore leg 1: FIRST",
            "explore leg 1 has ended: completed",
            "explore leg 2: SECOND",
            "explore leg 2 has ended: completed",
            "explore leg 3: THIRD",
            "explore leg 3 has ended: completed",
            "explore leg 4: BAD",
            "explore leg 4: BAD, too",
            "main leg 1 has ended: completed",
            "main leg 2: BAD",
            "main leg 2: MORE",
            "main leg 2 has ended: completed",
        ]
    );
    let answers = format!("{:?}", world.seen_by("MAIN"));
    assert!(answers.contains("a hook did not let the task start: not this"), "{answers}");
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_of_a_leg_without_a_prompt_but_not_twice_of_an_interrupted_one() {
    let (listener, failing) = plan(Script::new().otherwise(reply::status(401)));
    let world = failing.build();
    let outcome = world.run(ask("MAIN")).await;
    assert_eq!(outcome.status, Status::Failed);
    let running = world.engine.resume(outcome.task_id, Resumption::default()).await.expect("it resumes");
    running.outcome().await.expect("the journal works");
    let told = ["main leg 1: MAIN", "main leg 1 has ended: failed", "main leg 2: ", "main leg 2 has ended: failed"];
    assert_eq!(listener.told(), told);

    let begun = world.journal.read(outcome.task_id).expect("it is there").into_iter().take(3);
    let entry = |Event { task_id, leg, time, fact, .. }| Entry { task_id, leg, attempt: 1, time, after: None, fact };
    let relic = Relic::of(&[begun.map(entry).collect()]).await;
    let (listener, plan) = plan(Script::new().otherwise(reply::text("Done.")));
    let (engine, _) = plan.engine(world.home.path(), Arc::new(relic));
    let running = engine.resume(outcome.task_id, Resumption::default()).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    assert_eq!(listener.told(), ["main leg 1 has ended: completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_holds_up_neither_a_deadline_nor_a_stop() {
    let slow = json!({"description": "Part", "prompt": "SLOW", "subagent_type": "explore"});
    let script =
        Script::new().on(when::turn(0), reply::calls([reply::call("Task", slow)])).otherwise(reply::text("Done."));
    let (_, own) = plan(script.clone());
    let limits = Limits { timeout: Some(Duration::from_secs(9)), ..Limits::default() };
    let world = own.build();
    let late = world.engine.run(TaskRequest { limits, ..ask("SLOW") }).await.err().expect("it does not start");
    assert_eq!((late.code.as_str(), world.events().len()), ("timeout", 0));

    let (listener, below) = plan(script);
    let world = below.build();
    let running = world.start(ask("MAIN")).await;
    while listener.told().len() < 2 {
        tokio::task::yield_now().await;
    }
    let stopped_at = tokio::time::Instant::now();
    running.stop();
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Cancelled);
    assert!(stopped_at.elapsed() < Duration::from_secs(1), "{:?}", stopped_at.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_failed_hook_is_in_the_outcome_once() {
    for background in [false, true] {
        let task = json!({
            "description": "Part", "prompt": "BROKEN", "subagent_type": "explore", "run_in_background": background
        });
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task)]))
            .otherwise(reply::text("Done."));
        let world = plan(script).1.build();
        let outcome = world.run(ask("MAIN")).await;
        assert_eq!(outcome.status, Status::Completed);
        let read = world.seen_by("MAIN").pop().map(|seen| format!("{:?}", seen.messages)).expect("it was asked");
        assert_eq!(read.matches("notice: the hook failed").count(), 1, "{read}");
        let noticed = |event: &Event| matches!(&event.fact, Fact::Noticed { text } if text == "the hook failed");
        assert_eq!(world.events().iter().filter(|event| noticed(event)).count(), 1, "it is in the log");
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_of_endings_of_interrupted_tasks() {
    let site = Site::new();
    let left = left_behind(&site.whole(writing()).await, CHILD, "model_called");
    let journal = Arc::new(Relic::of(&left).await);
    let (listener, plan) = plan(writing());
    let (engine, _) = site.engine(plan, &journal);
    assert_eq!(engine.abandon(id(ROOT)).await.expect("it is ended").len(), 2);
    let told = ["general-purpose leg 1 has ended: cancelled", "main leg 1 has ended: cancelled"];
    assert_eq!(listener.told(), told);
    assert!(engine.abandon(id(ROOT)).await.expect("nothing is left to be ended").is_empty());
    assert_eq!(listener.told(), told, "each ending once");
}
