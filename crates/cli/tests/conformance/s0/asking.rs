//! Asking before a tool runs: deferred by the specification, implemented all the same. S0-15 and S0-58.

use serde_json::json;
use sortie_testkit::{reply, when};

use super::errand::{arguments, delegating, run_with};
use crate::protocol::conforming;
use crate::world::{Run, WIRES, World, main_agent_calls};

#[test]
fn s0_15_a_call_that_needs_approval_is_refused_if_nobody_can_be_asked() {
    for wire in WIRES {
        let script = delegating(arguments("general"))
            .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]))
            .otherwise(reply::text("FINAL"));
        let run = run_with(&World::new(), wire, script, &["--ask", "Read(src/**)"]);
        let told = conforming(run.sub_agents()[1].results[0].json());
        assert_eq!(told["error"]["code"], "PERMISSION_DENIED", "{told:#}");
        let text = told["error"]["message"].as_str().unwrap();
        assert!(text.contains("nobody can be asked here"), "{text}");
        assert!(text.contains("the rule `Read(src/**)` of the flag --ask asks for it"), "{text}");
    }
}

#[test]
fn s0_58_a_new_type_may_have_more_tools_in_our_own_contract() {
    let world = World::new();
    let file =
        "---\nname: researcher\ndescription: Looks things up\ntools: [Read, WebFetch]\n---\nYou look things up.\n";
    world.write("home/.config/sortie/agents/researcher.md", file);
    let call = json!({"description": "Look up", "prompt": "CHILD looks", "subagent_type": "researcher"});
    let script = main_agent_calls([reply::call("Task", call)]).otherwise(reply::text("Done."));
    let run = Run::of(&world, "sortie", "anthropic", script);
    assert_eq!(run.sub_agents()[0].tool_names(), ["Read", "WebFetch"]);
}
