//! Instruction files: nearest first, once, within their limit; for children only if switched on.

use expect_test::expect;
use serde_json::json;
use sortie_engine::{EngineSettings, InstructionRules};
use sortie_testkit::{Script, reply, when};

use crate::support::{Plan, ask};

fn script() -> Script {
    let task =
        reply::call("Task", json!({"description": "a piece", "prompt": "The piece", "subagent_type": "explore"}));
    Script::new()
        .on(when::prompt_contains("The question").turn(0), reply::calls([task]))
        .otherwise(reply::text("Done."))
}

fn rules(instructions: InstructionRules) -> EngineSettings {
    EngineSettings { instructions, ..EngineSettings::default() }
}

/// The text after the role prompt of the task with this brief, and the outcome's notices.
async fn told(files: &[(&'static str, &'static str)], rules: EngineSettings, brief: &str) -> String {
    let world = Plan::script(script()).files(files).rules(rules).build();
    let outcome = world.run(ask("The question")).await;
    let system = world.seen_by(brief).remove(0).system;
    let behind = system.split_once("Instructions of the project").map_or("", |(_, behind)| behind);
    format!("{behind}\n---\n{}", outcome.notices.join("\n"))
}

#[tokio::test]
async fn the_main_agent_reads_instructions_nearest_first_and_each_text_once() {
    let files = [
        ("AGENTS.md", "Use tabs.\n"),
        ("CLAUDE.md", "Use tabs.\n"),
        (".sortie/context.md", "\u{feff}We ship on Fridays.\n"),
        ("app/CLAUDE.md", "The app is old.\n"),
        ("app/src/AGENTS.md", "   \n"),
        ("elsewhere/AGENTS.md", "Not on the way.\n"),
    ];
    let start = InstructionRules { start: "app/src".into(), ..InstructionRules::default() };
    expect![[r#"
         that you work in, from its own files, nearest first:

        # app/CLAUDE.md
        The app is old.

        # AGENTS.md
        Use tabs.

        # .sortie/context.md
        We ship on Fridays.
        ---
    "#]]
    .assert_eq(&told(&files, rules(start), "The question").await);
}

#[tokio::test]
async fn sub_agents_get_instructions_only_by_setting() {
    let files = [("AGENTS.md", "Use tabs.\n")];
    assert_eq!(told(&files, EngineSettings::default(), "The piece").await, "\n---\n");
    let inherited = InstructionRules { for_children: true, ..InstructionRules::default() };
    expect![[r#"
         that you work in, from its own files, nearest first:

        # AGENTS.md
        Use tabs.
        ---
    "#]]
    .assert_eq(&told(&files, rules(inherited), "The piece").await);
}

#[tokio::test]
async fn a_file_that_does_not_fit_is_omitted_with_a_notice() {
    let files =
        [("AGENTS.md", "twelve bytes"), ("CLAUDE.md", "twenty-one bytes long"), (".sortie/context.md", "seven b")];
    let small = InstructionRules { max_bytes: 20, ..InstructionRules::default() };
    expect![[r#"
         that you work in, from its own files, nearest first:

        # AGENTS.md
        twelve bytes

        # .sortie/context.md
        seven b
        ---
        the instructions in CLAUDE.md were left out: all such files together may have 20 bytes (`task_tool.context_file_bytes`)"#]].assert_eq(&told(&files, rules(small), "The question").await);
}

#[tokio::test]
async fn a_link_counts_only_if_it_leads_to_another_instruction_file() {
    let world = Plan::script(script()).files(&[("AGENTS.md", "Use tabs.\n"), (".env", "KEY=sk-live")]).build();
    let root = world.home.path().join("workspace");
    std::os::unix::fs::symlink("AGENTS.md", root.join("CLAUDE.md")).expect("a link");
    std::fs::create_dir(root.join(".sortie")).expect("a folder");
    std::os::unix::fs::symlink("../.env", root.join(".sortie/context.md")).expect("a link");
    let outcome = world.run(ask("The question")).await;
    let system = world.seen_by("The question").remove(0).system;
    assert!(system.ends_with("# AGENTS.md\nUse tabs."), "{system}");
    assert_eq!(outcome.notices, ["the instructions in .sortie/context.md were left out: it is a link to .env"]);
}

#[tokio::test]
async fn a_repeated_text_is_not_reported_as_too_long() {
    let files = [("AGENTS.md", "twelve bytes"), ("CLAUDE.md", "twelve bytes")];
    let small = InstructionRules { max_bytes: 20, ..InstructionRules::default() };
    let told = told(&files, rules(small), "The question").await;
    assert!(told.ends_with("# AGENTS.md\ntwelve bytes\n---\n"), "{told}");
}
