//! Providers that count nothing, or report impossible counts.

use std::sync::Arc;

use serde_json::json;
use sortie_llm::{RouteSetup, RouteTable, WireKind};
use sortie_protocol::{Fact, Limits, Status, TaskOutcome, TaskRequest, Usage};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::context::route;
use crate::support::{Plan, ask};

async fn outcome(first_call: Usage) -> TaskOutcome {
    let look = reply::calls([reply::call("LS", json!({}))]).usage(first_call);
    let script = Script::new().on(when::turn(0), look).otherwise(reply::text("Nothing there."));
    let server = ScriptedServer::start(script).expect("a free port");
    let routes = vec![route(&server, WireKind::OpenAiChat)];
    let table = RouteTable::new(RouteSetup { routes, ..RouteSetup::default() }).expect("one route");
    Plan::script(Script::new()).build_with(Arc::new(table)).run(ask("What is there?")).await
}

#[tokio::test]
async fn an_outcome_says_for_how_many_calls_the_usage_is_an_estimate_or_looks_too_high() {
    let believable = Usage { input_tokens: 1000, output_tokens: 20, ..Usage::default() };
    let absurd = Usage { input_tokens: 900_000_000, ..believable };
    let too_little = Usage { input_tokens: 1, ..believable };
    let estimated = "the provider reported no plausible usage for 1 of 2 calls; it was estimated, on the high side";
    let high = "the provider reported more usage than can be expected for 1 of 2 calls; it counts as reported, in \
                limits and cost";
    for (said, expected, counted) in [
        (believable, None, 1000..100_000),
        (Usage::default(), Some(estimated), 1000..100_000),
        (too_little, Some(estimated), 1000..100_000),
        (absurd, Some(high), 900_000_000..900_100_000),
    ] {
        let outcome = outcome(said).await;
        assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
        let notices: Vec<_> = outcome.notices.iter().filter(|notice| notice.contains("usage")).collect();
        assert_eq!(notices, expected.iter().collect::<Vec<_>>());
        assert!(counted.contains(&outcome.usage.total_tokens()), "{:?}", outcome.usage);
    }
}

#[tokio::test]
async fn a_limit_counts_what_the_provider_reports_however_high() {
    let steep = Usage { input_tokens: 300_000, output_tokens: 20, ..Usage::default() };
    let look = || reply::calls([reply::call("LS", json!({}))]).usage(steep);
    let script = Script::new().on(when::turn(0), look()).on(when::turn(1), look()).otherwise(look());
    let server = ScriptedServer::start(script).expect("a free port");
    let routes = vec![route(&server, WireKind::OpenAiChat)];
    let table = RouteTable::new(RouteSetup { routes, ..RouteSetup::default() }).expect("one route");
    let world = Plan::script(Script::new()).build_with(Arc::new(table));
    let limits = Limits { max_tokens: Some(500_000), ..Limits::default() };
    let outcome = world.run(TaskRequest { limits, ..ask("What is there?") }).await;
    assert_eq!(outcome.usage.total_tokens(), 600_040, "two calls, and no third one");
    assert_eq!(server.traffic().calls, 2);
    assert_ne!(outcome.status, Status::Completed);
}

#[tokio::test]
async fn one_absurd_report_changes_nothing_in_later_estimates() {
    let honest = Usage { input_tokens: 2000, output_tokens: 20, ..Usage::default() };
    let absurd = Usage { input_tokens: 900_000_000, ..honest };
    for second in [honest, absurd] {
        let look = |usage| reply::calls([reply::call("LS", json!({}))]).usage(usage);
        let script = Script::new()
            .on(when::turn(0), look(honest))
            .on(when::turn(1), look(second))
            .otherwise(reply::text("Nothing.").usage(honest));
        let server = ScriptedServer::start(script).expect("a free port");
        let routes = vec![route(&server, WireKind::OpenAiChat)];
        let table = RouteTable::new(RouteSetup { routes, ..RouteSetup::default() }).expect("one route");
        let world = Plan::script(Script::new()).build_with(Arc::new(table));
        world.run(ask("What is there?")).await;
        let estimates: Vec<u64> = world
            .events()
            .iter()
            .filter_map(|event| match &event.fact {
                Fact::ModelCalled { input_tokens, .. } => Some(*input_tokens),
                _ => None,
            })
            .collect();
        assert!(estimates[2] < 2 * estimates[1], "{estimates:?}");
    }
}
