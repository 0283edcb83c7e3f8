//! Providers that count nothing, or report impossible counts.

use std::sync::Arc;

use serde_json::json;
use sortie_llm::{RouteSetup, RouteTable, WireKind};
use sortie_protocol::{Status, TaskOutcome, Usage};
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
async fn an_outcome_says_for_how_many_calls_the_usage_is_an_estimate() {
    let believable = Usage { input_tokens: 1000, output_tokens: 20, ..Usage::default() };
    let absurd = Usage { input_tokens: 900_000_000, ..believable };
    let too_little = Usage { input_tokens: 1, ..believable };
    for (said, doubted) in [(believable, false), (Usage::default(), true), (absurd, true), (too_little, true)] {
        let outcome = outcome(said).await;
        assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
        let notices: Vec<_> = outcome.notices.iter().filter(|notice| notice.contains("usage")).collect();
        let expected = "the provider reported no plausible usage for 1 of 2 calls; it was estimated, on the high side";
        assert_eq!(notices, vec![expected; usize::from(doubted)]);
        assert!((1000..100_000).contains(&outcome.usage.total_tokens()), "{:?}", outcome.usage);
    }
}
