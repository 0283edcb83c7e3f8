//! Resuming from a transcript: deferred by the specification, implemented all the same.

use sortie_testkit::{Script, ScriptedServer, reply};

use super::{arguments, delegating, run};
use crate::world::{WIRES, World, heard};

#[test]
fn s0_11_a_run_resumes_from_its_transcript() {
    for wire in WIRES {
        let world = World::new();
        let first = run(&world, wire, delegating(arguments("general")).otherwise(reply::text("Found.")));
        assert_eq!(first.ended.code, 0, "{:#?}", first.ended);
        let list = world.sortie(["tasks", "list", "--json"]).run().stdout_json();
        let id = list[0]["task_id"].as_str().unwrap();
        let server = ScriptedServer::start(Script::always(reply::text("And this."))).unwrap();
        let ended = world.sortie(["resume", "--contract", "envelope", id, "What else?"]).on(&server, wire).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "And this.\n"), "{ended:#?}");
        let (before, after) = (first.main_agent().pop().unwrap(), heard(&server).pop().unwrap());
        assert_eq!((after.messages, after.results), (before.messages + 2, before.results));
    }
}
