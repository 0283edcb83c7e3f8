//! Messages that were left for a task while nobody ran it.

use expect_test::expect;
use sortie_engine::Resumption;
use sortie_journal::Journal as _;
use sortie_protocol::{Command, Fact, Sender, Status, TaskId};
use sortie_testkit::{Script, reply};

use super::support::{Plan, World, ask};

async fn leave(world: &World, task: TaskId, text: &str) {
    let command = Command::Send { task, from: Sender::Person, text: text.to_owned() };
    world.journal.send(command).await.expect("it is kept");
}

async fn go_on(world: &World, task: TaskId) {
    let resumption = Resumption { prompt: Some("Go on.".to_owned()), ..Resumption::default() };
    let running = world.engine.resume(task, resumption).await.expect("it can resume");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
}

#[tokio::test]
async fn missed_messages_are_read_in_order_before_the_next_turn_and_once() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let (task, other) = (world.run(ask("MAIN")).await.task_id, world.run(ask("OTHER")).await.task_id);
    leave(&world, task, "First.").await;
    leave(&world, other, "Not for you.").await;
    leave(&world, task, "Second.").await;
    go_on(&world, task).await;
    go_on(&world, task).await;
    let read: Vec<String> = world.events().into_iter().filter_map(|event| mail(event.fact)).collect();
    expect![[r#"
        Message from the person you work for:
        [message mark]
        First.
        [end mark]

        Message from the person you work for:
        [message mark]
        Second.
        [end mark]"#]]
    .assert_eq(&read.join("\n---\n"));
    let last = format!("{:?}", world.seen_by("MAIN").pop().expect("it was asked").messages);
    assert_eq!(last.matches("Second.").count(), 1, "{last}");
}

#[tokio::test]
async fn a_withdrawn_message_is_not_read() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let task = world.run(ask("MAIN")).await.task_id;
    leave(&world, task, "Missed.").await;
    let missed = world.journal.newest_command().expect("it is there");
    leave(&world, task, "Kept.").await;
    world.journal.send(Command::Withdraw { task, command: missed.0 }).await.expect("it is kept");
    go_on(&world, task).await;
    let read: Vec<String> = world.events().into_iter().filter_map(|event| mail(event.fact)).collect();
    assert!(read.len() == 1 && read[0].contains("Kept.") && !read[0].contains("Missed."), "{read:?}");
}

#[tokio::test]
async fn many_missed_messages_are_read_within_a_size_limit_each_turn() {
    let world = Plan::script(Script::always(reply::text("Done."))).build();
    let task = world.run(ask("MAIN")).await.task_id;
    for number in 0..20 {
        leave(&world, task, &format!("Number {number:02}. {}", "x".repeat(16_000))).await;
    }
    go_on(&world, task).await;
    let read: Vec<String> = world.events().into_iter().filter_map(|event| mail(event.fact)).collect();
    assert!(read.len() > 5 && read.iter().all(|text| text.len() < 50_000), "{} pieces", read.len());
    let all = read.join("");
    let mut places = (0..20).map(|number| all.match_indices(&format!("Number {number:02}.")).collect::<Vec<_>>());
    assert!(places.all(|places| places.len() == 1), "each once");
}

fn mail(fact: Fact) -> Option<String> {
    match fact {
        Fact::MailRead { text, .. } => Some(text),
        _ => None,
    }
}
