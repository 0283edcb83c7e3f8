//! A denial covers a thing, not one way to it.

use serde_json::json;

use crate::aftermath::Answer;
use crate::calls::{call, delegated, every_change, every_look, main_agent, read, write};
use crate::world::{World, as_each_user};

/// Everything else is allowed: only this rule is in the way.
const FLAGS: &[&str] = &["--permission-mode", "bypass", "--deny", "Read(secrets/**)"];
const DENIED: &str = "denied by the flag --deny: its rule `Read(secrets/**)`";

fn with_secrets(world: &World) {
    world.canary("workspace/secrets/canary.txt");
    world.canary("workspace/secrets/deep/canary.txt");
    world.link("secrets", "workspace/alias");
    world.link("secrets/canary.txt", "workspace/alias.txt");
}

#[test]
fn s11_a_denied_file_is_denied_to_every_tool_and_under_every_name() {
    as_each_user(|world| {
        with_secrets(world);
        let absolute = world.name("workspace/secrets/canary.txt");
        let paths = ["secrets/canary.txt", "secrets/deep/canary.txt", "alias/canary.txt", "alias.txt", &absolute];
        for path in paths {
            let calls = every_look(path).into_iter().chain(every_change(path));
            for answer in world.run(FLAGS, main_agent(calls)).assert_completed().answers() {
                answer.assert_refused(DENIED);
            }
        }
        for directory in ["secrets", "secrets/deep", "alias"] {
            for answer in world.run(FLAGS, main_agent(every_look(directory))).answers() {
                answer.assert_refused(DENIED);
            }
        }
    });
}

#[test]
fn s11_a_search_hides_a_denied_file_and_mentions_that() {
    as_each_user(|world| {
        with_secrets(world);
        let walks = [
            call("Grep", json!({"pattern": "C.NARY", "output_mode": "content"})),
            call("Grep", json!({"pattern": "C.NARY", "glob": "secrets/**", "output_mode": "content"})),
            call("Glob", json!({"pattern": "**/canary.txt"})),
            call("Glob", json!({"pattern": "secrets/**"})),
            call("LS", json!({})),
        ];
        let answers = world.run(FLAGS, main_agent(walks)).assert_completed().answers();
        for answer in &answers {
            assert!(!answer.text.contains("secrets/canary.txt"), "{answer:#?}");
            assert!(!answer.text.contains("deep"), "{answer:#?}");
        }
        let hidden = answers.iter().filter(|answer| answer.text.contains("hidden from this task by its grant")).count();
        assert!(hidden >= 3, "what is hidden is counted: {answers:#?}");
    });
}

#[test]
fn s11_a_denial_binds_sub_agents_too() {
    as_each_user(|world| {
        with_secrets(world);
        let calls = every_look("secrets/canary.txt").into_iter().chain(every_change("alias/canary.txt"));
        let after = world.run(FLAGS, delegated("general-purpose", calls));
        for answer in after.assert_completed().answers_of("general-purpose") {
            answer.assert_refused(DENIED);
        }
    });
}

#[test]
fn s11_a_denial_overrides_an_allow_rule_for_the_same_thing() {
    as_each_user(|world| {
        with_secrets(world);
        let flags = [FLAGS, &["--allow", "Read(secrets/**)", "--allow", "Edit(secrets/**)"]].concat();
        let after = world.run(&flags, main_agent([read("secrets/canary.txt"), write("secrets/canary.txt")]));
        after.answers().iter().for_each(|answer: &Answer| answer.assert_refused(DENIED));
    });
}
