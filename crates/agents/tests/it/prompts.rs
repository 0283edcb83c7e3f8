//! Role prompts: the built-in ones, and files that replace them.

use expect_test::expect;
use sortie_agents::{MAX_FILE_BYTES, PromptFile, Registry, Scope, Weight};

use crate::{file, findings, tools, trusted};

#[test]
fn every_sub_agents_prompt_says_what_it_is_and_what_comes_back() {
    for agent in Registry::builtin().delegable() {
        for idea in ["sub-agent", "tools you have", "only your last message goes back", "at most 500 tokens"] {
            assert!(agent.prompt.contains(idea), "the prompt of {} says {idea:?}", agent.name);
        }
    }
}

fn prompt(path: &str, scope: Scope, text: &str) -> PromptFile {
    let name = path.rsplit('/').next().expect("a name").to_owned();
    PromptFile { path: path.to_owned(), scope, trusted: false, name, bytes: text.as_bytes().to_vec() }
}

fn assemble(prompts: Vec<PromptFile>) -> Registry {
    Registry::assemble(Vec::new(), prompts, &tools())
}

fn prompt_of(registry: &Registry, agent: &str) -> String {
    registry.get(agent).expect("there").prompt.clone()
}

#[test]
fn each_built_in_agent_has_a_prompt_that_a_user_can_replace() {
    for (name, agent) in [
        ("main_prompt.md", "main"),
        ("subagent_general_prompt.md", "general-purpose"),
        ("subagent_explore_prompt.md", "explore"),
        ("subagent_plan_prompt.md", "plan"),
        ("subagent_summary_prompt.md", "summary"),
    ] {
        let registry = assemble(vec![prompt(&format!("prompts/{name}"), Scope::User, "Mine.\n\n")]);
        assert_eq!(prompt_of(&registry, agent), "Mine.");
        assert_eq!(findings(&registry), "");
        let others = registry.all().iter().filter(|other| other.name != agent);
        assert!(others.into_iter().all(|other| other.prompt != "Mine."), "{name} is for {agent} alone");
    }
}

#[test]
fn a_projects_prompt_counts_when_it_is_trusted_and_then_before_the_users() {
    let users = prompt("prompts/subagent_plan_prompt.md", Scope::User, "The user's.");
    let projects = prompt(".sortie/prompts/subagent_plan_prompt.md", Scope::Project, "The project's.");
    let untrusted = assemble(vec![projects.clone(), users.clone()]);
    assert_eq!(prompt_of(&untrusted, "plan"), "The user's.");
    expect![[r#"
        .sortie/prompts/subagent_plan_prompt.md: warning: `plan` is a built-in agent, so this project's prompt for it is set aside; review it, then run `sortie trust`
    "#]].assert_eq(&findings(&untrusted));
    assert_eq!(untrusted.findings()[0].weight, Weight::SetAside);
    let trusted = assemble(vec![PromptFile { trusted: true, ..projects }, users]);
    assert_eq!(prompt_of(&trusted, "plan"), "The project's.");
    assert_eq!(findings(&trusted), "");
}

#[test]
fn an_unusable_prompt_is_reported_and_the_built_in_one_stays() {
    let latin = PromptFile { bytes: vec![b'a', 0xe9], ..prompt("c/subagent_plan_prompt.md", Scope::User, "") };
    let registry = assemble(vec![
        prompt("a/subagent_plan_prompt.md", Scope::User, " \n"),
        prompt("b/subagent_plan_prompt.md", Scope::User, &"a".repeat(MAX_FILE_BYTES + 1)),
        latin,
        prompt("d/subagent_plans_prompt.md", Scope::User, "For nobody."),
        prompt("e/notes.md", Scope::User, "For nobody."),
    ]);
    assert_eq!(prompt_of(&registry, "plan"), prompt_of(&Registry::builtin(), "plan"));
    expect![[r#"
        a/subagent_plan_prompt.md: error: an empty role prompt; write one, or delete the file
        b/subagent_plan_prompt.md: error: more than 65,536 bytes; shorten it
        c/subagent_plan_prompt.md: error: not UTF-8; save it as UTF-8
        d/subagent_plans_prompt.md: warning: no role prompt has the name `subagent_plans_prompt.md`; did you mean `subagent_plan_prompt.md`?
        e/notes.md: warning: no role prompt has the name `notes.md`; the names are main_prompt.md, subagent_general_prompt.md, subagent_explore_prompt.md, subagent_plan_prompt.md, subagent_summary_prompt.md, subagent_bash_prompt.md
    "#]].assert_eq(&findings(&registry));
}

#[test]
fn a_prompt_for_an_agent_redefined_in_a_file_is_reported_as_without_effect() {
    let explore = trusted(file(".sortie/agents/explore.md", Scope::Project, "explore"));
    let unused = prompt("prompts/subagent_explore_prompt.md", Scope::User, "Unused.");
    let registry = Registry::assemble(vec![explore], vec![unused], &tools());
    assert_eq!(prompt_of(&registry, "explore"), "You are explore.");
    expect![[r#"
        prompts/subagent_explore_prompt.md: warning: without effect: `explore` is defined by project: .sortie/agents/explore.md; delete one of the two files
    "#]].assert_eq(&findings(&registry));
}
