//! Notes that the tasks of a tree leave for each other, from any process.

use std::time::Duration;

use serde_json::json;
use sortie_engine::Resumption;
use sortie_journal::{Journal as _, TaskState};
use sortie_protocol::{Message, Status, Timestamp};
use sortie_testkit::{ScriptedReply, reply};

use crate::mail_at_every_event::{Asked, call, task};
use crate::mail_races::answering;
use crate::support::{Plan, World, ask};

/// A child posts a note, and looks again a while later; another one does so when it is resumed, and looks.
fn noting(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", false), task("SECOND", true)]),
        ("FIRST", 1) | ("SECOND", 0) => call("Note", json!({"text": format!("A note by {}.", asked.who)})),
        ("FIRST", 2) => call("Note", json!({})),
        ("SECOND", 1) => call("Note", json!({})).after_ms(60_000),
        _ => asked.report(),
    }
}

/// The last output that the task with this brief has read.
fn last_read(world: &World, who: &str) -> String {
    let last = world.seen_by(who).pop().expect("it was asked");
    format!("{:?}", last.messages.last())
}

#[tokio::test(start_paused = true)]
async fn a_note_from_another_process_is_read_by_the_whole_tree() {
    let world = answering(noting).build();
    let running = world.start(ask("MAIN")).await;
    // Sleeps on purpose: the clock is paused, and advances when everybody waits.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let other = Plan { now: Timestamp(1_000_000), ..answering(noting) }.build_over(&world);
    let tree = world.journal.tree(running.task).expect("it is there");
    let first = tree.iter().find(|header| header.state != TaskState::Running).expect("one has ended");
    let resumption = Resumption { prompt: Some("More.".to_owned()), ..Resumption::default() };
    let again = other.engine.resume(first.task_id, resumption).await.expect("it resumes");
    assert_eq!(again.outcome().await.expect("the journal works").status, Status::Completed);
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    for read in [last_read(&other, "FIRST"), last_read(&world, "SECOND")] {
        let at = |who: &str| read.find(&format!("A note by {who}.")).unwrap_or_else(|| panic!("{who}: {read}"));
        assert!(at("SECOND") < at("FIRST"), "{read}");
        assert_eq!(read.matches("A note by").count(), 2, "each once: {read}");
    }
}

/// A child posts one note; then the main agent posts more than are kept, and looks.
fn talking(asked: &Asked<'_>) -> ScriptedReply {
    let posts = |n| reply::call("Note", json!({"text": format!("{n} {}", "x".repeat(400))}));
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("FIRST", false)]),
        ("MAIN", turn @ 1..=3) => reply::calls((170 * (turn - 1)..170 * turn).map(posts)),
        ("MAIN", 4) => call("Note", json!({})),
        ("FIRST", 0) => call("Note", json!({"text": "A note by FIRST."})),
        _ => asked.report(),
    }
}

#[tokio::test(start_paused = true)]
async fn many_notes_of_one_task_do_not_push_out_those_of_others() {
    let world = answering(talking).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let requests = world.seen_by("MAIN");
    let Some(Message::Outputs { outputs }) = requests[2].messages.last() else { panic!("{requests:#?}") };
    let told: Vec<&str> = outputs.iter().map(|output| output.output.for_model.as_str()).collect();
    let (receipts, more): (Vec<&str>, Vec<&str>) = told.into_iter().partition(|text| *text == "[posted]");
    assert_eq!(receipts.len(), 169, "{more:#?}");
    assert!(more[0].contains("A note by FIRST.") && !more[0].contains("xxx"), "{}", more[0]);
    let read = last_read(&world, "MAIN");
    assert!(read.contains("A note by FIRST."), "{read}");
    assert_eq!(read.matches(" main: ").count(), 10, "{read}");
    assert!(read.contains("from offset 12 on; 11 older notes are no longer kept"), "{read}");
}
