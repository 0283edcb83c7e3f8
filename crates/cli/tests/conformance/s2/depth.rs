//! Depth of delegation.

use sortie_testkit::{Script, reply, when};

use super::{CONTRACT, task};
use crate::world::{QUESTION, Run, WIRES, World, main_agent_calls};

const REFUSAL: &str = "maximum sub-agent depth exceeded";

/// Every agent delegates once to the next level: LEVEL-1, LEVEL-2, …
fn chain() -> Script {
    let below = |level: u32| reply::calls([task(&format!("LEVEL-{level} work"))]);
    (1..=4)
        .fold(main_agent_calls([task("LEVEL-1 work")]), |script, level| {
            script.on(when::prompt_contains(format!("LEVEL-{level}")).turn(0), below(level + 1))
        })
        .otherwise(reply::text("Done at this level."))
}

#[test]
fn s2_21_s2_32_s2_38_s2_46_s2_65_s2_73_two_levels_work_and_a_third_is_refused() {
    for wire in WIRES {
        let run = Run::of(&World::new(), CONTRACT, wire, chain());
        assert_eq!(run.sub_agent("LEVEL-1").len(), 2);
        let second = run.sub_agent("LEVEL-2");
        assert_eq!(second[1].results[0].text, REFUSAL, "to the letter");
        assert_eq!(second[1].results[0].is_error, wire == "anthropic");
        assert_eq!(run.sub_agent("LEVEL-3").len(), 0, "nothing was created");
        assert_eq!(run.result().json()["success"], true, "a refused agent continues by itself");
        assert_eq!(run.ended.code, 0);
    }
}

#[test]
fn s2_38_s2_65_the_depth_is_a_setting() {
    let deepest = |depth: u32| {
        let setting = format!("task_tool.max_depth={depth}");
        let run = Run::with(&World::new(), CONTRACT, "anthropic", chain(), &["--set", &setting]);
        (1..=4).filter(|level| !run.sub_agent(&format!("LEVEL-{level}")).is_empty()).count()
    };
    assert_eq!([deepest(0), deepest(1), deepest(3)], [0, 1, 3]);
}

#[test]
fn s2_65_at_depth_0_every_call_is_refused() {
    let run = Run::with(&World::new(), CONTRACT, "anthropic", chain(), &["--set", "task_tool.max_depth=0"]);
    assert_eq!(run.result().text, REFUSAL);
    assert!(run.main_agent().iter().all(|told| told.prompt.contains(QUESTION)));
}
