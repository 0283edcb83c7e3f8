//! Precedence of definitions with the same name, and the findings about the losers.

use std::sync::Arc;

use expect_test::expect;
use sortie_agents::{AgentDefinition, AgentFile, MAX_FILE_BYTES, Registry, Scope, Weight};

use crate::{assemble, file, findings, trusted};

fn get<'a>(registry: &'a Registry, name: &str) -> &'a AgentDefinition {
    registry.get(name).expect("there is one")
}

#[test]
fn without_files_there_are_only_the_built_in_agents() {
    let registry = assemble(Vec::new());
    assert_eq!(registry.all(), Registry::builtin().all());
    assert_eq!(findings(&registry), "");
}

#[test]
fn agents_from_files_follow_the_built_in_ones_in_order_of_name() {
    let registry = assemble(vec![
        file(".sortie/agents/z.md", Scope::Project, "alpha"),
        file(".claude/agents/a.md", Scope::Project, "zulu"),
        file("agents/m.md", Scope::User, "mike"),
    ]);
    let names: Vec<&str> = registry.delegable().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["general-purpose", "explore", "plan", "summary", "bash", "alpha", "mike", "zulu"]);
    assert_eq!(get(&registry, "mike").origin.to_string(), "user: agents/m.md");
    assert_eq!(findings(&registry), "");
}

#[test]
fn a_trusted_project_silently_wins_over_a_user() {
    let user = file("agents/reviewer.md", Scope::User, "reviewer");
    let project = file(".claude/agents/reviewer.md", Scope::Project, "Reviewer");
    for project in [project.clone(), trusted(project)] {
        for files in [vec![user.clone(), project.clone()], vec![project.clone(), user.clone()]] {
            let registry = assemble(files);
            assert_eq!(get(&registry, "reviewer").description, "from .claude/agents/reviewer.md");
            assert_eq!(registry.delegable().count(), 6, "names that differ in case only are one");
            let said = "\
                .claude/agents/reviewer.md: warning: `reviewer` replaces your agents/reviewer.md; review the \
                file, then run `sortie trust`; or delete one of the two\n";
            assert_eq!(findings(&registry), if project.trusted { "" } else { said });
        }
    }
}

#[test]
fn an_untrusted_project_that_displaces_a_users_agent_is_prominently_reported() {
    let user = || file("agents/reviewer.md", Scope::User, "reviewer");
    for (project, weight) in [
        (file(".sortie/agents/a.md", Scope::Project, "reviewer"), Some(Weight::Displacing)),
        (trusted(file(".sortie/agents/a.md", Scope::Project, "reviewer")), None),
        (broken(".sortie/agents/a.md", Scope::Project, "reviewer"), Some(Weight::Displacing)),
        (trusted(broken(".sortie/agents/a.md", Scope::Project, "reviewer")), Some(Weight::Ordinary)),
    ] {
        let registry = assemble(vec![user(), project]);
        let displaced: Vec<_> = registry.displaced().iter().map(|agent| agent.origin.path.as_deref()).collect();
        assert_eq!(displaced, [Some("agents/reviewer.md")], "{}", findings(&registry));
        let about_both = registry.findings().iter().find(|finding| finding.message.starts_with("`reviewer`"));
        assert_eq!(about_both.map(|finding| finding.weight), weight, "{}", findings(&registry));
    }
    let same_scope = assemble(vec![user(), file(".claude/agents/reviewer.md", Scope::User, "reviewer")]);
    assert!(same_scope.displaced().is_empty(), "nobody else has taken its place");
    assert_eq!(same_scope.findings()[0].weight, Weight::Ordinary);
}

