//! `sortie trust` as a person meets it: the warning before, the question, and what a yes covers.

use std::fmt::Write as _;

use expect_test::expect;

use crate::ask::Session;
use crate::world::{Ended, World};

const CONFIG: &str = "workspace/.sortie/config.toml";
const OWN_MODEL: &str = "[routes.main]\nmodel = \"project-model\"\nbase_url = \"http://127.0.0.1:1\"\n";

fn model(ended: &Ended) -> &str {
    ended.stdout.lines().find(|line| line.starts_with("model ")).unwrap().trim_start_matches("model").trim()
}

/// Output of `config show`, which names the model in force.
fn shown(world: &World) -> Ended {
    world.sortie(["config", "show"]).run()
}

#[test]
fn on_a_terminal_nothing_is_trusted_before_a_yes() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    for answer in ["n\n", "\n", "no, yes\n", "\u{4}"] {
        let mut session = Session::start(world.sortie(["trust"]));
        let question = session.sees("Trust this? [y/N] ");
        assert!(question.contains("sets routes.main.base_url = http://127.0.0.1:1: your requests"), "{question}");
        assert!(world.kept_nothing(), "nothing is written before the answer");
        session.types(answer);
        session.sees("note: nothing was stored; the project is as it was");
        assert_eq!(session.ends(), (1, String::new()), "{answer:?}");
        assert!(world.kept_nothing(), "{answer:?}");
    }
    let mut session = Session::start(world.sortie(["trust"]));
    session.sees("Trust this? [y/N] ");
    session.types("y\n");
    let told = "Trusted. This covers 1 file; new or changed files are not covered.\n".to_owned();
    assert_eq!(session.ends(), (0, told));
    assert!(model(&shown(&world)).starts_with("project-model"));
}

#[test]
fn a_file_that_changes_before_the_yes_is_not_trusted() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    let mut session = Session::start(world.sortie(["trust"]));
    session.sees("Trust this? [y/N] ");
    world.write(CONFIG, &OWN_MODEL.replace("project-model", "another"));
    world.write("workspace/.env", "LLM_MODEL_ID=evil\n");
    session.types("yes\n");
    assert_eq!(session.ends().0, 0);
    let ended = shown(&world);
    assert_eq!(model(&ended), "offline, the built-in rule-based model (no model is set)");
    assert!(ended.stderr.contains("has changed since you trusted it"), "{}", ended.stderr);
    assert!(ended.stderr.contains(".env is new since you trusted this project"), "{}", ended.stderr);
    world.write(CONFIG, OWN_MODEL);
    assert!(model(&shown(&world)).starts_with("project-model"), "the bytes that were shown are trusted");
}

#[test]
fn an_answer_typed_before_the_question_does_not_count() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    let mut session = Session::start_after(world.sortie(["trust"]), "y\n");
    session.sees("Trust this? [y/N] ");
    session.types("n\n");
    assert_eq!(session.ends().0, 1);
    assert!(world.kept_nothing());
}

#[test]
fn the_warning_names_every_key_once_however_many_rules_there_are() {
    let world = World::new();
    let mut rules = String::new();
    (0..100).for_each(|n| writeln!(rules, "  \"Bash(tool-{n}:*)\",").unwrap());
    let text = format!(
        "[permissions]\nallow = [\n{rules}\n]\nadd_dirs = [\"..\", \"/tmp\"]\n[web]\nprivate = [\"127.0.0.1:1\"]\n\
         [routes.main]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1\"\napi_key_env = \"HOME\"\n\
         [aliases]\nhaiku = \"light\"\n[task_tool]\nmax_depth = 9\nmax_children = 999\nmodel = \"x\"\n\
         [[hooks]]\non = \"task_ended\"\ncommand = [\"x\"]\n"
    );
    world.write(CONFIG, &text);
    let names = ["A", "B", "C", "A"].map(|name| format!("SORTIE_ALIASES__{name}=m\n"));
    world.write("workspace/.env", &names.concat());
    world.write(
        "workspace/.mcp.json",
        r#"{"mcpServers": {"files": {"command": "npx"}, "web": {"url": "https://a.example"}}}"#,
    );
    expect![[r#"
        warning: ignored: `web.private` (.sortie/config.toml:107), `routes.main.base_url` (.sortie/config.toml:110), `hooks` (.sortie/config.toml:118), `permissions.allow` (.sortie/config.toml:3 and 99 more places), `permissions.add_dirs` (.sortie/config.toml:105 and 1 more place), `routes.main.api_key_env` (.sortie/config.toml:111), `routes.main.model` (.sortie/config.toml:109), `aliases.haiku` (.sortie/config.toml:113), `task_tool.max_depth` (.sortie/config.toml:115), `task_tool.max_children` (.sortie/config.toml:116), `task_tool.model` (.sortie/config.toml:117): this project is not trusted; look at .sortie/config.toml, then run `sortie trust`
        warning: .env, which sets SORTIE_ALIASES__A, SORTIE_ALIASES__B, SORTIE_ALIASES__C, is ignored: this project is not trusted; look at .env, then run `sortie trust`
        warning: .mcp.json, which sets up files, web, is ignored: this project is not trusted; look at .mcp.json, then run `sortie trust`
    "#]].assert_eq(&world.sortie(["agents", "list"]).run().stderr);
    // The question, too, hides nothing.
    let effects = world.sortie(["trust", "--dry-run"]).run().stdout;
    assert!(
        (0..100).all(|n| effects.contains(&format!("adds \"Bash(tool-{n}:*)\" to permissions.allow"))),
        "{effects}"
    );
}

#[test]
fn a_directory_that_does_not_exist_gets_a_hint_about_this_command() {
    let world = World::new();
    expect![[r#"
        exit 2
        --- stderr
        error: /nonexistent is not a directory
        hint: name a directory in the project, or none for the current one: `sortie trust [DIR]`
    "#]]
    .assert_eq(&world.sortie(["trust", "/nonexistent"]).run().transcript());
}

#[test]
fn a_project_without_files_that_need_trust_is_no_question() {
    let world = World::new();
    let ended = world.sortie(["trust"]).run();
    let told = "There is nothing to trust here. Trust would cover no file, since none needs trust.\n";
    assert!((ended.code, ended.stdout.ends_with(told)) == (0, true), "{ended:?}");
    assert!(world.kept_nothing());
}
