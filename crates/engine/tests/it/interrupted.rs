//! An interrupted engine: work stops where it is, nothing is recorded as ended, and a resume continues it.

use std::sync::Arc;

use serde_json::json;
use sortie_engine::{Engine, Resumption, Running};
use sortie_journal::{Journal, SqliteJournal, TaskState};
use sortie_protocol::{Event, Fact, Status, TaskId, TaskOutcome};
use sortie_testkit::{Script, ScriptedModel, reply, when};

use crate::support::{Plan, ask};

/// Main agent with two children, of which one has reported; all others wait for their models.
fn delegating(in_background: bool) -> Script {
    let delegate = |prompt: &str| {
        let brief = json!({"description": prompt, "prompt": prompt, "run_in_background": in_background});
        reply::call("Task", brief)
    };
    Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([delegate("FIRST"), delegate("SECOND")]))
        .on(when::prompt_contains("FIRST"), reply::text("The first report."))
        .on(when::prompt_contains("SECOND").turn(0), reply::calls([reply::call("LS", json!({}))]).text("I look."))
        .on(when::prompt_contains("SECOND"), reply::text("The second report.").held_by("second"))
        .otherwise(reply::text("All is done."))
}

fn states(journal: &dyn Journal, root: TaskId) -> Vec<TaskState> {
    journal.tree(root).expect("it can be read").into_iter().map(|header| header.state).collect()
}

fn logs(journal: &dyn Journal, root: TaskId) -> Vec<Vec<Event>> {
    let tree = journal.tree(root).expect("it can be read");
    tree.iter().map(|header| journal.read(header.task_id).expect("it can be read")).collect()
}

async fn ended(running: Running) -> TaskOutcome {
    running.outcome().await.expect("the journal works")
}

/// Starts the main agent, and returns once only the second child works and its second model call is on record.
async fn at_work(engine: &Engine, model: &ScriptedModel, journal: &dyn Journal) -> Running {
    let running = engine.run(ask("MAIN")).await.expect("it starts");
    let done = TaskState::Ended(Status::Completed);
    model.traffic_reaches(|traffic| traffic.calls >= 4 && traffic.in_flight == 1).await;
    let calls = |log: &Vec<Event>| log.iter().filter(|event| matches!(event.fact, Fact::ModelCalled { .. })).count();
    while !states(journal, running.task).contains(&done) || logs(journal, running.task).get(2).map_or(0, calls) < 2 {
        tokio::task::yield_now().await;
    }
    running
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_tree_has_no_ending_and_resumes_in_the_middle() {
    for in_background in [false, true] {
        let home = tempfile::tempdir().expect("a temp directory");
        std::fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
        let journal = Arc::new(SqliteJournal::open(&home.path().join("journal.db")).expect("a new journal"));
        let plan = Plan::script(delegating(in_background));
        let (engine, model) = plan.engine(home.path(), Arc::clone(&journal) as _);
        let running = at_work(&engine, &model, journal.as_ref()).await;
        let root = running.task;
        engine.interrupt().await;

        let before = logs(journal.as_ref(), root);
        let outcome = ended(running).await;
        assert_eq!((outcome.status, outcome.task_id), (Status::Interrupted, root));
        assert!(outcome.usage.turns >= 3, "everything so far is in the figures: {outcome:?}");
        assert_eq!(model.traffic().in_flight, 0, "its model calls are closed");
        let interrupted = TaskState::Interrupted;
        let wanted = [interrupted, TaskState::Ended(Status::Completed), interrupted];
        assert_eq!(states(journal.as_ref(), root), wanted, "in background: {in_background}");
        assert_eq!(logs(journal.as_ref(), root), before, "nothing is written afterwards");

        // This engine and others can resume it.
        model.gate("second").open();
        let resumed = engine.resume(root, Resumption::default()).await.expect("it resumes");
        let outcome = ended(resumed).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All is done."), "{outcome:?}");
        assert_eq!(states(journal.as_ref(), root), [TaskState::Ended(Status::Completed); 3]);
        let seen = model.seen();
        let told = format!("{:?}", seen.last().expect("it was asked").messages);
        assert!(told.contains("The first report.") && told.contains("The second report."), "{told}");
        let looks = seen.iter().filter(|seen| format!("{:?}", seen.messages.first()).contains("SECOND")).count();
        assert_eq!(looks, 3, "only the call under way is repeated");
    }
}

#[tokio::test]
async fn a_task_that_is_stopped_ends_and_one_that_is_interrupted_does_not() {
    let world = Plan::script(Script::always(reply::never())).build();
    let (stopped, interrupted) = (world.start(ask("ONE")).await, world.start(ask("TWO")).await);
    let (first, second) = (stopped.task, interrupted.task);
    world.model.traffic_reaches(|traffic| traffic.in_flight == 2).await;
    assert!(world.engine.stop(first));
    assert_eq!(ended(stopped).await.status, Status::Cancelled);
    world.engine.interrupt().await;
    // A stop that comes too late changes nothing.
    assert!(!world.engine.stop(second));
    assert_eq!(ended(interrupted).await.status, Status::Interrupted);
    let journal = world.journal.as_ref();
    assert_eq!(states(journal, first), [TaskState::Ended(Status::Cancelled)]);
    assert_eq!(states(journal, second), [TaskState::Interrupted]);
    let outcomes = world.engine.abandon(second).await.expect("an interrupted task can be ended for good");
    assert_eq!(outcomes.iter().map(|outcome| outcome.status).collect::<Vec<_>>(), [Status::Cancelled]);
}

#[tokio::test]
async fn an_open_question_of_an_interrupted_task_is_asked_again() {
    let asking = json!({"question": "Which?", "to": "parent"});
    let delegate = json!({"description": "Ask", "prompt": "CHILD", "run_in_background": true});
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", delegate)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::never())
        .on(when::prompt_contains("MAIN"), reply::text("All is done."))
        .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call("Ask", asking)]))
        .otherwise(reply::text("The child's report."));
    let world = Plan::script(script).build();
    let running = world.start(ask("MAIN")).await;
    let root = running.task;
    world.model.traffic_reaches(|traffic| traffic.calls >= 3).await;
    while !world.transcript().contains("question_asked") {
        tokio::task::yield_now().await;
    }
    world.engine.interrupt().await;
    assert_eq!(ended(running).await.status, Status::Interrupted);
    assert_eq!(states(world.journal.as_ref(), root), [TaskState::Interrupted; 2]);
    assert!(!world.transcript().contains("question_answered"), "{}", world.transcript());
}