#[test]
fn within_a_project_our_dialect_wins_and_the_other_file_is_named() {
    let registry = assemble(vec![
        file(".claude/agents/reviewer.md", Scope::Project, "reviewer"),
        file(".sortie/agents/reviewer.md", Scope::Project, "reviewer"),
    ]);
    assert_eq!(get(&registry, "reviewer").description, "from .sortie/agents/reviewer.md");
    expect![[r#"
        .claude/agents/reviewer.md: warning: `reviewer` is also defined in .sortie/agents/reviewer.md, which takes precedence over this file; delete the one that you do not want
    "#]].assert_eq(&findings(&registry));
}

#[test]
fn the_first_of_two_files_in_a_folder_wins_and_the_other_is_an_error() {
    let registry = assemble(vec![
        file(".sortie/agents/b.md", Scope::Project, "reviewer"),
        file(".sortie/agents/a/z.md", Scope::Project, "reviewer"),
    ]);
    assert_eq!(get(&registry, "reviewer").description, "from .sortie/agents/a/z.md");
    expect![[r#"
        .sortie/agents/b.md: error: `reviewer` is already defined in .sortie/agents/a/z.md; rename one of the two, or delete it
    "#]].assert_eq(&findings(&registry));
}

#[test]
fn a_project_cannot_take_a_built_in_agents_name_or_alias_unless_it_is_trusted() {
    let project = |name: &str| {
        let folder = if name == "Explore" { ".claude" } else { ".sortie" };
        file(&format!("{folder}/agents/{name}.md"), Scope::Project, name)
    };
    let names = ["Explore", "general", "main", "bash"];
    let registry = assemble(names.into_iter().map(project).collect());
    assert_eq!(registry.all(), Registry::builtin().all());
    expect![[r#"
        .claude/agents/Explore.md: warning: `Explore` is a built-in agent's name, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
        .sortie/agents/bash.md: warning: `bash` is a built-in agent's name, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
        .sortie/agents/general.md: warning: `general` is a built-in agent's name, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
        .sortie/agents/main.md: warning: `main` is a built-in agent's name, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
    "#]].assert_eq(&findings(&registry));

    let registry = assemble(names.into_iter().map(|name| trusted(project(name))).collect());
    assert_eq!(get(&registry, "explore").name, "Explore");
    assert_eq!(get(&registry, "general").description, "from .sortie/agents/general.md");
    assert_eq!(get(&registry, "GENERAL").description, "from .sortie/agents/general.md", "the alias is gone");
    assert_eq!(get(&registry, "general-purpose").origin.scope, Scope::Builtin);
    assert_eq!(findings(&registry), "");
}

#[test]
fn a_replaced_built_in_agent_keeps_its_aliases_and_whether_it_is_delegable() {
    let registry = assemble(vec![
        file("agents/main.md", Scope::User, "main"),
        file("agents/general.md", Scope::User, "general-purpose"),
    ]);
    assert_eq!(registry.all()[0].description, "from agents/main.md");
    assert!(registry.get_delegable("main").is_err());
    assert_eq!(get(&registry, "general").description, "from agents/general.md");
    assert_eq!(findings(&registry), "");
}

#[test]
fn an_untrusted_file_does_not_block_the_users() {
    let registry = assemble(vec![
        file(".sortie/agents/explore.md", Scope::Project, "explore"),
        file("agents/explore.md", Scope::User, "explore"),
    ]);
    assert_eq!(get(&registry, "explore").description, "from agents/explore.md");
}

/// An invalid definition.
fn broken(path: &str, scope: Scope, name: &str) -> AgentFile {
    AgentFile { bytes: format!("---\nname: {name}\nodd: 1\n").into_bytes(), ..file(path, scope, name) }
}

#[test]
fn no_file_further_away_replaces_a_broken_one() {
    let registry = assemble(vec![
        broken(".sortie/agents/a.md", Scope::Project, "reviewer"),
        file(".sortie/agents/b.md", Scope::Project, "reviewer"),
        file(".claude/agents/reviewer.md", Scope::Project, "Reviewer"),
        file("agents/reviewer.md", Scope::User, "reviewer"),
        broken("agents/plan.md", Scope::User, "plan"),
        broken("agents/general.md", Scope::User, "general-purpose"),
    ]);
    for (asked, path) in [
        ("reviewer", ".sortie/agents/a.md:1"),
        ("plan", "agents/plan.md:1"),
        ("general-purpose", "agents/general.md:1"),
        ("general", "agents/general.md:1"),
    ] {
        let error = registry.get(asked).expect_err("it is broken").to_string();
        let why =
            format!("unknown agent `{asked}` (its file does not count: {path}: error: the front matter has no end;");
        assert!(error.starts_with(&why), "{error}");
    }
    expect![[r#"
        .claude/agents/reviewer.md: warning: `Reviewer` does not replace .sortie/agents/a.md, which is broken; fix that file, or delete it
        .sortie/agents/a.md:1: error: the front matter has no end; put a line `---` between the keys and the prompt
        .sortie/agents/b.md: warning: `reviewer` does not replace .sortie/agents/a.md, which is broken; fix that file, or delete it
        agents/general.md: warning: the built-in agent `general-purpose` does not replace this broken file; fix the file, or delete it
        agents/general.md:1: error: the front matter has no end; put a line `---` between the keys and the prompt
        agents/plan.md: warning: the built-in agent `plan` does not replace this broken file; fix the file, or delete it
        agents/plan.md:1: error: the front matter has no end; put a line `---` between the keys and the prompt
        agents/reviewer.md: warning: `reviewer` does not replace .sortie/agents/a.md, which is broken; fix that file, or delete it
    "#]].assert_eq(&findings(&registry));
}

#[test]
fn an_alias_does_not_replace_a_broken_file_either() {
    let registry = assemble(vec![broken("agents/general.md", Scope::User, "general")]);
    assert!(registry.get("general").is_err());
    assert!(registry.get("general-purpose").is_ok());
}

#[test]
fn a_broken_file_further_away_blocks_nothing() {
    let registry = assemble(vec![
        file(".sortie/agents/reviewer.md", Scope::Project, "reviewer"),
        broken("agents/reviewer.md", Scope::User, "reviewer"),
    ]);
    assert_eq!(get(&registry, "reviewer").description, "from .sortie/agents/reviewer.md");
}

#[test]
fn a_file_that_cannot_be_read_still_blocks_the_name_that_it_claims() {
    let with = |bytes: &[u8]| AgentFile { bytes: bytes.to_vec(), ..file("agents/x.md", Scope::User, "plan") };
    let large = [b"---\nname: plan\n---\n".to_vec(), vec![b'a'; MAX_FILE_BYTES]].concat();
    for bytes in [&b"---\nname: plan\ndescription: Caf\xe9\n---\nPlan.\n"[..], b"---\n'name' : plan\n\0---\n", &large] {
        let registry = assemble(vec![with(bytes)]);
        assert!(registry.get("plan").is_err(), "{}", findings(&registry));
    }
}

#[test]
fn an_untrusted_file_never_removes_a_built_in_agent() {
    let names = ["explore", "general", "Plan", "ex\u{200b}plore"];
    let files = names.into_iter().map(|name| broken(&format!(".claude/agents/{name}.md"), Scope::Project, name));
    let registry = assemble(files.collect());
    assert_eq!(registry.all(), Registry::builtin().all());
    let set_aside = registry.findings().iter().filter(|finding| finding.message.ends_with("is set aside"));
    assert_eq!(set_aside.clone().count(), names.len(), "{}", findings(&registry));
    assert!(set_aside.into_iter().all(|finding| finding.weight == Weight::SetAside));
}

#[test]
fn a_name_like_a_built_in_ones_is_set_aside_unless_it_is_trusted() {
    for name in ["General_Purpose", "general purpose", "p1an", "expIore", "ΜΑΙΝ", "Plán"] {
        let project = file(".claude/agents/a.md", Scope::Project, name);
        let registry = assemble(vec![project.clone()]);
        assert_eq!(registry.all(), Registry::builtin().all(), "{name}");
        assert!(findings(&registry).contains("a built-in agent's name, so"), "{}", findings(&registry));
        let registry = assemble(vec![trusted(project)]);
        assert_eq!(get(&registry, name).name, name);
        assert_eq!(findings(&registry), "");
    }
}

#[test]
fn only_an_untrusted_file_has_its_turns_capped() {
    let long = |scope| {
        let text = b"---\nname: stayer\ndescription: Stays\nmaxTurns: 10000\n---\nStay.\n";
        AgentFile { bytes: text.to_vec(), ..file("agents/stayer.md", scope, "stayer") }
    };
    for (file, turns) in
        [(long(Scope::Project), 50), (trusted(long(Scope::Project)), 10_000), (long(Scope::User), 10_000)]
    {
        assert_eq!(get(&assemble(vec![file]), "stayer").limits.max_turns, Some(turns));
    }
}

#[test]
fn a_text_in_a_foreign_folder_is_not_an_agent_and_blocks_none() {
    let note = AgentFile { bytes: b"# Plan\n".to_vec(), ..file(".claude/agents/plan.md", Scope::User, "plan") };
    let registry = assemble(vec![note]);
    assert!(registry.get("plan").is_ok());
    expect![[r#"
        .claude/agents/plan.md:1: warning: not an agent: it has no front matter; move it out of the folder, if it is in the way
    "#]].assert_eq(&findings(&registry));
}

#[test]
fn fixed_agents_stay_the_same() {
    let agents = assemble(vec![file("agents/reviewer.md", Scope::User, "reviewer")]).fixed();
    assert!(Arc::ptr_eq(&agents.current(), &agents.current()));
    assert!(agents.current().get("reviewer").is_ok());
}
