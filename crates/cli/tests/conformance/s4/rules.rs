//! Rules that a child inherits.

use serde_json::json;
use sortie_testkit::{reply, when};

use super::{CONTRACT, task_for};
use crate::world::{Run, WIRES, World, main_agent_calls};

#[test]
fn s4_11_a_child_inherits_its_parents_rules() {
    for wire in WIRES {
        for agent in ["general-purpose", "explore", "plan"] {
            let world = World::new();
            world.write("workspace/deploy/.env", "TOKEN=1\n");
            world.write("workspace/prod.env", "TOKEN=2\n");
            let read = |path: &str| reply::call("Read", json!({"file_path": path}));
            let calls = [read("deploy/.env"), read("prod.env"), read("src/main.rs")];
            let script = main_agent_calls([task_for(agent, "CHILD looks")])
                .on(when::turn(0), reply::calls(calls))
                .otherwise(reply::text("Done below."));
            let run = Run::with(&world, CONTRACT, wire, script, &["--deny", "Read(*.env)"]);
            let told = &run.sub_agents()[1].results;
            for told in &told[..2] {
                let expected = "denied by the flag --deny: its rule `Read(*.env)`";
                assert!(told.text.contains(expected) && !told.text.contains("TOKEN"), "{agent}: {told:?}");
            }
            assert!(told[2].text.contains("mod auth;"), "{agent}: {:?}", told[2]);
        }
    }
}
