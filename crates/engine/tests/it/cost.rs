//! The cost of a task, read from its log.

use sortie_engine::CostStatement;
use sortie_protocol::{Fact, Limits, TaskRequest};
use sortie_testkit::{Script, reply};

use crate::mail_races::Site;
use crate::relic::Relic;
use crate::support::{Plan, ask};

#[tokio::test]
async fn a_call_whose_answer_may_be_behind_the_damage_is_not_counted_as_lost() {
    let site = Site::new(Plan::script(Script::always(reply::text("Done."))));
    let limits = Limits { max_tokens: Some(100_000), ..Limits::default() };
    let outcome = site.run(TaskRequest { limits, ..ask("Go.") }).await;
    let events = site.events(outcome.task_id);
    let called = events.iter().position(|event| matches!(event.fact, Fact::ModelCalled { .. })).expect("it was asked");
    let (appends, n_left) = (site.journal.appends(), called as u64 + 1);

    let damaged = Relic::of(&appends).await.damage_behind(outcome.task_id, n_left);
    let (bill, read) = CostStatement::read(&damaged, outcome.task_id);
    assert!(read.is_err());
    assert_eq!(bill, CostStatement::default(), "nobody knows what that call has used");

    let before_answer = appends.iter().take_while(|append| !append.iter().any(|entry| is_answer(&entry.fact)));
    let killed = Relic::of(&before_answer.cloned().collect::<Vec<_>>()).await;
    let (bill, read) = CostStatement::read(&killed, outcome.task_id);
    assert!(read.is_ok());
    assert!(bill.usage().total_tokens() > outcome.usage.total_tokens(), "a call without an answer counts whole");
}

fn is_answer(fact: &Fact) -> bool {
    matches!(fact, Fact::ModelReplied { .. })
}
