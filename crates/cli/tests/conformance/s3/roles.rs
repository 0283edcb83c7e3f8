//! Each type has a role prompt for its expertise.

use std::collections::HashSet;

use sortie_testkit::reply;

use super::{result, task};
use crate::world::{Run, World, main_agent_calls};

#[test]
fn s3_22_each_types_prompt_names_its_expertise() {
    let types = [
        ("Explore", "finds things"),
        ("Plan", "plans work"),
        ("Bash", "runs commands"),
        ("general-purpose", "Do what the brief asks"),
    ];
    let systems: HashSet<String> = types
        .into_iter()
        .map(|(agent, expertise)| {
            let script = main_agent_calls([task(agent, "CHILD works")]).otherwise(reply::text("Done."));
            let run = Run::of(&World::new(), "typed", "anthropic", script);
            assert_eq!(result(&run)["result"], "Done.");
            let system = run.sub_agents()[0].system.clone();
            assert!(system.starts_with("You are a sub-agent") && system.contains(expertise), "{agent}: {system}");
            system
        })
        .collect();
    assert_eq!(systems.len(), types.len(), "no two have the same");
}
