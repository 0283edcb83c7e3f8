//! Reports at a limit for which the model could not afford to read the whole conversation. The omission affects that
//! one request, and a resume with more has everything again.

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_journal::Entry;
use sortie_protocol::{Fact, Limit, Limits, TaskOutcome, TaskRequest, Usage};
use sortie_testkit::{Fault, Script, ScriptedReply, StatusFault, reply, when};

use crate::mail_races::Site;
use crate::relic::Relic;
use crate::support::{Plan, ask};

const MAX: u64 = 12_000;
const LEFT_OUT: &str = "left out to make room";

fn plan() -> Plan {
    reporting(reply::text("So far."))
}

/// Reads a file that is longer than the remaining budget, and then reports.
fn reporting(report: ScriptedReply) -> Plan {
    let counted = Usage { input_tokens: 2500, ..Usage::default() };
    let read = reply::call("Read", json!({"file_path": "long.txt"}));
    let script = Script::new()
        .on(when::last_contains("reached a limit"), report.usage(counted))
        .on(when::last_contains("With more."), reply::text("All of it.").usage(counted))
        .otherwise(reply::text("I read.").calls([read]).usage(counted));
    Plan::script(script).files(&[("long.txt", "a line of many\n".repeat(2000).as_str())])
}

fn within(max_tokens: u64) -> Limits {
    Limits { max_tokens: Some(max_tokens), ..Limits::default() }
}

async fn run(site: &Site) -> TaskOutcome {
    site.run(TaskRequest { limits: within(MAX), ..ask("MAIN") }).await
}

async fn resume(site: &Site, first: &TaskOutcome, resumption: Resumption) -> TaskOutcome {
    let running = site.engine.resume(first.task_id, resumption).await.expect("it resumes");
    running.outcome().await.expect("the journal works")
}

/// Resumes the task with more, and checks that it has everything it had read.
async fn has_all_of_it(site: &Site, first: &TaskOutcome) {
    let more = Resumption { prompt: Some("With more.".to_owned()), limits: within(20 * MAX), ..Resumption::default() };
    let outcome = resume(site, first, more).await;
    assert_eq!((outcome.text.as_str(), outcome.notices.as_slice()), ("All of it.", &[] as &[String]));
    let outputs = site.outputs("MAIN");
    assert!(
        !outputs.is_empty() && outputs.iter().all(|output| !output.contains(LEFT_OUT) && output.len() > 20_000),
        "{outputs:?}"
    );
    assert!(!site.all_events().iter().any(|event| matches!(event.fact, Fact::Compacted { .. })));
}

#[tokio::test]
async fn parts_left_out_for_a_report_are_back_in_a_resume_with_more() {
    let site = Site::new(plan());
    let first = run(&site).await;
    assert_eq!((first.reason, first.text.as_str()), (Some(Limit::Tokens), "So far."), "{first:?}");
    assert!(first.usage.total_tokens() <= MAX, "{first:?}");
    expect!["parts of the conversation were left out of the request for the report, since tokens or money were short; a resume with more has all of it"]
        .assert_eq(&first.notices.join("; "));
    assert!(site.outputs("MAIN").iter().any(|output| output.contains(LEFT_OUT)));
    has_all_of_it(&site, &first).await;
}

#[tokio::test]
async fn an_abridged_report_that_is_refused_leaves_the_conversation_unchanged() {
    let message = Some("prompt is too long".to_owned());
    let too_long = StatusFault { code: 400, retry_after: None, message };
    let site = Site::new(reporting(reply::fault(Fault::Status(too_long))));
    let first = run(&site).await;
    assert_eq!((first.reason, first.text.as_str()), (Some(Limit::Tokens), "I read."), "{first:?}");
    expect!["there is no report: the conversation no longer fits the model's window"]
        .assert_eq(first.notices.last().expect("it is said"));
    has_all_of_it(&site, &first).await;
}

#[tokio::test]
async fn a_task_killed_anywhere_reports_if_it_can_and_loses_nothing() {
    let mut site = Site::new(plan());
    let first = run(&site).await;
    let appends = site.journal.appends();
    let has_read = |entries: &Vec<Entry>| entries.iter().any(|entry| matches!(entry.fact, Fact::CallFinished { .. }));
    let read = appends.iter().position(has_read).expect("it has read");
    let mut n_lost = 0;
    for killed in read + 1..appends.len() {
        site = site.later(plan(), Relic::of(&appends[..killed]).await);
        let outcome = resume(&site, &first, Resumption::default()).await;
        assert_eq!(outcome.reason, Some(Limit::Tokens), "after {killed} appends: {outcome:?}");
        assert!(outcome.usage.total_tokens() <= MAX, "after {killed} appends: {outcome:?}");
        assert_eq!(outcome.notices[0], first.notices[0], "after {killed} appends");
        n_lost += usize::from(outcome.text != first.text);
        has_all_of_it(&site, &first).await;
    }
    assert_eq!(n_lost, 1, "a report that was asked for cannot be paid for again");
}
