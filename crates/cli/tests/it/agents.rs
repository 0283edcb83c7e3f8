//! `sortie agents` and `sortie schema`.

use std::fs;

use expect_test::expect;
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::world::World;

const REVIEWER: &str = "\
---
name: reviewer
description: Reviews a change for security and correctness
tools: Read, Grep
disallowedTools: Task
model: inherit
maxTurns: 7
color: red
initialPrompt: Read the diff first.
---
You review changes.
";

/// World with an agent of the project, one of the user, and one of the user's from another program.
fn with_agents() -> World {
    let world = World::new();
    world.write("workspace/.sortie/agents/reviewer.md", REVIEWER);
    world.write(
        "home/.config/sortie/agents/translator.md",
        "---\nname: translator\ndescription: Translates texts\n---\nYou translate.\n",
    );
    world.write(
        "home/.claude/agents/tester.md",
        "---\nname: tester\ndescription: Runs the tests\npermissionMode: bypassPermissions\n---\nYou test.\n",
    );
    world
}

#[test]
fn agents_are_listed_with_their_origin() {
    expect![[r#"
        exit 0
        --- stdout
        main                       built in  inherit  100 turns  Answers a person's request; delegates what takes many calls
        general-purpose (general)  built in  inherit  50 turns   any work: write, change, test, review; all tools
        explore                    built in  inherit  30 turns   find where things are defined, handled, used or tested; read-only
        plan                       built in  inherit  30 turns   plan a change from the code, read-only
        summary                    built in  inherit  30 turns   summarise files or texts
        bash                       built in  inherit  30 turns   run commands such as builds and tests
        reviewer                   project   inherit  7 turns    Reviews a change for security and correctness
        tester                     user      inherit  30 turns   Runs the tests
        translator                 user      inherit  30 turns   Translates texts
    "#]]
    .assert_eq(&with_agents().sortie(["agents", "list"]).run().transcript());
}

#[test]
fn files_that_define_no_agent_are_listed_with_the_reason() {
    let world = with_agents();
    let text = |name: &str, more: &str| format!("---\nname: {name}\ndescription: Works\n{more}---\nYou work.\n");
    world.write("workspace/.sortie/agents/broken.md", &text("broken", "wibble: 3\n"));
    world.write("workspace/.claude/agents/mover.md", &text("mover", "isolation: worktree\n"));
    world.write("workspace/.claude/agents/reviewer.md", &text("reviewer", ""));
    world.write("workspace/.claude/agents/plan.md", &text("plan", ""));
    std::os::unix::fs::symlink("/etc/hostname", world.path("workspace/.sortie/agents/stolen.md")).unwrap();
    let ended = world.sortie(["agents", "list"]).run();
    let unused = ended.transcript();
    let unused: Vec<&str> = unused.lines().filter(|line| line.contains("  -  ")).collect();
    expect![[r#"
        broken                     project   broken     -          .sortie/agents/broken.md:4: unknown key `wibble`
        mover                      project   broken     -          .claude/agents/mover.md:4: `isolation: worktree` is not supported in this version
        plan                       project   set aside  -          .claude/agents/plan.md: `plan` is a built-in agent's name, so this project's file is set aside
        reviewer                   project   set aside  -          .claude/agents/reviewer.md: .sortie/agents/reviewer.md has its name
        stolen                     -         broken     -          .sortie/agents/stolen.md: it was not read: `.sortie/agents/stolen.md` is outside the workspace <dir>/workspace; only paths inside it can be used
    "#]].assert_eq(&(unused.join("\n") + "\n"));
}

#[test]
fn the_list_is_that_of_the_contract_in_use() {
    let world = with_agents();
    let mine = "---\nname: plan\ndescription: Plans as I do\nmodel: opus\n---\nYou plan.\n";
    world.write("home/.config/sortie/agents/plan.md", mine);
    let listed = |contract: &str| world.sortie(["agents", "list", "--contract", contract]).run().stdout;
    expect![[r#"
        main                       built in  inherit  100 turns  Answers a person's request; delegates what takes many calls
        general-purpose (general)  built in  sonnet   20 turns   Full capabilities
        Explore                    built in  haiku    10 turns   Fast codebase exploration (read-only)
        Plan                       user      opus     20 turns   Plans as I do
        Bash                       built in  haiku    20 turns   Command execution specialist
        reviewer                   project   inherit  7 turns    Reviews a change for security and correctness
        tester                     user      inherit  20 turns   Runs the tests
        translator                 user      inherit  20 turns   Translates texts
    "#]]
    .assert_eq(&listed("typed"));
    expect![[r#"
        main                       built in  inherit  100 turns  Answers a person's request; delegates what takes many calls
        general (general-purpose)  built in  main     50 turns   any focused piece of work that needs no writing
        explore                    built in  light    30 turns   finds things in the workspace
        plan                       user      opus     30 turns   Plans as I do
        summary                    built in  light    30 turns   sums up files or texts
    "#]]
    .assert_eq(&listed("envelope"));
    expect![[r#"
        main                       built in  inherit  100 turns  Answers a person's request; delegates what takes many calls
        general (general-purpose)  built in  inherit  50 turns   any task
        explore                    built in  inherit  30 turns   searches and reads
        plan                       user      opus     30 turns   Plans as I do
    "#]]
    .assert_eq(&listed("child-recipe"));
    let of_files = listed("result");
    let names: Vec<&str> = of_files.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["main", "plan", "reviewer", "tester", "translator"]);
}

#[test]
fn an_agent_is_shown_in_the_words_of_the_contract_in_use() {
    let shown = World::new().sortie(["agents", "show", "Explore", "--contract", "typed"]).run().stdout;
    assert!(shown.contains("\ndescription  Fast codebase exploration (read-only)\n"), "{shown}");
}

#[test]
fn an_agent_is_shown_with_its_tools_and_its_role() {
    let world = World::new();
    let by_name = world.sortie(["agents", "show", "general-purpose"]).run();
    let by_alias = world.sortie(["agents", "show", "General"]).run();
    assert_eq!(by_name.stdout, by_alias.stdout);
    for part in
        ["name         general-purpose\n", "aliases      general\n", "tools        everything that its parent has\n"]
    {
        assert!(by_name.stdout.contains(part), "{part}: {}", by_name.stdout);
    }
    let explore = world.sortie(["agents", "show", "explore"]).run();
    assert!(explore.stdout.contains("tools        Read, LS, Glob, Grep\n"), "{}", explore.stdout);
    assert!(
        explore.stdout.contains("You are a codebase exploration specialist"),
        "the role prompt: {}",
        explore.stdout
    );
}

#[test]
fn an_agent_from_a_file_is_shown_completely() {
    expect![[r#"
        exit 0
        --- stdout
        name          reviewer
        origin        project: .sortie/agents/reviewer.md
        description   Reviews a change for security and correctness
        tools         Read, Grep
        disallowed    Task
        model         its parent's
        max turns     7
        color         red
        delegable     yes
        first prompt  Read the diff first.

        You review changes.
    "#]]
    .assert_eq(&with_agents().sortie(["agents", "show", "reviewer"]).run().transcript());
}

#[test]
fn an_agent_that_does_not_exist_is_not_found() {
    expect![[r#"
        exit 1
        --- stderr
        error: unknown agent `explor`; there are explore, main, general-purpose, plan, summary, bash
    "#]]
    .assert_eq(&World::new().sortie(["agents", "show", "explor"]).run().transcript());
}

#[test]
fn links_of_the_user_are_followed_and_those_of_a_project_do_not_lead_out() {
    let world = World::new();
    let text = |name: &str| format!("---\nname: {name}\ndescription: From elsewhere\n---\nYou work.\n");
    world.write("elsewhere/shared.md", &text("shared"));
    let outside = world.write("single.md", &text("single"));
    fs::create_dir_all(world.path("home/.claude")).unwrap();
    fs::create_dir_all(world.path("home/.config/sortie/agents")).unwrap();
    fs::create_dir_all(world.path("workspace/.sortie/agents")).unwrap();
    let link = |target, name: &str| std::os::unix::fs::symlink(target, world.path(name)).unwrap();
    link(world.path("elsewhere"), "home/.claude/agents");
    link(outside.clone(), "home/.config/sortie/agents/single.md");
    link(outside, "workspace/.sortie/agents/stolen.md");
    let listed = world.sortie(["agents", "list"]).run().stdout;
    let is_users = |name: &str| listed.lines().any(|line| line.split_whitespace().take(2).eq([name, "user"]));
    assert!(is_users("shared") && is_users("single"), "{listed}");
    let checked = world.sortie(["agents", "check"]).run();
    assert_eq!(checked.code, 1);
    assert!(checked.stdout.starts_with(".sortie/agents/stolen.md: error: it was not read"), "{}", checked.stdout);
}

#[test]
fn a_check_of_all_folders_names_each_finding_and_fails_only_for_errors() {
    let world = with_agents();
    let check = || world.sortie(["agents", "check"]).run();
    let ended = check();
    let (finding, sum) = ended.stdout.split_once('\n').unwrap();
    assert!(finding.contains("home/.claude/agents/tester.md:4: warning: `permissionMode"), "{finding}");
    assert_eq!((ended.code, sum), (0, "3 agent files: 1 warning\n"), "a warning is no failure");

    let text = "---\nname: broken\ndescription: It breaks\nmodle: light\n---\nYou break.\n";
    world.write("workspace/.sortie/agents/broken.md", text);
    let ended = check();
    assert!(ended.stdout.starts_with(".sortie/agents/broken.md:4: error: unknown key `modle`"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("\n4 agent files: 1 error, 1 warning\n"), "{}", ended.stdout);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));

    let clean = World::new();
    assert_eq!(clean.sortie(["agents", "check"]).run().stdout, "0 agent files: no problems found\n");
    clean.write("workspace/.sortie/prompts/unheard_of.md", "x");
    clean.write("home/.config/sortie/prompts/unheard_of.md", "x");
    let ended = clean.sortie(["agents", "check"]).run();
    assert!(ended.stdout.ends_with("\n0 agent files: 2 warnings\n"), "a prompt is no agent: {}", ended.stdout);
}

#[test]
fn an_unserved_model_is_a_warning_of_the_check() {
    let world = World::new();
    for (name, model) in [("id", "gpt-5"), ("route", "light"), ("bare", "fast"), ("alias", "haiku"), ("own", "inherit")]
    {
        let text = format!("---\nname: {name}\ndescription: Works\nmodel: {model}\n---\nYou work.\n");
        world.write(&format!("workspace/.sortie/agents/{name}.md"), &text);
    }
    let keyless = [("LIGHT_LLM_BASE_URL", "https://models.example"), ("LIGHT_LLM_MODEL_ID", "m")];
    let ended = world.sortie(["agents", "check"]).env("ANTHROPIC_API_KEY", "k").envs(keyless).run();
    expect![[r#"
        exit 0
        --- stdout
        .sortie/agents/id.md: warning: nothing here serves the model `gpt-5`; no route leads to its provider; known routes: main, offline; anything else must be a model id of the main route's provider
        .sortie/agents/route.md: warning: the model `light` cannot be used here; there is no key for https://models.example: LIGHT_LLM_API_KEY is not set; export LIGHT_LLM_API_KEY=…, or name the variable that holds it in [routes.light] api_key_env
        5 agent files: 2 warnings
    "#]].assert_eq(&ended.transcript());

    world.config("[aliases]\nfast = \"main\"\na = \"b\"\nb = \"a\"\n");
    let ended = world.sortie(["agents", "check"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "5 agent files: no problems found\n"));
    assert!(ended.stderr.starts_with("warning: the models of agents are not checked: "), "{}", ended.stderr);
}

#[test]
fn files_are_checked_in_the_dialect_of_their_folder() {
    let world = World::new();
    for path in ["workspace/.claude/agents/a.md", "workspace/.sortie/agents/a.md", "workspace/a.md"] {
        world.write(path, "---\nname: a\ndescription: b\nunheard: of\n---\nYou work.\n");
    }
    let check = |path: &str| world.sortie(["agents", "check", path]).run();
    let foreign = check(".claude/agents/a.md");
    assert!(foreign.stdout.starts_with(".claude/agents/a.md:4: warning: unknown key `unheard`"), "{foreign:#?}");
    assert!(foreign.stdout.ends_with("\n1 agent file: 1 warning\n"), "{foreign:#?}");
    let ours = check(".sortie/agents/a.md");
    assert!(ours.stdout.starts_with(".sortie/agents/a.md:4: error: unknown key `unheard`"), "{ours:#?}");
    assert_eq!((foreign.code, ours.code), (0, 1));
    assert_eq!(check("a.md").code, 1, "ours, where no folder says otherwise");
    world.config("this is no TOML");
    assert_eq!(check(".claude/agents/a.md").code, 0, "settings have nothing to do with it");
}

#[test]
fn an_unreadable_file_is_an_error_and_a_pipe_does_not_block() {
    let world = World::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, world.path("workspace/pipe.md"), 0o600.into()).unwrap();
    let ended = world.sortie(["agents", "check", "src", "missing.md", "pipe.md"]).run();
    expect![[r#"
        exit 1
        --- stdout
        src: error: it cannot be read: it is not a regular file; name a Markdown file
        missing.md: error: it cannot be read: No such file or directory (os error 2); name a Markdown file
        pipe.md: error: it cannot be read: it is not a regular file; name a Markdown file
        3 agent files: 3 errors
    "#]]
    .assert_eq(&ended.transcript());
}

#[test]
fn a_new_agent_is_a_valid_file_that_works_at_once() {
    let world = World::new();
    expect![[r#"
        exit 0
        --- stdout
        .sortie/agents/reviewer.md is created; describe the agent in it, then run
          sortie agents check
          sortie task --agent reviewer --description "Try it" --prompt "…"
    "#]]
    .assert_eq(&world.sortie(["agents", "new", "reviewer"]).run().transcript());
    assert_eq!(world.sortie(["agents", "show", "reviewer"]).run().code, 0);

    let draft = ".sortie/agents/reviewer.md:6: error: `description` is still the one of the draft";
    for args in [&["agents", "check"][..], &["agents", "check", ".sortie/agents/reviewer.md"]] {
        let ended = world.sortie(args).run();
        assert_eq!(ended.code, 1, "{ended:#?}");
        assert!(ended.stdout.starts_with(draft) && ended.stdout.ends_with("1 agent file: 1 error\n"), "{ended:#?}");
    }
    let path = "workspace/.sortie/agents/reviewer.md";
    let text = fs::read_to_string(world.path(path)).unwrap();
    world.write(path, &text.replace("Use for … (one sentence), not for … (one more).", "Reviews changes"));
    assert_eq!(world.sortie(["agents", "check"]).run().stdout, "1 agent file: no problems found\n");

    let ended = world.sortie(["agents", "new", "main", "--user"]).run();
    assert!(ended.stdout.ends_with("\n  sortie run --agent main \"…\"\n"), "{}", ended.stdout);

    let ended = world.sortie(["agents", "new", "mine", "--user"]).run();
    assert_eq!(ended.code, 0);
    assert!(world.path("home/.config/sortie/agents/mine.md").is_file(), "{ended:#?}");
}

#[test]
fn a_new_agent_never_overwrites_a_file() {
    let world = with_agents();
    expect![[r#"
        exit 2
        --- stderr
        error: .sortie/agents/reviewer.md already exists and is left unchanged
        hint: choose another name, or edit that file
    "#]]
    .assert_eq(&world.sortie(["agents", "new", "reviewer"]).run().transcript());
    assert_eq!(fs::read_to_string(world.path("workspace/.sortie/agents/reviewer.md")).unwrap(), REVIEWER);
}

#[test]
fn a_new_agent_with_the_name_of_another_one_says_which_of_them_counts() {
    let world = with_agents();
    let ended = world.sortie(["agents", "new", "translator"]).run();
    assert!(ended.stderr.starts_with("note: it replaces the agent `translator` ("), "{}", ended.stderr);
    let ended = world.sortie(["agents", "new", "reviewer", "--user"]).run();
    assert_eq!(
        ended.stderr,
        "warning: it has no effect here: the agent `reviewer` (.sortie/agents/reviewer.md) overrides it\n"
    );
    let ended = world.sortie(["agents", "new", "explore"]).run();
    assert!(ended.stderr.starts_with("warning: .sortie/agents/explore.md"), "{}", ended.stderr);
    assert!(ended.stderr.contains("sortie trust"), "{}", ended.stderr);
}

#[test]
fn a_new_agent_has_a_name_and_stays_in_the_project() {
    let world = World::new();
    for name in ["../x", "Loud", "a b", "", "a\ntools: Task", "x #y"] {
        let ended = world.sortie(["agents", "new", name]).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{name:?}");
        assert!(ended.stderr.contains("cannot be an agent's name"), "{}", ended.stderr);
    }
    let elsewhere = world.path("home");
    std::os::unix::fs::symlink(elsewhere, world.path("workspace/.sortie")).unwrap();
    let ended = world.sortie(["agents", "new", "x"]).run();
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.stderr.contains("is a symbolic link; nothing is written through it"), "{}", ended.stderr);
    assert!(!world.path("home/agents").exists());
}

#[test]
fn a_match_is_explained() {
    let world = with_agents();
    let ended = world.sortie(["agents", "match", "review the security of this change"]).run();
    expect![[r#"
        exit 0
        --- stdout
        reviewer

        words    review, security, change (a match shares at least 2)

        4.85  reviewer         project   review 2.15 (name and description), security 1.76, change 0.93
        1.88  general-purpose  built in  review 1.08, change 0.80
        0.89  plan             built in  change 0.89

        agents that share enough words come first, by score; ties go to the one with more shared words, then the nearer origin (project, user, built in), then the first name
    "#]].assert_eq(&ended.transcript());
}

#[test]
fn a_text_without_a_match_is_explained_and_ends_with_1() {
    let world = with_agents();
    expect![[r#"
        exit 1
        --- stdout
        no agent matches well enough: no agent shares a word with the text

        words    bake, chocolate, cake (a match shares at least 2)
    "#]]
    .assert_eq(&world.sortie(["agents", "match", "bake a chocolate cake"]).run().transcript());
}

#[test]
fn programs_get_the_ranking_as_one_object() {
    let world = with_agents();
    let arguments = ["agents", "match", "review a change, translate texts", "--limit", "1", "--output-format", "json"];
    let ranking = world.sortie(arguments).run().stdout_json();
    assert_eq!(ranking["best"], ranking["matches"][0]["agent"]);
    assert_eq!(ranking["matches"].as_array().unwrap().len(), 1);
    assert!(ranking["matched"].as_u64().unwrap() > 1, "{ranking}");
    let word = &ranking["matches"][0]["words"][0];
    assert!(word["word"].is_string() && word["score"].is_number() && word["place"].is_string(), "{ranking}");
}

#[test]
fn a_run_briefly_reports_mistakes_in_agent_files_and_continues() {
    let world = with_agents();
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let ended = world.sortie(["run", "x"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "ok\n"));
    assert_eq!(ended.stderr.matches("tester.md").count(), 1, "{}", ended.stderr);

    for number in 0..9 {
        world.write(&format!("workspace/.sortie/agents/broken{number}.md"), "no front matter");
    }
    let request = json!({"description": "x", "prompt": "x"}).to_string();
    let ended = world.sortie(["task", "--json", &request]).on(&server, "anthropic").run();
    assert_eq!(ended.code, 0);
    let warnings: Vec<&str> = ended.stderr.lines().filter(|line| line.contains(".md")).collect();
    assert_eq!(warnings.len(), 3, "{}", ended.stderr);
    assert!(warnings.iter().all(|line| line.contains(" is not used: ")), "the worst first: {warnings:#?}");
    assert!(warnings.iter().all(|line| !line.contains("error")), "one label is enough: {warnings:#?}");
    assert!(
        ended.stderr.contains("there are 7 more findings about agent files; `sortie agents check` shows all"),
        "{}",
        ended.stderr
    );
}

#[test]
fn no_noise_in_a_repository_hides_a_displaced_agent() {
    let world = World::new();
    let text = |name: &str| format!("---\nname: {name}\ndescription: Works\n---\nYou work.\n");
    for number in 0..30 {
        world.write(&format!("workspace/.sortie/agents/a{number:02}.md"), "no front matter");
        world.write(&format!("workspace/.sortie/agents/b{number:02}.md"), &text("explore"));
    }
    world.write("home/.config/sortie/agents/mine.md", &text("mine"));
    world.write("workspace/.sortie/agents/z.md", &text("mine"));
    world.write("workspace/.claude/agents/like.md", &text("p1an"));
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let ended = world.sortie(["run", "x"]).on(&server, "anthropic").run();
    let warnings: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(warnings[0].contains("z.md: `mine` replaces your "), "{warnings:#?}");
    assert!(warnings[1].contains("`p1an` looks like `plan`"), "{warnings:#?}");
    let is_set_aside = |line: &&&str| line.contains("so this project's file is set aside");
    assert_eq!(warnings[1..21].iter().filter(is_set_aside).count(), 20, "{warnings:#?}");
    assert_eq!(warnings[21..].len(), 3, "{warnings:#?}");
    assert!(
        ended.stderr.contains("there are 38 more findings about agent files; `sortie agents check` shows all"),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_agents_opening_prompt_precedes_the_request_or_stands_alone() {
    let world = with_agents();
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let told = |arguments: &[&str], stdin: &str| {
        let arguments = [&["run", "--agent", "reviewer"], arguments].concat();
        let ended = world.sortie(arguments).stdin(stdin).on(&server, "openai-chat").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        let requests = server.requests();
        let messages = requests.last().unwrap().body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(told(&["Look at auth"], ""), "Read the diff first.\n\nLook at auth");
    assert_eq!(told(&["-"], "Look at auth"), "Read the diff first.\n\nLook at auth");
    assert_eq!(told(&[], "Look at auth"), "Read the diff first.\n\nLook at auth");
    assert_eq!(told(&[], ""), "Read the diff first.");
    let ended = world.sortie(["run", "--agent", "reviewer", ""]).on(&server, "openai-chat").run();
    assert_eq!(ended.code, 2, "an empty request stays one");
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

#[test]
fn the_schema_names_the_available_agents() {
    let described = |world: &World| {
        let schema = world.sortie(["schema", "--format", "anthropic"]).run().stdout_json();
        schema["description"].as_str().unwrap().to_owned()
    };
    assert!(!described(&World::new()).contains("Reviews a change"));
    let description = described(&with_agents());
    for words in ["Reviews a change", "Translates texts", "Runs the tests"] {
        assert!(description.contains(words), "{words}: {description}");
    }
}
