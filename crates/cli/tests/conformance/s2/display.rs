//! Display of a delegation for a person.

use serde_json::json;
use sortie_testkit::{Script, reply, when};

use super::{CONTRACT, task};
use crate::world::{Run, World, main_agent_calls};

fn looking() -> Script {
    main_agent_calls([task("CHILD work")])
        .on(when::turn(0), reply::calls([reply::call("Grep", json!({"pattern": "AuthError"}))]))
        .otherwise(reply::text("Done below."))
}

#[test]
fn s2_58_s2_59_one_line_reports_the_delegation_and_another_its_end() {
    let told = Run::of(&World::new(), CONTRACT, "anthropic", looking()).ended.stderr;
    let begun = told.find("○ Delegating task to sub-agent...").unwrap_or_else(|| panic!("{told}"));
    assert!(told[begun..].contains("completed"), "{told}");

    let failing = main_agent_calls([task("CHILD work")]).otherwise(reply::status(400));
    let told = Run::of(&World::new(), CONTRACT, "anthropic", failing).ended.stderr;
    let begun = told.find("○ Delegating task to sub-agent...").unwrap_or_else(|| panic!("{told}"));
    assert!(told[begun..].contains("failed"), "{told}");
}

#[test]
fn s2_25_s2_60_s2_68_the_calls_of_sub_agents_are_folded_away_unless_asked_for() {
    let told = |flags: &[&str]| Run::with(&World::new(), CONTRACT, "anthropic", looking(), flags).ended.stderr;
    assert!(!told(&[]).contains("Grep"), "{}", told(&[]));
    for flags in [&["--verbose"][..], &["--set", "task_tool.enable_verbose_logging=true"]] {
        assert!(told(flags).contains("Grep \"AuthError\""), "{}", told(flags));
    }
}
