//! Permissions of each type under its parent's rules, if nobody can be asked: K12. Questions to a person are tested in
//! the suite of the command line.

use serde_json::{Value, json};
use sortie_testkit::{reply, when};

use super::{result, task};
use crate::world::{Run, ToolResult, WIRES, World, main_agent_calls};

/// Results of these calls for a sub-agent of this type, under these flags.
fn told(world: &World, agent: &str, flags: &[&str], calls: &[(&str, Value)]) -> Vec<ToolResult> {
    let calls = calls.iter().map(|(tool, arguments)| reply::call(*tool, arguments.clone()));
    let script = main_agent_calls([task(agent, "CHILD works")])
        .on(when::turn(0), reply::calls(calls))
        .otherwise(reply::text("Done."));
    let run = Run::with(world, "typed", "anthropic", script, flags);
    assert_eq!(result(&run)["result"], "Done.", "{agent} {flags:?}: nothing hangs");
    run.sub_agents()[1].results.clone()
}

fn read(path: &str) -> (&'static str, Value) {
    ("Read", json!({"file_path": path}))
}

fn write() -> (&'static str, Value) {
    ("Write", json!({"file_path": "new.txt", "content": "x"}))
}

fn was_written(world: &World) -> bool {
    std::fs::remove_file(world.path("workspace/new.txt")).is_ok()
}

#[test]
fn s3_16_plan_reads_and_plans_and_edits_nothing() {
    for wire in WIRES {
        let script = main_agent_calls([task("Plan", "CHILD works")]).otherwise(reply::text("Done."));
        let run = Run::with(&World::new(), "typed", wire, script, &["--permission-mode", "bypass"]);
        let plan = run.sub_agents().remove(0);
        for tool in ["Read", "Glob", "Grep", "WebFetch"] {
            assert!(plan.offers(tool), "{tool}: {:?}", plan.tool_names());
        }
        let known = ["Read", "Glob", "Grep", "WebFetch", "LS", "TodoWrite"];
        assert!(plan.tool_names().iter().all(|tool| known.contains(tool)), "{:?}", plan.tool_names());
    }
    let world = World::new();
    let edit = ("Edit", json!({"file_path": "src/main.rs", "old_string": "mod", "new_string": "x"}));
    for told in told(&world, "Plan", &["--permission-mode", "bypass"], &[write(), edit]) {
        assert!(told.is_error && told.text.contains("is not granted to this task"), "{told:?}");
    }
    assert!(!was_written(&world));
}

#[test]
fn k12_s3_48_explore_and_plan_read_without_the_approval_that_others_need() {
    for rule in ["Read", "Read(src/**)", "Read(*.rs)"] {
        for (agent, reads) in [("Explore", true), ("Plan", true), ("general-purpose", false)] {
            let told = told(&World::new(), agent, &["--ask", rule], &[read("src/main.rs")]).remove(0);
            assert_eq!(told.text.contains("mod auth;"), reads, "{agent} under {rule}: {told:?}");
            assert_eq!(told.is_error, !reads);
            let refusal = format!("the rule `{rule}` of the flag --ask asks for it");
            assert!(reads || told.text.contains(&refusal), "{told:?}");
        }
    }
}

#[test]
fn k12_s3_54_a_denial_applies_to_explore_and_plan_too() {
    for rule in ["Read(src/auth.rs)", "Read(src/**)"] {
        for agent in ["Explore", "Plan", "general-purpose"] {
            let calls = [
                read("src/auth.rs"),
                ("Grep", json!({"pattern": "AuthError", "path": "src/auth.rs", "output_mode": "content"})),
            ];
            for told in told(&World::new(), agent, &["--ask", "Read", "--deny", rule], &calls) {
                let expected = format!("denied by the flag --deny: its rule `{rule}`");
                assert!(told.is_error && told.text.contains(&expected), "{agent}: {told:?}");
                assert!(!told.text.contains("Err(AuthError)"));
            }
        }
    }
}

/// User's rules about writing, and the result of each.
const WRITING: [(&[&str], &str); 5] = [
    (&[], "nobody can be asked here"),
    (&["--allow", "Write"], ""),
    (&["--permission-mode", "accept-edits"], ""),
    (&["--permission-mode", "bypass", "--ask", "Write"], "the rule `Write` of the flag --ask asks for it"),
    (&["--permission-mode", "bypass", "--deny", "Write"], "denied by the flag --deny: its rule `Write`"),
];

#[test]
fn k12_s3_50_general_purpose_has_its_parents_rules() {
    for (flags, refusal) in WRITING {
        let world = World::new();
        let told = told(&world, "general-purpose", flags, &[write()]).remove(0);
        assert_eq!(was_written(&world), refusal.is_empty(), "{flags:?}: {told:?}");
        assert_eq!(told.is_error, !refusal.is_empty());
        assert!(told.text.contains(refusal), "{flags:?}: {told:?}");
    }
}

#[test]
fn s3_49_bash_needs_a_confirmation_and_an_allow_rule_of_the_user_is_one() {
    let touch = || ("Bash", json!({"command": "touch new.txt"}));
    let confirmed: [&[&str]; 3] = [
        &["--allow", "Bash"],
        &["--allow", "Bash(touch new.txt)", "--allow", "Edit(new.txt)"],
        &["--allow", "Bash(touch:*)", "--permission-mode", "bypass"],
    ];
    for flags in confirmed {
        let world = World::new();
        let told = told(&world, "Bash", flags, &[touch()]).remove(0);
        assert!(!told.is_error && was_written(&world), "{flags:?}: {told:?}");
    }
    let unconfirmed: [(&[&str], &str); 5] = [
        (&[], "nobody can be asked here"),
        (&["--permission-mode", "accept-edits"], "nobody can be asked here"),
        (&["--permission-mode", "bypass"], "nobody can be asked here"),
        (&["--allow", "Bash(ls:*)"], "nobody can be asked here"),
        (&["--allow", "Bash", "--deny", "Bash(touch:*)"], "denied by the flag --deny: its rule `Bash(touch:*)`"),
    ];
    for (flags, refusal) in unconfirmed {
        let world = World::new();
        let told = told(&world, "Bash", flags, &[touch()]).remove(0);
        assert!(told.is_error && told.text.contains(refusal) && !was_written(&world), "{flags:?}: {told:?}");
    }
    let world = World::new();
    told(&world, "general-purpose", &["--permission-mode", "bypass"], &[touch()]);
    assert!(was_written(&world), "other types have their parent's mode");
}

#[test]
fn s3_51_rules_of_files_flags_and_variables_are_one_system_for_all_agents() {
    let world = World::new();
    world.config("[permissions]\ndeny = [\"Read(src/auth.rs)\"]\n");
    world.write("workspace/.sortie/config.toml", "[permissions]\ndeny = [\"Read(src/main.rs)\"]\n");
    let file = "---\nname: own\ndescription: Does it\ndisallowedTools: [LS]\n---\nYou do it.\n";
    world.write("workspace/.sortie/agents/own.md", file);
    for agent in ["Explore", "Plan", "general-purpose", "own"] {
        let calls = [read("src/auth.rs"), read("src/main.rs"), read("Cargo.toml"), ("LS", json!({}))];
        let told = told(&world, agent, &["--deny", "Read(*.toml)"], &calls);
        for (told, owner) in told.iter().zip(["user settings", "project settings", "the flag --deny"]) {
            assert!(told.is_error && told.text.contains(&format!("denied by {owner}")), "{agent}: {told:?}");
        }
        assert_eq!(told[3].is_error, agent == "own", "{agent}: {:?}", told[3]);
    }
}
