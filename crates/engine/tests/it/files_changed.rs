//! Changed files in a task's outcome: its own and those of all its descendants, waited for or not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sortie_engine::{Resumption, footprint_so_far};
use sortie_journal::{Entry, Journal as _};
use sortie_protocol::{Fact, Status, ToolOutput};
use sortie_testkit::{ScriptedReply, reply};
use sortie_tools::{CallContext, TypedTool};
use tokio::sync::Notify;

use crate::mail_at_every_event::{Asked, call, task};
use crate::mail_races::{Site, answering};
use crate::permissions::write;
use crate::relic::Relic;
use crate::support::ask;

/// A file each, at three levels, nobody waited for.
fn writing(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("MIDDLE", true), write("main.txt")]),
        ("MIDDLE", 0) => reply::calls([task("LEAF", true)]),
        ("LEAF", 0) => reply::calls([write("leaf.txt")]),
        _ => asked.report(),
    }
}

/// The files that calls in these events are known to have changed.
fn told<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeSet<String> {
    let changed = entries.filter_map(|entry| match &entry.fact {
        Fact::CallFinished { output, .. } => Some(output.output.files_changed.clone()),
        _ => None,
    });
    changed.flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn files_changed_in_the_background_are_in_every_outcome_above() {
    let site = Site::new(answering(writing));
    let outcome = site.run(ask("MAIN")).await;
    assert_eq!((outcome.status, outcome.files_changed), (Status::Completed, strings(&["leaf.txt", "main.txt"])));
    let middle = site.journal.ending("agent-aaaaaaaaaaab".parse().expect("an id"));
    assert_eq!(middle.expect("it reads").expect("it has ended").files_changed, strings(&["leaf.txt"]));
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn no_reported_file_is_lost_when_killed_anywhere() {
    let mut site = Site::new(answering(writing));
    let root = site.run(ask("MAIN")).await.task_id;
    let appends = site.journal.appends();
    for killed_after in 1..appends.len() {
        site = site.later(answering(writing), Relic::of(&appends[..killed_after]).await);
        let so_far = footprint_so_far(site.journal.as_ref(), root).expect("it reads").files_changed;
        assert_eq!(so_far, told(appends[..killed_after].iter().flatten()), "after {killed_after}");
        let running = site.engine.resume(root, Resumption::default()).await.expect("it resumes");
        let outcome = running.outcome().await.expect("the journal works");
        let since = site.journal.appends();
        let all = told(appends[..killed_after].iter().chain(&since).flatten());
        assert_eq!(BTreeSet::from_iter(outcome.files_changed), all, "after {killed_after}");
    }
}

/// Ends when it is told to, and has changed a file by then.
struct Paints(Arc<Notify>);

impl TypedTool for Paints {
    type Input = Value;
    const NAME: &'static str = "Paints";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "paints".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, _input: Value, context: CallContext<'_>) -> ToolOutput {
        self.0.notify_one();
        context.cancel.cancelled().await;
        // Sleeps on purpose: the clock is paused, so that its task ends after all others that were stopped with it.
        tokio::time::sleep(Duration::from_secs(1)).await;
        ToolOutput { files_changed: strings(&["wall.txt"]), ..ToolOutput::done("painted", "painted") }
    }
}

/// Ends its turn while a background child paints.
fn painting(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("PAINTER", true)]),
        ("PAINTER", 0) => call("Paints", json!({})),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn changes_of_a_background_child_stopped_with_its_parent_are_reported() {
    let paints = Arc::new(Notify::new());
    let site = Site::new(answering(painting).tool(Paints(Arc::clone(&paints))));
    let running = site.engine.run(ask("MAIN")).await.expect("it starts");
    paints.notified().await;
    running.stop();
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!((outcome.status, outcome.files_changed), (Status::Cancelled, strings(&["wall.txt"])));
    assert_eq!(outcome.usage.tool_calls, 2);
}
