//! Refusals of calls: whose rule it was, and what would have allowed the call.

use std::sync::Arc;

use serde_json::json;
use sortie_engine::{Approval, Permissions};
use sortie_policy::Redactor;
use sortie_protocol::{GrantLayer, Mode, Status};
use sortie_testkit::{Script, reply, when};

use crate::permissions::{Person, asking, delegated, exists, once, rules, texts, user, usual, write};
use crate::support::{Plan, ask};

const SAYS: &str = "`Edit(docs/a.md)` under [permissions] allow, or --allow 'Edit(docs/a.md)', would allow it";

#[tokio::test]
async fn a_rule_about_an_alias_holds_for_the_agent_under_all_names() {
    for (rule, called) in [("Task(general)", "general-purpose"), ("Task(general-purpose)", "GENERAL")] {
        let deny = GrantLayer { deny: rules(&[rule]), ..usual() };
        let world = Plan::script(delegated(called, [write("a.md")])).permissions(user(deny)).build();
        world.run(ask("Go.")).await;
        assert!(world.seen_by("the brief").is_empty(), "{called} was not started under {rule}");
        assert!(texts(&world, "Go.")[0].contains(&format!("its rule `{rule}`")), "{:?}", texts(&world, "Go."));
    }
}

#[tokio::test]
async fn an_agent_file_can_name_another_agent_by_its_alias() {
    for (line, is_started) in [("tools: Task(general)", true), ("disallowedTools: Task(general)", false)] {
        let lead = format!("---\nname: lead\ndescription: Leads.\n{line}\n---\nLead.\n");
        let files = [(".sortie/agents/lead.md".to_owned(), lead)];
        let task = |agent: &str, prompt: &str| {
            let call = json!({"description": "d", "prompt": prompt, "subagent_type": agent});
            reply::calls([reply::call("Task", call)])
        };
        let script = Script::new()
            .on(when::prompt_contains("Go.").turn(0), task("lead", "the brief"))
            .on(when::prompt_contains("the brief").turn(0), task("general-purpose", "below"))
            .otherwise(reply::text("Done."));
        let permissions = user(GrantLayer { mode: Some(Mode::Bypass), ..usual() });
        let world = Plan::script(script).files(&files).agent_files().permissions(permissions).build();
        world.run(ask("Go.")).await;
        assert_eq!(!world.seen_by("below").is_empty(), is_started, "{line}: {:?}", texts(&world, "the brief"));
    }
}

#[tokio::test]
async fn a_refusal_names_the_rule_that_would_help_in_any_mode() {
    for mode in ["default", "acceptEdits", "dontAsk"] {
        let agent = format!("---\nname: writer\ndescription: Writes.\npermissionMode: {mode}\n---\nWrite.\n");
        let files = [(".sortie/agents/writer.md".to_owned(), agent)];
        let world = |allow: &[&str]| {
            let permissions = user(GrantLayer { allow: rules(allow), ..usual() });
            let script = delegated("writer", [write("docs/a.md")]);
            Plan::script(script).files(&files).agent_files().permissions(permissions).build()
        };
        let without = world(&[]);
        without.run(ask("Go.")).await;
        let said = texts(&without, "the brief").remove(0);
        assert!(said.contains(SAYS), "{mode}: {said}");
        let with = world(&["Edit(docs/a.md)"]);
        with.run(ask("Go.")).await;
        assert!(exists(&with, "docs/a.md"), "{mode}: {:?}", texts(&with, "the brief"));
    }
}

#[tokio::test]
async fn an_agent_without_tools_is_told_that_it_has_none() {
    let files = [(".sortie/agents/bare.md", "---\nname: bare\ndescription: Thinks.\ntools: []\n---\nThink.\n")];
    let world = Plan::script(delegated("bare", [write("a.md")])).files(&files).agent_files().build();
    world.run(ask("Go.")).await;
    assert!(texts(&world, "the brief")[0].ends_with("You have no tools."), "{:?}", texts(&world, "the brief"));
}

#[tokio::test]
async fn an_ask_rule_asks_every_time_but_an_unruled_call_can_be_settled() {
    let person = Person::who_says([Approval::Once, Approval::Once]);
    let layer = GrantLayer { ask: rules(&["Edit(/a.md)"]), ..usual() };
    let permissions = Permissions { layers: vec![layer], ..asking(&person) };
    let world = Plan::script(once([write("a.md"), write("b.md")])).permissions(permissions).build();
    world.run(ask("Go.")).await;
    let root = world.home.path().join("workspace").canonicalize().expect("it is there");
    let lasting: Vec<_> = person.asked().into_iter().map(|question| question.lasting_rule).collect();
    assert_eq!(lasting, [None, Some(format!("Edit(/{}/b.md)", root.display()))]);
}

#[tokio::test]
async fn a_stopped_task_asks_nothing_more_and_hears_nothing_of_lateness() {
    let person = Person::who_says([]);
    let world = Plan::script(once(["a.md", "b.md", "c.md"].map(write))).permissions(asking(&person)).build();
    let running = world.start(ask("Go.")).await;
    while person.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    running.stop();
    let outcome = running.outcome().await.expect("the journal works");
    assert_eq!((outcome.status, person.asked().len()), (Status::Cancelled, 1));
    let told = world.transcript();
    assert!(told.contains("the task was stopped before anybody answered"), "{told}");
    assert!(!told.contains("nobody answered in time"), "{told}");
}

#[tokio::test]
async fn unreadable_instructions_are_omitted_with_a_notice() {
    for layer in [
        GrantLayer { deny: rules(&["Read(*.md)"]), ..usual() },
        GrantLayer { ask: rules(&["Read(AGENTS.md)"]), ..usual() },
    ] {
        let world = Plan::script(once([])).files(&[("AGENTS.md", "canary")]).permissions(user(layer)).build();
        let outcome = world.run(ask("Go.")).await;
        assert!(!format!("{:?}", world.model.seen()).contains("canary"));
        let [notice] = &outcome.notices[..] else { panic!("one notice: {:?}", outcome.notices) };
        assert!(
            notice.contains("the instructions in AGENTS.md were left out") && notice.contains("`Read("),
            "{notice}"
        );
    }
    let world = Plan::script(once([])).files(&[("AGENTS.md", "canary")]).permissions(user(usual())).build();
    world.run(ask("Go.")).await;
    assert!(format!("{:?}", world.model.seen()).contains("canary"));
}

#[tokio::test]
async fn an_agent_that_may_not_read_files_still_has_the_instructions() {
    let files = [
        (".sortie/agents/bare.md", "---\nname: bare\ndescription: Thinks.\ntools: []\n---\nThink.\n"),
        ("AGENTS.md", "canary"),
    ];
    let world = Plan::script(once([])).files(&files).agent_files().permissions(user(usual())).build();
    let mut request = ask("Go.");
    request.agent = "bare".to_owned();
    world.run(request).await;
    assert!(format!("{:?}", world.model.seen()).contains("canary"));
}

#[tokio::test]
async fn secrets_in_instructions_reach_nobody() {
    let redactor = Arc::new(Redactor::new(vec!["our-own-key-1234567890".to_owned()]));
    let permissions = Permissions { redactor, ..Permissions::unrestricted() };
    let files = [("AGENTS.md", "Use the key our-own-key-1234567890.")];
    let world = Plan::script(once([])).files(&files).permissions(permissions).build();
    world.run(ask("Go.")).await;
    let seen = format!("{:?}{}", world.model.seen(), world.transcript());
    assert!(seen.contains("Use the key [redacted") && !seen.contains("our-own-key"), "{seen}");
}
