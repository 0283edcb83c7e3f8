//! Each type has a role prompt for its expertise.

use sortie_testkit::reply;

use super::{result, task};
use crate::world::{Run, World, main_agent_calls};

#[test]
fn explore_plan_and_general_purpose_are_told_what_they_are_good_at() {
    let systems = [("Explore", "finds things"), ("Plan", "plans work"), ("general-purpose", "Do what the brief asks")]
        .map(|(agent, expertise)| {
            let script = main_agent_calls([task(agent, "CHILD works")]).otherwise(reply::text("Done."));
            let run = Run::of(&World::new(), "typed", "anthropic", script);
            assert_eq!(result(&run)["result"], "Done.");
            let system = run.sub_agents()[0].system.clone();
            assert!(system.starts_with("You are a sub-agent") && system.contains(expertise), "{agent}: {system}");
            system
        });
    assert!(systems[0] != systems[1] && systems[1] != systems[2]);
}
