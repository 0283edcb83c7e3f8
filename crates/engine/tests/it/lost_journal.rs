//! A journal that cannot be written for a while, since another program holds it, and then can again, in one process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;
use sortie_engine::{EngineError, Resumption};
use sortie_journal::{Journal as _, JournalError, SqliteJournal, TaskState};
use sortie_protocol::{Status, ToolOutput, ToolSpec};
use sortie_testkit::{Script, reply, when};
use sortie_tools::{BoxFuture, CallContext, Tool};

use crate::support::{Plan, ask};

/// Holds the journal, as another program might, until it is released.
#[derive(Clone)]
struct Hold(Arc<Mutex<Connection>>);

impl Hold {
    fn let_go(&self) {
        self.0.lock().expect("nobody panics").execute_batch("ROLLBACK").expect("it is held");
    }
}

impl Tool for Hold {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "Hold".to_owned(), description: String::new(), schema: json!({"type": "object"}) }
    }

    fn idempotent(&self) -> bool {
        false
    }

    fn delegates(&self) -> bool {
        false
    }

    fn run<'a>(&'a self, _arguments: &'a str, _context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        self.0.lock().expect("nobody panics").execute_batch("BEGIN IMMEDIATE").expect("nobody else holds it");
        Box::pin(std::future::ready(ToolOutput::done("held", "held")))
    }
}

#[tokio::test]
async fn a_tree_with_a_lost_journal_stops_as_a_whole_and_can_resume() {
    for in_background in [false, true] {
        let home = tempfile::tempdir().expect("a temp directory");
        std::fs::create_dir(home.path().join("workspace")).expect("a fresh directory");
        let path = home.path().join("journal.db");
        let journal = SqliteJournal::open_with_patience(&path, Duration::from_millis(50)).expect("a fresh journal");
        let journal = Arc::new(journal);
        let hold = Hold(Arc::new(Mutex::new(Connection::open(&path).expect("it is there"))));
        let part = json!({"description": "A part", "prompt": "CHILD", "run_in_background": in_background});
        let script = Script::new()
            .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", part)]))
            .on(when::prompt_contains("MAIN"), reply::text("All is done."))
            .on(when::prompt_contains("CHILD").turn(0), reply::calls([reply::call("Hold", json!({}))]))
            .otherwise(reply::text("It was held."));
        let (engine, _) = Plan::script(script).tool(hold.clone()).engine(home.path(), Arc::clone(&journal) as _);

        let running = engine.run(ask("MAIN")).await.expect("it starts");
        let root = running.job().task;
        let lost = running.outcome().await.expect_err("nothing could be recorded");
        assert!(matches!(lost, EngineError::Journal(JournalError::Locked { .. })), "{lost:?}");
        hold.let_go();
        let states = || -> Vec<TaskState> {
            journal.tree(root).expect("it can be read").into_iter().map(|header| header.state).collect()
        };
        assert_eq!(states(), [TaskState::Interrupted; 2], "in background: {in_background}");

        let outcome = engine
            .resume(root, Resumption::default())
            .await
            .expect("it resumes")
            .outcome()
            .await
            .expect("the journal works again");
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All is done."), "{outcome:?}");
        assert_eq!(states(), [TaskState::Ended(Status::Completed); 2], "in background: {in_background}");
    }
}
