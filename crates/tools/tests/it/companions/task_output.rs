use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_protocol::{Failure, FailureCode, Fault, Limit, Status, TaskOutcome};
use sortie_tools::Stand;
use tokio::time::Instant;

use super::family::{Family, ended, glance, id, mark, outcome, read, works};

const DO_NOT_POLL: &str =
    "reports of your background tasks are delivered to you: do other work or end your turn, do not poll]";

#[tokio::test(start_paused = true)]
async fn reports_are_returned_between_marks_and_count_as_read() {
    let family = Family::of(vec![ended('a', "Found it.\nIn src/a.rs."), read('b', Status::Failed, "")]);
    let output = family.project().run("TaskOutput", json!({"task_ids": [id('a'), id('b')]})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore completed, 2 calls, 100 tokens, 1.5 s
        [report mark-1]
        Found it.
        In src/a.rs.
        [end mark-1]

        agent-bbbbbbbbbbbb explore failed, 2 calls, 100 tokens, 1.5 s"]]
    .assert_eq(&output.for_model);
    assert!(!output.failed, "that a task has failed is no failure of the look");
    assert_eq!(output.mail.reports, [mark('a')], "the other one was not in the mail");
    assert_eq!(output.mail.essences.len(), 1, "and what it came to");
    assert_eq!(output.for_people, "2 of 2 ended");
}

#[tokio::test(start_paused = true)]
async fn extras_of_a_report_are_returned_with_it() {
    let outcome = TaskOutcome {
        reason: Some(Limit::Turns),
        truncated: true,
        full_text_path: Some("/spill/a.txt".to_owned()),
        notices: vec!["a notice".to_owned()],
        error: Some(Failure::new(FailureCode::Timeout, "it took too long")),
        ..outcome('a', Status::Partial, "Half.")
    };
    let family = Family::of(vec![glance('a', Stand::Ended { outcome: Box::new(outcome), unread: None })]);
    let output = family.project().run("TaskOutput", json!({"task_id": id('a')})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore partial (limit: turns), 2 calls, 100 tokens, 1.5 s
        error timeout: it took too long
        notice: a notice
        [report mark-1]
        Half.
        [end mark-1]
        [a report was cut: page through it with offset 0]"]]
    .assert_eq(&output.for_model);
}

#[tokio::test(start_paused = true)]
async fn tasks_that_have_not_ended_in_time_get_a_digest() {
    let tasks =
        vec![glance('a', works()), glance('b', Stand::Waits), glance('c', Stand::Interrupted), ended('d', "Done.")];
    let family = Family::of(tasks);
    let began = Instant::now();
    let ids = [id('a'), id('b'), id('c'), id('d')];
    let output = family.project().run("TaskOutput", json!({"task_ids": ids})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore running, turn 3, 12 calls, 4500 tokens, 41.2 s, last: Grep

        agent-bbbbbbbbbbbb explore waiting for a slot

        agent-cccccccccccc explore interrupted: the process that ran it is gone

        agent-dddddddddddd explore completed, 2 calls, 100 tokens, 1.5 s
        [report mark-1]
        Done.
        [end mark-1]
        [no process runs agent-cccccccccccc: there is no report unless a person resumes it; 2 of 4 have not ended; reports of your background tasks are delivered to you: do other work or end your turn, do not poll]"]]
    .assert_eq(&output.for_model);
    assert_eq!(output.mail.reports, [mark('d')]);
    assert!(!output.failed);
    assert_eq!(began.elapsed().as_secs(), 30, "the time is for all together");
}

#[tokio::test(start_paused = true)]
async fn it_waits_until_all_have_ended_and_no_longer() {
    let family = Family::of(vec![glance('a', works()), glance('b', works())]);
    let project = family.project();
    let began = Instant::now();
    let (output, ()) = tokio::join!(project.run("TaskOutput", json!({"task_ids": [id('a'), id('b')]})), async {
        tokio::time::advance(Duration::from_secs(5)).await;
        family.now(ended('b', "Second."));
        tokio::time::advance(Duration::from_secs(5)).await;
        family.now(ended('a', "First."));
    });
    assert_eq!(began.elapsed().as_secs(), 10);
    assert_eq!(output.mail.reports, [mark('a'), mark('b')]);
    assert!(output.for_model.contains("First.") && output.for_model.contains("Second."), "{}", output.for_model);
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_as_long_as_requested_within_bounds() {
    let family = Family::of(vec![glance('a', works())]);
    for (arguments, seconds) in [
        (json!({"task_id": id('a'), "block": false}), 0),
        (json!({"task_id": id('a'), "block": false, "timeout": 9000}), 0),
        (json!({"task_id": id('a'), "timeout": 0}), 0),
        (json!({"task_id": id('a'), "timeout": "2000"}), 2),
        (json!({"task_id": id('a'), "timeout": 600_000}), 600),
    ] {
        let began = Instant::now();
        let text = family.project().done("TaskOutput", arguments.clone()).await;
        assert_eq!(began.elapsed().as_secs(), seconds, "{arguments}");
        assert!(text.ends_with(&format!("last: Grep\n[1 of 1 has not ended; {DO_NOT_POLL}")), "{text}");
    }
    let began = Instant::now();
    let text = family.project().done("TaskOutput", json!({"task_id": id('a'), "timeout": 9_000_000})).await;
    assert_eq!(began.elapsed().as_secs(), 600);
    assert!(text.contains("[the timeout was cut to 600000 ms; "), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_id_is_an_error_for_that_id_alone() {
    let family = Family::of(vec![ended('a', "Found.")]);
    let project = family.project();
    let output = project.run("TaskOutput", json!({"task_ids": ["agent-nobody", id('a')]})).await;
    assert!(!output.failed);
    assert!(output.for_model.starts_with("there is no task `agent-nobody` below you\n\nagent-aaaaaaaaaaaa"));
    assert_eq!(output.mail.reports, [mark('a')]);
    let output = project.run("TaskOutput", json!({"task_ids": ["agent-nobody", "x"]})).await;
    assert!(output.failed);
    assert_eq!(output.fault, Some(Fault::NotFound));
    expect![[r"
        there is no task `agent-nobody` below you

        there is no task `x` below you"]]
    .assert_eq(&output.for_model);
    family.now(glance('a', works()));
    let text = project.done("TaskOutput", json!({"task_ids": ["agent-nobody", id('a')], "block": false})).await;
    assert!(text.contains("\n[1 of 2 has not ended; "), "all that were asked for are counted: {text}");
}

#[tokio::test(start_paused = true)]
async fn ids_are_understood_as_models_write_them_and_not_repeated() {
    let family = Family::of(vec![ended('a', "One."), ended('b', "Two.")]);
    let project = family.project();
    let (a, b) = (id('a').to_string(), id('b').to_string());
    for arguments in [
        json!({"task_ids": [a, b]}),
        json!({"task_id": a, "task_ids": [b, a]}),
        json!({"task_ids": format!("{a}, {b}")}),
        json!({"task_ids": format!("[\"{a}\", \"{b}\"]")}),
        json!({"agentIds": [id('a').letters(), a, b]}),
        json!({"taskId": a, "task_ids": [id('b').letters()], "offset": null}),
    ] {
        let output = project.run("TaskOutput", arguments.clone()).await;
        assert_eq!(output.mail.reports, [mark('a'), mark('b')], "{arguments}: {}", output.for_model);
    }
    let unread = project.run("TaskOutput", json!({"task_ids": []})).await;
    assert_eq!(unread.mail.reports, [mark('a'), mark('b')], "without ids: {}", unread.for_model);
    let refused = project.failed("TaskOutput", json!({"offset": 5})).await;
    assert_eq!(refused, "offset pages one report: give its task_id");
    let number = project.failed("TaskOutput", json!({"task_id": 5})).await;
    assert!(number.contains("do not fit (expected a text or a list of texts"), "{number}");
    let many: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    let refused = project.failed("TaskOutput", json!({"task_ids": many})).await;
    assert_eq!(refused, "101 ids were given, at most 100 at a time");
}

#[tokio::test(start_paused = true)]
async fn without_an_id_unread_reports_come_first_then_what_works_and_nothing_is_waited_for() {
    let since = tokio::time::Instant::now();
    let shown = |tasks| async { Family::of(tasks).project().run("TaskOutput", json!({})).await.for_model };
    let old = || read('a', Status::Completed, "Old.");
    let ready = shown(vec![old(), glance('b', works()), ended('c', "New.")]).await;
    assert!(ready.contains("New.") && !ready.contains("Old.") && !ready.contains("agent-bbbb"), "{ready}");
    let works = shown(vec![old(), glance('b', works())]).await;
    assert!(works.contains("agent-bbbbbbbbbbbb explore running, turn 3") && !works.contains("Old."), "{works}");
    let nothing = shown(vec![old()]).await;
    assert!(nothing.contains("No sub-agent works"), "{nothing}");
    assert_eq!(since.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_report_that_does_not_fit_with_the_others_stays_unread() {
    let long = "word ".repeat(2000);
    let family = Family::of(vec![ended('a', &long), ended('b', &long), ended('c', &long), ended('d', "Short.")]);
    let project = family.project();
    let output = project.run("TaskOutput", json!({"task_ids": [id('a'), id('b'), id('c'), id('d')]})).await;
    assert_eq!(output.mail.reports, [mark('a'), mark('b'), mark('d')]);
    let said = "agent-cccccccccccc explore completed, 2 calls, 100 tokens, 1.5 s\n\
                (its report has 10,000 characters and did not fit; ask for it alone)";
    assert!(output.for_model.contains(said), "{}", output.for_model.replace("word ", ""));
    assert!(output.for_model.chars().count() < 24_500);
    let alone = project.run("TaskOutput", json!({"task_id": id('c')})).await;
    assert_eq!(alone.mail.reports, [mark('c')]);
}

#[tokio::test(start_paused = true)]
async fn a_full_report_is_read_page_by_page_without_a_gap() {
    let family = Family::of(vec![ended('a', "The start of it.")]);
    let report = (0..3000).map(|n| format!("äword{n} ")).collect::<Vec<_>>().concat();
    report.clone_into(&mut family.report.lock().unwrap());
    let project = family.project();
    let (mut read, mut offset) = (String::new(), 0_usize);
    for n_page in 1.. {
        let output = project.run("TaskOutput", json!({"task_id": id('a'), "offset": offset})).await;
        assert!(output.mail.is_empty(), "a part is not the whole");
        let (head, rest) = output.for_model.split_once(&format!("\n[report mark-{n_page}]\n")).unwrap();
        assert_eq!(head, "agent-aaaaaaaaaaaa explore completed, 2 calls, 100 tokens, 1.5 s");
        let (page, note) = rest.split_once(&format!("\n[end mark-{n_page}]\n")).unwrap();
        assert!(page.chars().count() <= 8000);
        read += page;
        let Some((_, next)) = note.strip_suffix(']').unwrap().rsplit_once("next offset: ") else {
            assert!(note.ends_with(" of 28,890: the end]"), "{note}");
            break;
        };
        offset = next.parse().unwrap();
        assert!(!read.ends_with(|letter: char| letter.is_ascii_alphanumeric()), "no word is cut");
    }
    assert_eq!(read, report);
    let beyond = project.done("TaskOutput", json!({"task_id": id('a'), "offset": 30_000})).await;
    assert!(beyond.ends_with("\n[nothing from character 30,000 on: the report has 28,890]"), "{beyond}");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_the_whole_report_counts_as_read() {
    let family = Family::of(vec![ended('a', "Cut."), glance('b', works())]);
    "Not cut.".clone_into(&mut family.report.lock().unwrap());
    let project = family.project();
    let output = project.run("TaskOutput", json!({"task_id": id('a'), "offset": 0})).await;
    expect![[r"
        agent-aaaaaaaaaaaa explore completed, 2 calls, 100 tokens, 1.5 s
        [report mark-1]
        Not cut.
        [end mark-1]
        [characters 0 to 8 of 8: the end]"]]
    .assert_eq(&output.for_model);
    assert_eq!(output.mail.reports, [mark('a')]);
    let rest = project.run("TaskOutput", json!({"task_id": id('a'), "offset": 4})).await;
    assert!(rest.mail.is_empty() && rest.for_model.contains("\ncut.\n"), "{}", rest.for_model);
    let running = project.done("TaskOutput", json!({"task_id": id('b'), "offset": 0, "block": false})).await;
    assert!(running.starts_with("agent-bbbbbbbbbbbb explore running, turn 3"), "{running}");
    let several = project.failed("TaskOutput", json!({"task_ids": [id('a'), id('b')], "offset": 0})).await;
    assert_eq!(several, "offset pages one report: give one task_id with it");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_ends_at_once() {
    let family = Family::of(vec![glance('a', works())]);
    let project = family.project();
    project.cancel.cancel();
    let began = Instant::now();
    assert_eq!(project.failed("TaskOutput", json!({"task_id": id('a')})).await, "cancelled before it finished");
    assert!(began.elapsed().is_zero());
}
