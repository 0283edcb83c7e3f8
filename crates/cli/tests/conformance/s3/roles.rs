//! Each type has a role prompt for its expertise.

use std::collections::HashSet;

use sortie_testkit::reply;

use super::{result, task};
use crate::world::{Run, World, main_agent_calls};

#[test]
fn s3_22_each_types_prompt_names_its_expertise() {
    let types = [
        ("Explore", "You are a codebase exploration specialist"),
        ("Plan", "You are a software architect designing solutions"),
        ("Bash", "You are a shell command specialist"),
        ("general-purpose", "You are a general-purpose coding assistant"),
    ];
    let systems: HashSet<String> = types
        .into_iter()
        .map(|(agent, expertise)| {
            let script = main_agent_calls([task(agent, "CHILD works")]).otherwise(reply::text("Done."));
            let run = Run::of(&World::new(), "typed", "anthropic", script);
            assert_eq!(result(&run)["result"], "Done.");
            let system = run.sub_agents()[0].system.clone();
            assert!(system.starts_with(expertise), "{agent}: {system}");
            system
        })
        .collect();
    assert_eq!(systems.len(), types.len(), "no two have the same");
}
