//! Lookup of agents by name, and the error for unknown names.

use expect_test::expect;
use sortie_agents::{Registry, Scope};

use crate::{assemble, file};

/// The findings about an agent whose front matter has this line.
fn said_of(line: &str) -> String {
    let mut writer = file(".sortie/agents/writer.md", Scope::Project, "writer");
    writer.bytes = format!("---\nname: writer\ndescription: Writes\n{line}\n---\nWrite.\n").into_bytes();
    let said: Vec<String> = assemble(vec![writer]).findings().iter().map(ToString::to_string).collect();
    said.join("\n")
}

#[test]
fn names_are_found_exactly_then_by_alias_ignoring_case() {
    let registry = Registry::builtin();
    for (asked, found) in [
        ("explore", "explore"),
        ("Explore", "explore"),
        (" EXPLORE ", "explore"),
        ("general", "general-purpose"),
        ("General-Purpose", "general-purpose"),
        ("main", "main"),
    ] {
        assert_eq!(registry.get(asked).map(|agent| agent.name.as_str()), Ok(found));
    }
}

#[test]
fn the_error_for_an_unknown_agent_lists_the_known_ones() {
    let error = Registry::builtin().get_delegable("wizard").expect_err("there is no wizard");
    expect!["unknown agent `wizard`; there are general-purpose, explore, plan, summary, bash"]
        .assert_eq(&error.to_string());
}

#[test]
fn nobody_delegates_to_the_main_agent() {
    assert!(Registry::builtin().get_delegable("main").is_err());
    assert!(Registry::builtin().delegable().all(|agent| agent.name != "main"));
}

#[test]
fn likely_matches_come_first() {
    let error = Registry::builtin().get("summry").expect_err("misspelt");
    expect!["unknown agent `summry`; there are summary, main, general-purpose, explore, plan, bash"]
        .assert_eq(&error.to_string());
}

#[test]
fn the_error_for_an_agent_with_a_broken_file_says_where_and_why() {
    let mut broken = file(".sortie/agents/wizard.md", Scope::Project, "wizard");
    broken.bytes = b"---\nname: wizard\ndescription: Conjures\ntools: Wand\n---\nConjure.\n".to_vec();
    let error = assemble(vec![broken]).get_delegable("Wizard").expect_err("it is broken");
    expect!["unknown agent `Wizard` (its file does not count: .sortie/agents/wizard.md:4: error: unknown tool `Wand`; the tools are Read, LS, Glob, Grep, Write, Edit, MultiEdit, WebFetch, TodoWrite, Bash, BashOutput, KillShell, Task); there are general-purpose, explore, plan, summary, bash"].assert_eq(&error.to_string());
}

#[test]
fn a_broken_file_without_a_name_is_known_by_its_file_name() {
    let mut broken = file(".sortie/agents/deep/wizard.md", Scope::Project, "wizard");
    broken.bytes = b"Conjure.\n".to_vec();
    let error = assemble(vec![broken]).get_delegable("wizard").expect_err("it is broken");
    assert!(error.to_string().contains(".sortie/agents/deep/wizard.md:1: error:"), "{error}");
}

#[test]
fn a_long_list_of_names_is_cut_with_a_note() {
    let name = |number: usize| format!("agent-{number:03}");
    let files = (0..40).map(|number| file(&format!("{number:03}.md"), Scope::User, &name(number))).collect();
    let error = assemble(files).get_delegable("zzz").expect_err("unknown");
    assert_eq!(error.known.len(), 45);
    assert!(error.to_string().ends_with("agent-024 and 15 more"), "{error}");
}

#[test]
fn a_rule_about_an_unknown_agent_is_a_warning() {
    let said =
        ["tools: Read, Task(explorer)", "disallowedTools: Task(wizard)"].map(|line| said_of(line) + "\n").concat();
    expect![[r#"
        .sortie/agents/writer.md: warning: `Task(explorer)` names no existing agent; did you mean `explore`?
        .sortie/agents/writer.md: warning: `Task(wizard)` names no existing agent; name an existing one, or delete it
    "#]]
    .assert_eq(&said);
    for line in ["tools: Task(general), Task(Explore)", "disallowedTools: Task(gen*), Task(writer)", "tools: Task"] {
        assert_eq!(said_of(line), "", "{line}");
    }
}
