//! A reused outcome: its recipient can read the report to the end, and nothing else of the task behind it.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::Resumption;
use sortie_journal::Entry;
use sortie_protocol::{Fact, Status, TaskId};
use sortie_testkit::{ScriptedPart, ScriptedReply, reply};

use crate::mail_at_every_event::{Asked, call, send};
use crate::mail_races::{Site, answering};
use crate::relic::Relic;
use crate::support::{Plan, ask};

/// More text than any contract delivers, with a number in each line.
fn report() -> String {
    let lines: Vec<String> = (0..3600).map(|line| format!("line {line:04}")).collect();
    lines.join("\n") + "\n"
}

fn task(agent: &str) -> ScriptedPart {
    reply::call("Task", json!({"description": "Part", "prompt": "PART", "subagent_type": agent}))
}

fn part(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("PART", 0) => call("LS", json!({})),
        ("PART", 1) => reply::text(report()),
        _ => asked.report(),
    }
}

fn asking(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("general-purpose")]),
        _ => part(asked),
    }
}

/// Makes the same request, and then tries to reach the task that answered it.
fn reaching(asked: &Asked<'_>) -> ScriptedReply {
    let id = "<task 1>";
    let go_on = json!({"description": "Part", "prompt": "And now?", "resume": id});
    match (asked.who, asked.turn) {
        ("MAIN", 1) => reply::calls([
            reply::call("TaskOutput", json!({"task_id": id, "offset": 35_900})),
            reply::call("TaskOutput", json!({"task_id": id})),
            reply::call("TaskStop", json!({"task_id": id})),
            reply::call("TaskList", json!({})),
            send(id, "Go on."),
            reply::call("Task", go_on),
        ]),
        _ => asking(asked),
    }
}

fn keeping(plan: Plan, ids_before: u8) -> Plan {
    Plan { keeps_results: true, ids_before, ..plan }
}

/// A run whose sub-agent has answered, and then one with the same request.
async fn twice() -> (Site, Vec<Vec<Entry>>, Vec<Vec<Entry>>) {
    let first = Site::new(keeping(answering(asking), 0));
    assert_eq!(first.run(ask("MAIN")).await.status, Status::Completed);
    let before = first.journal.appends();
    let second = first.later(keeping(answering(reaching), 10), Relic::of(&before).await);
    assert_eq!(second.run(ask("MAIN")).await.status, Status::Completed);
    let after = second.journal.appends();
    (second, before, after)
}

/// A line without the parts that always differ: duration, time and file name.
fn timeless(line: &str) -> String {
    let line = line.split_once("; for people the whole is in ").map_or(line, |(start, _)| start);
    let line = line.split_once(" completed, ").map_or(line, |(start, _)| start);
    match line.split_once(" on the same files at ") {
        Some((start, rest)) => format!("{start} on the same files at …{}", rest.trim_start_matches(|c| c != ';')),
        None => line.to_owned(),
    }
}

