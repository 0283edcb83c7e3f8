use expect_test::expect;
use serde_json::json;
use sortie_protocol::{Status, TaskId};
use sortie_tools::{Glance, Stand, Work};

use super::family::{Family, below, ended, glance, read, works};

#[tokio::test]
async fn tasks_are_a_tree_in_start_order() {
    let long = Glance { title: format!("A title\nof two lines {}", "and more ".repeat(20)), ..ended('b', "Report.") };
    let family = Family::of(vec![
        glance('a', works()),
        long,
        below('a', glance('c', Stand::Waits)),
        below('b', read('d', Status::Failed, "")),
        below('c', glance('e', Stand::Interrupted)),
        below('x', glance('f', works())),
    ]);
    let output = family.project().run("TaskList", json!({})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece a
          agent-cccccccccccc explore waiting for a slot: Piece c
            agent-eeeeeeeeeeee explore interrupted: the process that ran it is gone: Piece e
        agent-bbbbbbbbbbbb explore completed, 2 calls, 100 tokens, 1.5 s: A title of two lines and more and more and more and more and more and more and more and more and…
          agent-dddddddddddd explore failed, 2 calls, 100 tokens, 1.5 s: Piece d
        agent-ffffffffffff explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece f"]]
    .assert_eq(&output.for_model);
    assert!(output.mail.is_empty(), "a list tells no report");
    assert_eq!(output.for_people, "6 tasks");
}

#[tokio::test]
async fn one_call_is_one_call() {
    let Stand::Works(work) = works() else { panic!("it works") };
    let family = Family::of(vec![glance('a', Stand::Works(Work { tool_calls: 1, ..work }))]);
    let text = family.project().done("TaskList", json!({})).await;
    assert!(text.contains(", turn 3, 1 call, 4500 tokens"), "{text}");
}

#[tokio::test]
async fn a_status_selects_the_tasks_to_list() {
    let family = Family::of(vec![
        glance('a', works()),
        below('a', ended('b', "Report.")),
        below('b', glance('c', works())),
        below('c', glance('d', works())),
    ]);
    let project = family.project();
    let list = |status: &'static str| project.done("TaskList", json!({"status": status}));
    expect![[r"
        agent-aaaaaaaaaaaa explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece a
        agent-cccccccccccc explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece c
          agent-dddddddddddd explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece d"]]
    .assert_eq(&list("Running").await);
    assert!(list("completed").await.starts_with("agent-bbbbbbbbbbbb"));
    assert_eq!(list("failed").await, "[no sub-agent is failed]");
    expect![
        "there is no status `asleep`; use one of running, waiting, interrupted, completed, partial, failed, cancelled, rejected"
    ]
    .assert_eq(&project.failed("TaskList", json!({"status": "asleep"})).await);
    assert_eq!(Family::of(Vec::new()).project().done("TaskList", json!({"status": ""})).await, "[no sub-agents]");
}

#[tokio::test]
async fn the_newest_tasks_are_listed_and_the_rest_counted() {
    let task = |n: u8| Glance { task: TaskId::from_random([n; 12].map(|n| n % 26)), ..glance('a', works()) };
    let tasks = (0..120).map(|n| Glance { title: format!("number {n}"), ..task(n) }).collect();
    let text = Family::of(tasks).project().done("TaskList", json!({})).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 51);
    assert!(lines[0].ends_with(": number 70") && lines[49].ends_with(": number 119"), "{text}");
    assert_eq!(lines[50], "[70 older ones are not shown]");
}

#[tokio::test]
async fn siblings_are_listed_separately_with_ids_and_titles_but_no_reports() {
    let family = Family::of(vec![glance('a', works())]);
    *family.siblings.lock().unwrap() = vec![ended('b', "Secret."), glance('c', works())];
    let project = family.project();
    expect![[r"
        agent-aaaaaaaaaaaa explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece a
        Beside you:
        agent-bbbbbbbbbbbb explore completed, 2 calls, 100 tokens, 1.5 s: Piece b
        agent-cccccccccccc explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep: Piece c"]]
    .assert_eq(&project.done("TaskList", json!({})).await);
    let completed = project.done("TaskList", json!({"status": "completed"})).await;
    assert!(completed.contains("agent-bbbbbbbbbbbb") && !completed.contains("agent-cccccccccccc"), "{completed}");
}
