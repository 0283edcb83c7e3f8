//! Several calls in one message.

use serde_json::Value;
use sortie_testkit::{ScriptedServer, reply, when};

use super::{task, without_id};
use crate::program::wait_for;
use crate::world::{DONE, QUESTION, Run, WIRES, World, heard, main_agent_calls};

#[test]
fn s3_42_calls_of_one_message_run_at_the_same_time() {
    for wire in WIRES {
        let calls = (1..=8).map(|number| task("Explore", &format!("CHILD {number}")));
        let script = main_agent_calls(calls).otherwise(reply::text("Done.").held_by("barrier"));
        let (world, server) = (World::new(), ScriptedServer::start(script).unwrap());
        let live = world.sortie(["run", "--contract", "typed", QUESTION]).on(&server, wire).start();
        // None is answered before all have asked.
        wait_for(&server, |traffic| traffic.in_flight == 8);
        server.gate("barrier").open();
        let ended = live.wait();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, format!("{DONE}\n").as_str()), "{ended:#?}");
        assert_eq!(heard(&server).pop().unwrap().results.len(), 8);
    }
}

#[test]
fn s3_42_answers_are_in_the_order_of_their_calls() {
    let calls = [task("Explore", "FIRST"), task("Plan", "SECOND"), task("Explore", "THIRD")];
    let script = main_agent_calls(calls)
        .on(when::prompt_contains("FIRST"), reply::text("FIRST done").after_ms(150))
        .on(when::prompt_contains("SECOND"), reply::status(400))
        .otherwise(reply::text("THIRD done"));
    let run = Run::of(&World::new(), "typed", "anthropic", script);
    assert_eq!(run.ended.code, 0, "{:#?}", run.ended);
    let answers: Vec<Value> = run.results().iter().map(|result| without_id(result.json())).collect();
    assert_eq!((&answers[0]["result"], &answers[2]["result"]), (&"FIRST done".into(), &"THIRD done".into()));
    assert_eq!(answers[1]["success"], false);
    let calls: Vec<String> = run.results().into_iter().map(|result| result.call).collect();
    assert_eq!(calls, ["toolu_0_1", "toolu_0_2", "toolu_0_3"]);
}