/// An output without its middle.
fn ends(output: &str) -> String {
    let mut lines: Vec<String> = output.lines().map(timeless).collect();
    if lines.len() > 8 {
        lines.splice(4..lines.len() - 4, ["…".to_owned()]);
    }
    lines.join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_reused_cut_report_can_be_read_to_its_end_but_its_task_not_reached() {
    let (site, _, _) = twice().await;
    let told: Vec<String> = site.outputs("MAIN").iter().map(|output| ends(output)).collect();
    expect![[r#"
        agent-aaaaaaaaaaab general-purpose
        notice: answered from agent-aaaaaaaaaaab, which did the same on the same files at …; its figures are from then; nothing was spent now; its report can be read, but no call of this task can resume it or write to it
        [report mark]
        line 0000
        …
        line 0780
        line 0781
        [… the report was cut here; TaskOutput with offset 7819 has the rest
        [end mark]
        ---
        agent-aaaaaaaaaaab general-purpose
        [report mark]
        line 3590
        line 3591
        …
        line 3599

        [end mark]
        [characters 35,900 to 36,000 of 36,000: the end]
        ---
        agent-aaaaaaaaaaab general-purpose
        [report mark]
        line 0000
        line 0001
        …
        line 0781
        [… the report was cut here; TaskOutput with offset 7819 has the rest
        [end mark]
        [a report was cut: page through it with offset 0]
        ---
        there is no task `agent-aaaaaaaaaaab` below this one
        ---
        [no sub-agents]
        ---
        there is no task `agent-aaaaaaaaaaab` below this one
        ---
        No sub-agent was started (not_own_task): agent-aaaaaaaaaaab is not a sub-agent of this task; only its parent can resume it"#]].assert_eq(&told.join("\n---\n"));
}

/// The journal at the moment when the process that received the outcome is killed.
fn until_given(appends: &[Vec<Entry>]) -> &[Vec<Entry>] {
    let is_answered = |entry: &Entry| matches!(entry.fact, Fact::CallFinished { .. });
    let given = appends.iter().position(|entries| entries.iter().any(is_answered)).expect("the call has an answer");
    &appends[..=given]
}

async fn page_after_a_crash(site: Site, left: &[Vec<Entry>], goes_on_first: Option<TaskId>) -> String {
    let site = site.later(keeping(answering(reaching), 20), Relic::of(left).await);
    if let Some(task) = goes_on_first {
        let resumption = Resumption { prompt: Some("Something else?".to_owned()), ..Resumption::default() };
        let running = site.engine.resume(task, resumption).await.expect("it resumes");
        assert_eq!(running.outcome().await.expect("the journal works").text, "The report of PART at turn 2!");
    }
    let root = left.last().and_then(|entries| entries.first()).expect("it has begun").task_id;
    let running = site.engine.resume(root, Resumption::default()).await.expect("it resumes");
    assert_eq!(running.outcome().await.expect("the journal works").status, Status::Completed);
    site.outputs("MAIN").remove(1)
}

#[tokio::test(start_paused = true)]
async fn a_reused_report_can_be_read_after_a_crash_whatever_its_task_did_since() {
    let child: TaskId = "agent-aaaaaaaaaaab".parse().expect("an id");
    for goes_on_first in [None, Some(child)] {
        let (site, before, after) = twice().await;
        let left = [&before, until_given(&after)].concat();
        let page = page_after_a_crash(site, &left, goes_on_first).await;
        assert!(page.contains("line 3599") && page.contains("36,000: the end"), "{page}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reused_report_whose_task_was_deleted_says_so() {
    let (site, _, after) = twice().await;
    let page = page_after_a_crash(site, until_given(&after), None).await;
    expect!["agent-aaaaaaaaaaab is no longer in the journal; only the part of its report that you got is left"]
        .assert_eq(&page);
}

/// A task with this request, in a contract with short reports and no place for notices.
fn typed(asked: &Asked<'_>) -> ScriptedReply {
    match (asked.who, asked.turn) {
        ("MAIN", 0) => reply::calls([task("Explore")]),
        _ => part(asked),
    }
}

#[tokio::test(start_paused = true)]
async fn s3_27_a_reused_report_leaves_room_for_its_notice() {
    let plan = |ids_before| keeping(answering(typed).contract("typed"), ids_before);
    let first = Site::new(plan(0));
    first.run(ask("MAIN")).await;
    let second = Relic::of(&first.journal.appends()).await;
    let second = first.later(plan(10), second);
    second.run(ask("MAIN")).await;
    let answer: Value = serde_json::from_str(&second.outputs("MAIN")[0]).expect("an object");
    let result = answer["result"].as_str().expect("a text");
    assert!(result.chars().count() <= 1000, "{result}");
    assert!(
        result.lines().last().expect("it has lines").starts_with("[answered from agent-aaaaaaaaaaab, "),
        "{result}"
    );
    let (kept, mark) = result.split_once("\n[… the report was cut here; TaskOutput with offset ").expect("a mark");
    let offset: usize = mark.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    assert_eq!(report().get(..offset), Some(kept), "it goes on where it was cut");
}
