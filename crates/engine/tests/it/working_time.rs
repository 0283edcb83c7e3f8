//! Working time of a task, as it is reported and as it counts against its limit.

use std::sync::Arc;
use std::time::Duration;

use sortie_engine::Resumption;
use sortie_protocol::{Fact, Limits, Status, TaskRequest, Timestamp};
use sortie_testkit::{Script, reply, when};

use crate::relic::Relic;
use crate::remains::{ROOT, Site, facts, id, left_behind, resume, writing};
use crate::support::{Plan, ask};

#[tokio::test]
async fn a_leg_lasts_as_long_as_all_its_processes_worked() {
    let site = Site::new();
    let mut left = left_behind(&site.whole(writing()).await, ROOT, "model_called");
    // An hour of work, and then nothing for a day.
    left.last_mut().expect("an append").iter_mut().for_each(|entry| entry.time = Timestamp(3_600_000));
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, _) = site.engine(Plan::script(writing()), &journal);
    let outcome = resume(&engine, None).await;
    assert!((3_599_000..3_660_000).contains(&outcome.usage.duration_ms), "{}", outcome.usage.duration_ms);
}

#[tokio::test]
async fn the_possible_working_time_of_a_killed_process_counts() {
    let site = Site::new();
    let mut left = left_behind(&site.whole(writing()).await, ROOT, "call_started");
    for entry in left.iter_mut().flatten() {
        entry.time = Timestamp(0);
        if let Fact::TaskStarted { job } = &mut entry.fact {
            job.config.limits.timeout = Some(Duration::from_secs(100));
        }
    }
    // It was killed within a call, nobody knows when; the next process comes half a minute later.
    let later = || Plan { now: Timestamp(30_000), ..Plan::script(writing()) };
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, _) = site.engine(later(), &journal);
    let told = resume(&engine, None).await.usage.duration_ms;
    assert!((30_000..60_000).contains(&told), "{told}");
    let time_left = facts(&journal, ROOT).into_iter().find_map(|fact| match fact {
        Fact::TaskResumed { config, .. } => config.limits.timeout,
        _ => None,
    });
    let time_left = time_left.expect("a limit").as_millis();
    assert!((69_900..=70_000).contains(&time_left), "{time_left}");
    // A stop loses neither.
    let journal = Arc::new(Relic::of(&left).await);
    let (engine, _) = site.engine(later(), &journal);
    let stopped = engine.abandon(id(ROOT)).await.expect("it is ended").pop().expect("an outcome");
    assert!((30_000..60_000).contains(&stopped.usage.duration_ms), "{}", stopped.usage.duration_ms);
}

#[tokio::test(start_paused = true)]
async fn all_figures_of_an_outcome_cover_the_whole_task() {
    let script = Script::new()
        .on(when::last_contains("MORE"), reply::text("More.").after_ms(3_000))
        .otherwise(reply::text("Done.").after_ms(2_000));
    let world = Plan::script(script).build();
    let first = world.run(ask("Do it.")).await;
    let resumption = Resumption { prompt: Some("MORE".to_owned()), ..Resumption::default() };
    let running = world.engine.resume(first.task_id, resumption).await.expect("it can resume");
    let second = running.outcome().await.expect("the journal works");
    assert_eq!((first.usage.turns, first.usage.duration_ms), (1, 2_000));
    assert_eq!((second.usage.turns, second.usage.duration_ms), (2, 5_000));
    assert!(second.usage.total_tokens() > first.usage.total_tokens());
}

#[tokio::test(start_paused = true)]
async fn the_time_of_earlier_legs_does_not_count_against_the_limit_of_this_one() {
    let script = Script::always(reply::text("Done.").after_ms(2_000));
    let world = Plan::script(script).build();
    let limits = Limits { timeout: Some(Duration::from_secs(3)), ..Limits::default() };
    let first = world.run(TaskRequest { limits, ..ask("Do it.") }).await;
    for legs in 2..4 {
        let resumption = Resumption { prompt: Some("More.".to_owned()), ..Resumption::default() };
        let running = world.engine.resume(first.task_id, resumption).await.expect("it can resume");
        let outcome = running.outcome().await.expect("the journal works");
        assert_eq!((outcome.status, outcome.usage.duration_ms), (Status::Completed, legs * 2_000));
    }
}
