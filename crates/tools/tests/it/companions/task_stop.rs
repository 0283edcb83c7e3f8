use expect_test::expect;
use serde_json::json;
use sortie_protocol::{ReportMark, Status};
use sortie_tools::{Glance, Stand};

use super::family::{Family, below, ended, glance, id, mark, outcome, works};

fn cancelled(letter: char, text: &str, unread: Option<ReportMark>) -> Glance {
    glance(letter, Stand::Ended { outcome: Box::new(outcome(letter, Status::Cancelled, text)), unread })
}

#[tokio::test]
async fn the_receipt_names_all_stopped_tasks_with_their_text_so_far() {
    let family = Family::of(vec![glance('a', works())]);
    *family.stopped.lock().unwrap() = vec![
        cancelled('a', "Half of it.", Some(mark('a'))),
        below('a', cancelled('b', "", None)),
        below('b', cancelled('c', "A start.", None)),
    ];
    let output = family.project().run("TaskStop", json!({"task_id": id('a')})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore cancelled, 2 calls, 100 tokens, 1.5 s
        [so far mark-1]
        Half of it.
        [end mark-1]
        agent-bbbbbbbbbbbb explore cancelled, 2 calls, 100 tokens, 1.5 s
        agent-cccccccccccc explore cancelled, 2 calls, 100 tokens, 1.5 s
        [so far mark-2]
        A start.
        [end mark-2]"]]
    .assert_eq(&output.for_model);
    assert!(!output.failed);
    assert_eq!(output.mail.reports, [mark('a')]);
    assert_eq!(output.for_people, "3 tasks stopped, cancelled");
    assert_eq!(family.done(), ["stop agent-aaaaaaaaaaaa"]);
}

#[tokio::test]
async fn a_partly_shown_text_stays_unread() {
    let family = Family::of(vec![glance('a', works())]);
    *family.stopped.lock().unwrap() = vec![cancelled('a', &"word ".repeat(1000), Some(mark('a')))];
    let output = family.project().run("TaskStop", json!({"task_id": id('a')})).await;
    assert!(output.mail.is_empty());
    let end = "word word…\n[end mark-1]\n[the text so far is shown only in part; TaskOutput has it]";
    assert!(output.for_model.ends_with(end) && output.for_model.len() < 2300, "{}", output.for_model);
}

#[tokio::test]
async fn many_stopped_tasks_are_shown_in_part_and_counted() {
    let family = Family::of(vec![glance('a', works())]);
    *family.stopped.lock().unwrap() = (0..200).map(|_| cancelled('a', "", None)).collect();
    let text = family.project().done("TaskStop", json!({"task_id": id('a')})).await;
    assert_eq!(text.lines().count(), 31);
    assert!(text.ends_with("\n[170 more below it were also stopped]"), "{text}");
}

#[tokio::test]
async fn stopping_an_ended_task_is_not_a_failure_and_marks_nothing_as_read() {
    let family = Family::of(vec![ended('a', "A report.")]);
    let output = family.project().run("TaskStop", json!({"agentId": id('a').letters()})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore completed, 2 calls, 100 tokens, 1.5 s
        [it had ended before: nothing was stopped]"]]
    .assert_eq(&output.for_model);
    assert!(!output.failed && output.mail.is_empty(), "its report is still to come");
    let family = Family::of(vec![glance('a', Stand::Interrupted)]);
    let text = family.project().done("TaskStop", json!({"task_id": id('a')})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore interrupted: the process that ran it is gone
        [it is not running: nothing was stopped]"]]
    .assert_eq(&text);
}

#[tokio::test]
async fn stopping_an_unreachable_task_is_a_failure() {
    let family = Family::of(Vec::new());
    let refused = family.project().failed("TaskStop", json!({"shell_id": "bash_1"})).await;
    assert_eq!(refused, "there is no task `bash_1` below you");
    let nobody = family.project().failed("TaskStop", json!({"task_id": " "})).await;
    assert_eq!(nobody, "no task_id was given; TaskList has them");
    assert!(family.done().is_empty());
}
