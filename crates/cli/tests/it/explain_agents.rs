//! `sortie explain` about starting agents and about addresses: it says what a run would do.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::world::World;

/// Checks the last sentence and the exit code.
fn check(world: &World, args: &[&str], expected: &Expect) {
    let ended = world.sortie(["explain"].iter().chain(args)).run();
    let last = ended.stdout.trim_end().lines().next_back().unwrap_or_default();
    expected.assert_eq(&format!("exit {}\n{last}\n{}", ended.code, ended.stderr));
}

#[test]
fn an_agent_is_denied_by_each_of_its_names() {
    let world = World::new();
    for (call, rule) in [
        ("Task(general)", "Task(general-purpose)"),
        ("Task(general-purpose)", "Task(general)"),
        ("Agent(GENERAL)", "agent(General)"),
        ("task(general)", "Task(gen*)"),
    ] {
        let ended = world.sortie(["explain", call, "--deny", rule]).run();
        let expected = format!("It is denied by the flag --deny: its rule `{rule}`.");
        assert!(ended.code == 1 && ended.stdout.contains(&expected), "{call} {rule}: {ended:#?}");
        assert_eq!(ended.stderr, "");
    }
    assert_eq!(world.sortie(["explain", "task(explore)"]).run().code, 0, "by the tool's name in another contract");
}

#[test]
fn an_unknown_agent_is_named() {
    let world = World::new();
    check(
        &world,
        &["Task(nosuch)"],
        &expect![[r#"
            exit 1
            It is denied: unknown agent `nosuch`; there are general-purpose, explore, plan, summary, bash.
        "#]],
    );
    check(
        &world,
        &["Task(explore)", "--deny", "Task(explroe)", "--allow", "Task(gen*)"],
        &expect![[r#"
            exit 0
              agent main       allows: nothing against it  built in
            warning: --deny: `permissions.deny`: `Task(explroe)` names an unknown agent
        "#]],
    );
    let run = world.sortie(["run", "Where is login?", "--deny", "Task(explroe)"]).run();
    assert!(run.stderr.contains("`Task(explroe)` names an unknown agent"), "{run:#?}");
}

#[test]
fn the_best_match_is_judged_if_the_contract_matches_by_description() {
    let world = World::new();
    let writer = "---\nname: writer-of-docs\ndescription: writes documentation pages\n---\nWrite.\n";
    world.write("workspace/.sortie/agents/writer.md", writer);
    let result = ["--contract", "result", "Task(documentation pages)"];
    let ended = world.sortie(["explain", "--json"].iter().chain(&result)).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let notice = "there is no agent `documentation pages`; `writer-of-docs` fits best and serves";
    assert_eq!(ended.stdout_json()["notice"], json!(notice));
    check(
        &world,
        &["Task(zzz)", "--contract", "result"],
        &expect![[r#"
            exit 1
            It is denied: unknown agent `zzz`; there are writer-of-docs; a call's description may find one.
        "#]],
    );
    let denied = world.sortie(["explain", "--deny", "Task(writer-of-docs)"].iter().chain(&result)).run();
    assert!(denied.code == 1 && denied.stdout.contains(notice), "{denied:#?}");
}

#[test]
fn switched_off_delegation_is_reported() {
    let world = World::new();
    for call in [&["Task(explore)"][..], &["Read(src/auth.rs)", "--agent", "explore"]] {
        for (setting, why) in [
            ("task_tool.enabled=false", "delegation is switched off (`task_tool.enabled` is false)"),
            ("task_tool.max_depth=0", "main cannot delegate: it has depth 0, and `task_tool.max_depth` is 0"),
        ] {
            let ended = world.sortie(["explain", "--set", setting].iter().chain(call)).run();
            assert!(ended.code == 1 && ended.stdout.contains(why), "{call:?} {setting}: {ended:#?}");
            assert!(ended.stdout.lines().next().unwrap_or_default().ends_with(": denied"), "{ended:#?}");
        }
    }
}

#[test]
fn an_address_is_read_as_the_tool_reads_it() {
    let world = World::new();
    for (url, is_allowed) in [
        ("https://example.com/a?b#c", true),
        ("https://EXAMPLE.com.:8080/", true),
        ("https:\\\\example.com\\@evil.example/", true),
        ("https://example.com@evil.example/", false),
        ("https://evil.example/?https://example.com", false),
        ("https://example.com.evil.example/", false),
        ("domain:example.com", true),
    ] {
        let call = format!("WebFetch({url})");
        let ended = world.sortie(["explain", &call, "--allow", "WebFetch(domain:example.com)"]).run();
        assert_eq!(ended.code == 0, is_allowed, "{url}: {ended:#?}");
    }
}

#[test]
fn an_address_that_is_never_fetched_is_denied_whatever_is_allowed() {
    let world = World::new();
    for (url, why) in [
        ("example.com", "is not a URL (it has no scheme)"),
        ("file:///etc/passwd", "only http and https are fetched"),
        ("http://user:word@example.com/", "has a user name or password"),
        ("http://127.0.0.1:8080/", "is loopback"),
        ("http://0x7f.1/", "is loopback"),
        ("http://localhost/", "is loopback"),
        ("http://10.0.0.1/", "is a private network"),
    ] {
        let call = format!("WebFetch({url})");
        let ended = world.sortie(["explain", &call, "--permission-mode", "bypass"]).run();
        assert!(ended.code == 1 && ended.stdout.contains(why), "{url}: {ended:#?}");
    }
    let private = ["--permission-mode", "bypass", "--set", "web.private=127.0.0.1:8080"];
    let ended = world.sortie(["explain", "WebFetch(http://127.0.0.1:8080/)"].iter().chain(&private)).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
}
