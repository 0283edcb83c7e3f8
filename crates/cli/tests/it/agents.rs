//! `sortie agents` and `sortie schema`.

use expect_test::expect;

use crate::world::World;

#[test]
fn agents_are_listed() {
    expect![[r#"
        exit 0
        --- stdout
        main             Answers a person's request; delegates what takes many calls
        general-purpose  any work, all tools
        explore          find things in the workspace, read-only
        plan             plan a change from the code, read-only
        summary          sum up files or texts
    "#]]
    .assert_eq(&World::new().sortie(["agents", "list"]).run().transcript());
}

#[test]
fn an_agent_is_shown_with_its_tools_and_its_role() {
    let world = World::new();
    let by_name = world.sortie(["agents", "show", "general-purpose"]).run();
    let by_alias = world.sortie(["agents", "show", "General"]).run();
    assert_eq!(by_name.stdout, by_alias.stdout);
    for part in ["name         general-purpose\n", "aliases      general\n", "tools        all that its parent has\n"] {
        assert!(by_name.stdout.contains(part), "{part}: {}", by_name.stdout);
    }
    let explore = world.sortie(["agents", "show", "explore"]).run();
    assert!(explore.stdout.contains("tools        Read, LS, Glob, Grep\n"), "{}", explore.stdout);
    assert!(explore.stdout.contains("You are a sub-agent that finds things"), "the role prompt: {}", explore.stdout);
}

#[test]
fn an_agent_that_does_not_exist_is_not_found() {
    expect![[r#"
        exit 1
        --- stderr
        error: unknown agent `explor`; there are main, general-purpose, explore, plan, summary
        hint: did you mean `explore`?
    "#]]
    .assert_eq(&World::new().sortie(["agents", "show", "explor"]).run().transcript());
}

#[test]
fn the_schema_comes_in_three_shapes_around_the_same_parameters() {
    let world = World::new();
    let shape = |format: &str| world.sortie(["schema", "--format", format]).run().stdout_json();
    let (json, anthropic, openai) = (shape("json"), shape("anthropic"), shape("openai"));
    assert_eq!(world.sortie(["schema"]).run().stdout_json(), json);
    assert_eq!(json["required"], serde_json::json!(["description", "prompt"]));
    assert_eq!(anthropic["name"], "Task");
    assert_eq!(anthropic["input_schema"], json);
    assert_eq!(openai["type"], "function");
    assert_eq!(openai["function"]["name"], "Task");
    assert_eq!(openai["function"]["parameters"], json);
    assert_eq!(openai["function"]["description"], anthropic["description"]);
}
