//! `sortie doctor`: what works here and what does not.

use std::fs;

use expect_test::expect;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::world::{Ended, World};

/// Lines about one subject.
pub(crate) fn about<'a>(ended: &'a Ended, subject: &str) -> Vec<&'a str> {
    ended.stdout.lines().filter(|line| line.split("  ").map(str::trim).any(|cell| cell == subject)).collect()
}

/// Stderr without notes about long waits: a busy machine takes its time.
fn complaints(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| !line.starts_with("note: ")).collect()
}

/// Lines about the kernel and installed programs, which differ between machines.
const MACHINE: [&str; 5] = ["  file opens  ", "  wall", "  bash  ", "  git  ", "  repository  "];

#[test]
fn a_fresh_machine_works_with_a_warning_that_no_model_is_set() {
    let world = World::new();
    let ended = world.sortie(["doctor"]).run();
    let is_of_machine = |line: &&str| MACHINE.iter().any(|subject| line.contains(subject));
    let (machine, lines): (Vec<&str>, Vec<&str>) = ended.stdout.lines().partition(is_of_machine);
    let text = lines.join("\n").replace(&world.path("").display().to_string(), "<dir>/");
    expect![[r#"
        ok       configuration      <dir>/home/.config/sortie/config.toml does not exist; defaults apply
        ok       trust              not trusted; its files can only narrow settings
        ok       permissions        mode default; rules that allow: 0, ask: 0, deny: 0
        warning  models             no model is set; `offline`, the built-in rule-based model, serves; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or LLM_MODEL_ID with LLM_BASE_URL
        ok       workspace          <dir>/workspace
        ok       agents             6 built in, 0 of the user, 0 of the project
        ok       instructions       the main agent reads no file
        ok       journal            <dir>/state/journal.db does not exist; the first run creates it
        ok       terminal           stdin is not a terminal, stdout not a terminal, stderr not a terminal: progress is plain lines

        everything works, with 1 warning
    "#]].assert_eq(&(text + "\n"));
    assert!(machine.iter().all(|line| line.starts_with("ok  ")), "{machine:#?}");
    assert_eq!((ended.code, complaints(&ended)), (0, vec![]));
    assert!(world.kept_nothing(), "looking makes nothing");
}

#[test]
fn broken_settings_are_a_diagnosis_and_exit_1() {
    let world = World::new();
    world.config("[task_tool]\nmax_depth = \"deep\"\n");
    let ended = world.sortie(["doctor"]).run();
    assert_eq!((ended.code, complaints(&ended)), (1, vec![]));
    assert!(ended.stdout.starts_with("error  settings    "), "{}", ended.stdout);
    assert!(ended.stdout.contains("config.toml:2: `task_tool.max_depth` must be"), "{}", ended.stdout);
    assert!(!about(&ended, "terminal").is_empty(), "the rest is looked at: {}", ended.stdout);
}

#[test]
fn each_route_is_resolved_and_one_that_cannot_be_used_is_an_error() {
    let world = World::new();
    let good = [("LLM_BASE_URL", "http://127.0.0.1:1"), ("LLM_MODEL_ID", "m")];
    let ended = world.sortie(["doctor"]).envs(good).run();
    assert_eq!(ended.code, 0, "nobody is called unasked: {}", ended.stdout);
    assert!(about(&ended, "route main")[0].contains("m over openai-chat at http://127.0.0.1:1, no key"));

    let keyless = [("LIGHT_LLM_BASE_URL", "https://models.example"), ("LIGHT_LLM_MODEL_ID", "m")];
    let ended = world.sortie(["doctor"]).envs(good).envs(keyless).run();
    assert_eq!(ended.code, 1);
    let light = about(&ended, "route light");
    assert!(light[0].starts_with("error"), "{}", ended.stdout);
    assert!(light[0].contains("there is no key for https://models.example"), "{}", ended.stdout);
    assert!(about(&ended, "route main")[0].starts_with("ok"), "the others are told, too: {}", ended.stdout);
}

#[test]
fn models_are_called_when_asked_for() {
    let world = World::new();
    let server = ScriptedServer::start(Script::always(reply::text("OK"))).unwrap();
    let ended = world.sortie(["doctor", "--check"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, server.requests().len()), (0, 1));
    assert!(about(&ended, "route main")[1].contains("answered in"), "{}", ended.stdout);
    let server = ScriptedServer::start(Script::always(reply::status(401))).unwrap();
    let ended = world.sortie(["doctor", "--check"]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 1);
    assert!(about(&ended, "route main")[1].starts_with("error"), "{}", ended.stdout);
}

#[test]
fn agents_and_instructions_are_counted() {
    let world = World::new();
    world.write("workspace/AGENTS.md", "Be brief.\n");
    world.write("workspace/.sortie/agents/good.md", "---\nname: good\ndescription: d\n---\nYou work.\n");
    let ended = world.sortie(["doctor"]).run();
    assert!(about(&ended, "agents")[0].contains("6 built in, 0 of the user, 1 of the project"), "{}", ended.stdout);
    assert!(about(&ended, "instructions")[0].contains("AGENTS.md (9 bytes)"), "{}", ended.stdout);
    world.write("workspace/.sortie/agents/bad.md", "no front matter");
    let ended = world.sortie(["doctor"]).run();
    assert_eq!(ended.code, 1);
    assert!(about(&ended, "agents")[0].contains("2 agent files: 1 error; `sortie agents check`"), "{}", ended.stdout);
}

#[test]
fn agents_of_the_user_that_the_project_displaces_are_counted_as_such() {
    let world = World::new();
    let text = "---\nname: good\ndescription: d\n---\nYou work.\n";
    world.write("home/.config/sortie/agents/good.md", text);
    world.write("workspace/.sortie/agents/good.md", text);
    for args in [&["doctor"][..], &["doctor", "--trust"]] {
        let ended = world.sortie(args).run();
        let counted = "6 built in, 1 of the user (1 displaced by the project), 1 of the project";
        assert!(about(&ended, "agents")[0].contains(counted), "{}", ended.stdout);
    }
    assert!(
        world.sortie(["agents", "check"]).run().stdout.ends_with("\n2 agent files: 1 warning\n"),
        "both are counted"
    );
}

#[test]
fn an_agents_unserved_model_is_a_warning() {
    let world = World::new();
    world.write("workspace/.sortie/agents/good.md", "---\nname: a\ndescription: d\nmodel: unheard-of\n---\nWork.\n");
    let ended = world.sortie(["doctor"]).run();
    let line = about(&ended, "agents")[0];
    assert!(line.starts_with("warning") && line.contains("1 agent file: 1 warning"), "{}", ended.stdout);
}

#[test]
fn the_journal_is_read_and_a_damaged_one_is_an_error() {
    let world = World::new();
    world.sortie(["run", "hello"]).run();
    let ended = world.sortie(["doctor"]).run();
    assert!(about(&ended, "journal")[0].contains("format 4"), "{}", ended.stdout);
    fs::write(world.path("state/journal.db"), "this is no database, though it is long enough to look like one")
        .unwrap();
    let ended = world.sortie(["doctor"]).run();
    assert_eq!(ended.code, 1);
    assert!(about(&ended, "journal")[0].starts_with("error"), "{}", ended.stdout);
}

#[test]
fn a_home_that_cannot_be_created_is_an_error() {
    let world = World::new();
    world.write("file", "");
    let ended = world.sortie(["doctor"]).env("SORTIE_HOME", world.path("file/below")).run();
    assert_eq!(ended.code, 1);
    assert!(about(&ended, "journal")[0].contains("nothing can be created in"), "{}", ended.stdout);
}

#[test]
fn ignored_settings_of_the_project_are_a_warning() {
    let world = World::new();
    world.write("workspace/.sortie/config.toml", "[routes.main]\nbase_url = \"https://evil.example\"\n");
    let ended = world.sortie(["doctor"]).run();
    assert_eq!(ended.code, 0);
    assert!(about(&ended, "settings")[0].contains("`routes.main.base_url`"), "{}", ended.stdout);
    assert_eq!(about(&ended, "trust").len(), 1);
    assert!(!about(&ended, "project").is_empty(), "{}", ended.stdout);
}

#[test]
fn programs_get_one_object() {
    let world = World::new();
    let object = world.sortie(["doctor", "--output-format", "json"]).run().stdout_json();
    assert_eq!(object["broken"], false);
    let checks = object["checks"].as_array().unwrap();
    let subjects: Vec<&str> = checks.iter().map(|check| check["subject"].as_str().unwrap()).collect();
    for subject in [
        "configuration",
        "trust",
        "models",
        "workspace",
        "agents",
        "instructions",
        "journal",
        "git",
        "walls",
        "terminal",
    ] {
        assert!(subjects.contains(&subject), "{subject}: {subjects:?}");
    }
}
