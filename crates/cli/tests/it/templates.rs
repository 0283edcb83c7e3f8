//! Templates on the command line: lists, use in a run, and mistakes.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{Ended, World};

const TEST_FILE: &str = "---
description: Write tests for one file
arguments: [path, {name: style, default: plain}]
---
Write {{style}} tests for {{path}}.

{{input}}
";

fn world() -> World {
    let world = World::new();
    world.write("workspace/.sortie/templates/try-file.md", TEST_FILE);
    world
}

/// Runs with a model that answers `ok`; returns its first request, and how the run ended.
fn asked(world: &World, args: &[&str], stdin: &str) -> (String, Ended) {
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let ended = world.sortie(args).stdin(stdin).on(&server, "anthropic").run();
    let requests = server.requests();
    let message = &requests.first().unwrap_or_else(|| panic!("nobody was asked: {ended:#?}")).body["messages"][0];
    let text = message["content"].as_str().or_else(|| message["content"][0]["text"].as_str());
    (text.unwrap_or_else(|| panic!("{message:#}")).to_owned(), ended)
}

#[test]
fn a_run_sends_the_text_of_a_template() {
    let world = world();
    for (args, stdin, prompt) in [
        (&["run", "--template", "try-file", "path=src/a.rs"][..], "unread", "Write plain tests for src/a.rs.\n\n"),
        (
            &["run", "--template", "try-file", "path=a b.rs", "style={{path}}", "only", "x=5"],
            "",
            "Write {{path}} tests for a b.rs.\n\nonly x=5",
        ),
        (&["run", "--template", "try-file", "path=a.rs", "-"], "x=5\n", "Write plain tests for a.rs.\n\nx=5\n"),
        (&["run", "/try-file path='a b.rs' don't stop"], "", "Write plain tests for a b.rs.\n\ndon't stop"),
        (&["run", "-"], "/try-file path=a.rs\n", "Write plain tests for a.rs.\n\n"),
        (&["run", "/usr/bin is full"], "", "/usr/bin is full"),
    ] {
        let (asked, ended) = asked(&world, args, stdin);
        assert_eq!((&*asked, ended.code), (prompt, 0), "{args:?}: {ended:#?}");
        let says_so = ended.stderr.contains("the prompt is the template `try-file`");
        assert_eq!(says_so, !prompt.starts_with('/'), "{}", ended.stderr);
    }
}

#[test]
fn a_template_chooses_the_agent_unless_the_command_does() {
    let world = World::new();
    world.write("workspace/.sortie/agents/tester.md", "---\nname: tester\ndescription: d\n---\nTEST.\n");
    world.write(
        "workspace/.sortie/agents/other.md",
        "---\nname: other\ndescription: d\ninitialPrompt: First.\n---\nO.\n",
    );
    world.write("workspace/.sortie/templates/t.md", "---\ndescription: d\nagent: tester\n---\nDo it.\n");
    let outcome = |args: &[&str]| {
        let (asked, ended) = asked(&world, &[&["run", "--output-format", "json"], args].concat(), "");
        (ended.stdout_json()["agent"].as_str().unwrap().to_owned(), asked)
    };
    assert_eq!(outcome(&["--template", "t"]), ("tester".to_owned(), "Do it.".to_owned()));
    assert_eq!(outcome(&["/t"]), ("tester".to_owned(), "Do it.".to_owned()));
    assert_eq!(outcome(&["--template", "t", "--agent", "main"]), ("main".to_owned(), "Do it.".to_owned()));
    assert_eq!(outcome(&["/t", "--agent", "other"]), ("other".to_owned(), "First.\n\nDo it.".to_owned()));
}

/// Results of a call for a sub-agent with this prompt: the main agent's output, the sub-agent's request if it starts,
/// and the tool's description.
fn delegated(world: &World, agent: &str, prompt: &str, flags: &[&str]) -> (String, Option<String>, String) {
    called(world, &json!({"description": "d", "prompt": prompt, "subagent_type": agent}), flags)
}

/// Results of a call with these arguments.
fn called(world: &World, task: &Value, flags: &[&str]) -> (String, Option<String>, String) {
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task.clone())]))
        .otherwise(reply::text("ok"));
    let server = ScriptedServer::start(script).unwrap();
    let args = ["run"].iter().chain(flags).chain(&["QUESTION"]);
    assert_eq!(world.sortie(args).on(&server, "anthropic").run().code, 0);
    let requests = server.requests();
    let told = requests.last().unwrap().body["messages"][2]["content"][0]["content"].as_str().unwrap().to_owned();
    let message = |body: &Value| {
        let content = &body["messages"][0]["content"];
        content.as_str().or_else(|| content[0]["text"].as_str()).unwrap().to_owned()
    };
    let asked = requests.iter().map(|request| message(&request.body)).find(|asked| asked != "QUESTION");
    let tools = requests[0].body["tools"].as_array().unwrap();
    let description = &tools.iter().find(|tool| tool["name"] == "Task").unwrap()["description"];
    (told, asked, description.as_str().unwrap().to_owned())
}

#[test]
fn a_sub_agent_gets_the_text_of_a_template() {
    let world = world();
    world.write("workspace/.sortie/agents/tester.md", "---\nname: tester\ndescription: d\n---\nTEST.\n");
    world.write("workspace/.sortie/templates/t.md", "---\ndescription: d\nagent: tester\n---\nDo it.\n");
    let (told, asked, description) = delegated(&world, "explore", "/try-file path=src/a.rs more words", &[]);
    assert_eq!(asked.as_deref(), Some("Write plain tests for src/a.rs.\n\nmore words"));
    assert!(
        told.contains(" explore completed") && told.contains("notice: the prompt is the template `try-file`"),
        "{told}"
    );
    assert!(description.contains("- /try-file path= [style=]: Write tests for one file"), "{description}");
    let (told, asked, _) = called(&world, &json!({"description": "d", "prompt": "/t"}), &[]);
    assert!(asked.as_deref() == Some("Do it.") && told.contains(" tester completed"), "{told}");
    let (told, asked, _) = delegated(&world, "general-purpose", "/t", &[]);
    assert!(asked.as_deref() == Some("Do it.") && told.contains(" general-purpose completed"), "{told}");
    let (told, asked, _) = delegated(&world, "explore", "/try-file pth=x", &[]);
    expect!["No sub-agent was started (template_arguments): the template `try-file` has no argument `pth`; did you mean `path`?"]
        .assert_eq(&told);
    assert_eq!(asked, None);
    let (_, asked, _) = delegated(&world, "explore", "/usr/bin is full", &[]);
    assert_eq!(asked.as_deref(), Some("/usr/bin is full"), "what is no template's name stays as it is");
}

#[test]
fn a_template_cannot_bypass_a_rule() {
    let world = World::new();
    world.write("workspace/.sortie/agents/tester.md", "---\nname: tester\ndescription: d\n---\nTEST.\n");
    world.write("workspace/.sortie/templates/t.md", "---\ndescription: d\nagent: tester\n---\nDo it.\n");
    for flag in ["--deny", "--ask"] {
        let task = json!({"description": "d", "prompt": "/t"});
        let (told, asked, _) = called(&world, &task, &[flag, "Task(tester)"]);
        assert_eq!(asked, None, "{told}");
        assert!(told.contains("`Task(tester)`"), "{told}");
    }
}

#[test]
fn a_template_chooses_the_agent_of_a_task_unless_a_flag_does() {
    let world = World::new();
    world.write("workspace/.sortie/templates/t.md", "---\ndescription: d\nagent: explore\n---\nDo it.\n");
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let agent = |args: &[&str]| {
        let all = [&["task", "--description", "d", "--prompt", "/t"], args].concat();
        world.sortie(all).on(&server, "anthropic").run().stdout_json()["agent"].clone()
    };
    assert_eq!((agent(&[]), agent(&["--agent", "general-purpose"])), (json!("explore"), json!("general-purpose")));
}

#[test]
fn a_resumed_task_gets_the_text_of_a_template() {
    let world = world();
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    assert_eq!(world.sortie(["run", "QUESTION"]).on(&server, "anthropic").run().code, 0);
    let id = world.tasks(1)[0]["task_id"].as_str().unwrap().to_owned();
    let resumed = |prompt: &str| world.sortie(["resume", &*id, prompt]).on(&server, "anthropic").run();
    let ended = resumed("/try-file path=kk");
    assert!(ended.code == 0 && ended.stderr.contains("the prompt is the template `try-file`"), "{ended:#?}");
    let asked = server.requests().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("Write plain tests for kk.") && !asked.contains("/try-file"), "{asked}");

    let calls = server.traffic().calls;
    let unfit = resumed("/try-file pth=kk");
    assert_eq!(unfit.code, 2);
    assert!(unfit.stderr.contains("the template `try-file` has no argument `pth`"), "{}", unfit.stderr);
    let status = resumed(&format!("/task-status {id}"));
    assert!(status.code == 0 && status.stdout.starts_with(&format!("{id} main completed")), "{status:#?}");
    assert_eq!(server.traffic().calls, calls, "no model is asked for either");
}

#[test]
fn a_near_miss_of_a_templates_name_gets_a_suggestion() {
    let (asked, ended) = asked(&world(), &["run", "/tr-file path=a.rs"], "");
    assert_eq!(asked, "/tr-file path=a.rs");
    assert!(ended.stderr.contains("there is no template `tr-file`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("did you mean `/try-file`?"), "{}", ended.stderr);
}

#[test]
fn the_models_list_of_templates_is_bounded() {
    let world = World::new();
    for number in 0..200 {
        let text = format!("---\ndescription: {}\n---\nDo it.\n", "long ".repeat(100));
        world.write(&format!("workspace/.sortie/templates/t{number:03}.md"), &text);
    }
    let (_, _, description) = delegated(&world, "explore", "x", &[]);
    let lines: Vec<&str> = description.lines().filter(|line| line.starts_with("- /t")).collect();
    assert!(lines.len() > 5 && lines.iter().map(|line| line.len()).sum::<usize>() <= 3000, "{description}");
    assert!(description.contains(&format!("- and {} more", 200 - lines.len())), "{description}");
}

#[test]
fn unfit_arguments_are_wrong_usage_and_unknown_templates_are_not_found() {
    let world = world();
    world.write("workspace/.sortie/templates/broken.md", "---\ndescription: d\n---\n{{what}}\n");
    let tries: [&[&str]; 9] = [
        &["run", "--template", "trys-file"],
        &["run", "--template", "broken"],
        &["run", "--template", "try-file"],
        &["run", "--template", "try-file", "path=a", "colour=red"],
        &["run", "--template", "try-file", "path=a", "words", "-"],
        &["run", "/try-file pth=a"],
        &["run", "/broken"],
        &["run", "two", "words"],
        &["templates", "show", "tryfile"],
    ];
    let said = tries.map(|args| {
        let ended = world.sortie(args).run();
        let told: Vec<&str> = ended.stderr.lines().filter(|line| !line.starts_with("warning: ")).collect();
        assert_eq!(ended.stdout, "");
        format!("exit {}: {}\n", ended.code, told.join("\n"))
    });
    expect![[r#"
        exit 2: error: unknown template `trys-file`; there are try-file, explain, fix-failing-test, review, summarise-changes, test-file, write-docs
        exit 2: error: unknown template `broken` (its file does not count: .sortie/templates/broken.md:4: error: `{{what}}` is not an argument; name it in `arguments`, or write `\{{what}}` where braces are meant); there are explain, fix-failing-test, review, summarise-changes, test-file, try-file, write-docs
        exit 2: error: the template `try-file` needs `path=…`; it takes path=… [style=…] [words]
        hint: sortie templates show try-file
        exit 2: error: the template `try-file` has no argument `colour`; it takes path=… [style=…] [words]
        hint: sortie templates show try-file
        exit 2: error: `-` reads the whole text from stdin; leave out other words
        exit 2: error: the template `try-file` has no argument `pth`; did you mean `path`?
        exit 2: error: unknown template `broken` (its file does not count: .sortie/templates/broken.md:4: error: `{{what}}` is not an argument; name it in `arguments`, or write `\{{what}}` where braces are meant); there are explain, fix-failing-test, review, summarise-changes, test-file, try-file, write-docs
        exit 2: error: unexpected extra arguments
        hint: quote the prompt
        exit 1: error: unknown template `tryfile`; there are try-file, explain, fix-failing-test, review, summarise-changes, test-file, write-docs
    "#]].assert_eq(&said.concat());
    assert!(world.kept_nothing());
    let small = world.sortie(["run", "--set", "task_tool.max_prompt_bytes=28", "--template", "try-file", "path=a.rs"]);
    let small = small.run();
    assert_eq!(small.code, 2);
    assert!(
        small.stderr.contains("becomes a prompt of 29 bytes with these values; the limit is 28"),
        "{}",
        small.stderr
    );
}

#[test]
fn no_template_replaces_a_built_in_command() {
    let world = World::new();
    world.write("workspace/.sortie/templates/task-status.md", "---\ndescription: d\n---\nMINE.\n");
    let server = ScriptedServer::start(Script::always(reply::text("ok"))).unwrap();
    let ended = world.sortie(["run", "/task-status zzzz"]).on(&server, "anthropic").run();
    assert_eq!((ended.code, server.traffic().calls), (1, 0), "{ended:#?}");
    let listed = world.sortie(["templates"]).run();
    let said =
        "task-status.md is not used: line 1: `/task-status` is built in, and no template can take its place; rename";
    assert!(listed.stderr.contains(said) && !listed.stdout.contains("task-status"), "{listed:#?}");
}

#[test]
fn templates_are_listed_and_shown_and_bad_files_are_reported() {
    let world = world();
    world.write("home/.config/sortie/templates/review.md", "---\ndescription: Review\nmodel: light\n---\nMine.\n");
    world.write("workspace/.sortie/templates/review.md", "---\ndescription: Theirs\n---\nTheirs.\n");
    world.write("workspace/.sortie/templates/Bad.md", "no front matter\n");
    let shown = ["", "list", "show try-file", "show review"]
        .map(|args| world.sortie(["templates"].into_iter().chain(args.split_whitespace())).run().transcript());
    assert_eq!(shown[0], shown[1]);
    expect![[r#"
        exit 0
        --- stdout
        explain            what=… [words]              built in  Explain a file, a function or a concept of this project
        fix-failing-test   test=… [command=…] [words]  built in  Find out why a test fails, and fix the cause
        review             [words]                     user      Review
        summarise-changes  [since=…] [for=…] [words]   built in  Summarise changes for people who use or review them
        test-file          path=… [style=…] [words]    built in  Write tests for one file, and run them
        try-file           path=… [style=…] [words]    project   Write tests for one file
        write-docs         what=… [file=…] [words]     built in  Write or update the documentation of a part of this project
        --- stderr
        warning: .sortie/templates/Bad.md is not used: line 1: `Bad` cannot be a template's name; rename the file: lower-case letters, digits and hyphens, a letter first, at most 64 of them
        warning: .sortie/templates/Bad.md is not used: line 1: the file does not begin with front matter; begin it with a line `---`, a line `description: …`, and another `---`
        warning: .sortie/templates/review.md: `review` is a template of yours, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
        exit 0
        --- stdout
        name         try-file
        origin       project: .sortie/templates/try-file.md
        description  Write tests for one file
        agent        the agent that is asked
        model        its agent's
        path=        must be given
        style=       "plain" if not given

        Write {{style}} tests for {{path}}.

        {{input}}
        --- stderr
        warning: .sortie/templates/Bad.md is not used: line 1: `Bad` cannot be a template's name; rename the file: lower-case letters, digits and hyphens, a letter first, at most 64 of them
        warning: .sortie/templates/Bad.md is not used: line 1: the file does not begin with front matter; begin it with a line `---`, a line `description: …`, and another `---`
        warning: .sortie/templates/review.md: `review` is a template of yours, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
        exit 0
        --- stdout
        name         review
        origin       user: <dir>/home/.config/sortie/templates/review.md
        description  Review
        agent        the agent that is asked
        model        light

        Mine.
        --- stderr
        warning: .sortie/templates/Bad.md is not used: line 1: `Bad` cannot be a template's name; rename the file: lower-case letters, digits and hyphens, a letter first, at most 64 of them
        warning: .sortie/templates/Bad.md is not used: line 1: the file does not begin with front matter; begin it with a line `---`, a line `description: …`, and another `---`
        warning: .sortie/templates/review.md: `review` is a template of yours, so this project's file is set aside; review the file, then run `sortie trust`; or give it a name of its own
    "#]].assert_eq(&shown[1..].concat());
    let checked = world.sortie(["agents", "check"]).run();
    assert_eq!(checked.code, 1);
    assert!(checked.stdout.contains(".sortie/templates/Bad.md:1: error:"), "{}", checked.stdout);
    assert!(checked.stdout.ends_with("0 agent files: 2 errors, 1 warning\n"), "{}", checked.stdout);
    assert_eq!(World::new().sortie(["templates"]).run().code, 0);
}

#[test]
fn trust_lets_a_projects_template_replace_the_users() {
    let world = World::new();
    world.write("home/.config/sortie/templates/review.md", "---\ndescription: Mine\n---\nMine.\n");
    world.write("workspace/.sortie/templates/review.md", "---\ndescription: Theirs\n---\nTheirs.\n");
    let listed = || {
        let listed = world.sortie(["templates", "list"]).run().stdout;
        let of_review = listed.lines().find(|line| line.starts_with("review ")).unwrap();
        of_review.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listed(), "review [words] user Mine");
    let trusted = world.sortie(["trust", "--yes"]).run();
    assert!(trusted.stdout.contains("is the template `review`, which also works untrusted"), "{}", trusted.stdout);
    assert_eq!(listed(), "review [words] project Theirs");
    world.write("workspace/.sortie/templates/review.md", "---\ndescription: Changed\n---\nTheirs.\n");
    assert_eq!(listed(), "review [words] user Mine");
}

const BUILT_IN: [(&str, &[&str]); 6] = [
    ("explain", &["what=src/auth.rs"]),
    ("fix-failing-test", &["test=login_fails"]),
    ("review", &[]),
    ("summarise-changes", &["for=users"]),
    ("test-file", &["path=src/auth.rs"]),
    ("write-docs", &["what=login"]),
];

#[test]
fn templates_that_ship_with_the_program_are_listed_shown_and_run() {
    let world = World::new();
    let listed = world.sortie(["templates", "list"]).run();
    let names: Vec<&str> = listed.stdout.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!((names, &*listed.stderr), (BUILT_IN.map(|(name, _)| name).to_vec(), ""));
    assert!(listed.stdout.lines().all(|line| line.contains("  built in  ")), "{}", listed.stdout);
    for (name, arguments) in BUILT_IN {
        let shown = world.sortie(["templates", "show", name]).run();
        assert!(shown.code == 0 && shown.stdout.contains("origin       built in\n"), "{shown:#?}");
        let (by_flag, ended) =
            asked(&world, &[&["run", "--template", name], arguments, &["and be quick"]].concat(), "");
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert!(ended.stderr.contains(&format!("the prompt is the template `{name}` (built in)")), "{ended:#?}");
        let (by_slash, _) = asked(&world, &["run", &format!("/{name} {} and be quick", arguments.join(" "))], "");
        assert_eq!(by_flag, by_slash);
        for given in arguments {
            assert!(by_flag.contains(given.split_once('=').unwrap().1), "{by_flag}");
        }
        assert!(by_flag.ends_with("\n\nand be quick") && !by_flag.contains("{{"), "{by_flag}");
        let (told, asked, description) =
            delegated(&world, "general-purpose", &format!("/{name} {}", arguments.join(" ")), &[]);
        assert!(asked.is_some_and(|asked| by_flag.starts_with(asked.trim_end())), "{told}");
        assert!(!description.contains(&format!("/{name}")), "agents are not told about them: {description}");
    }
}

#[test]
fn examples_of_templates_in_the_help_and_the_docs_run_without_a_model() {
    let world = World::new();
    world.write("workspace/src/a.rs", "pub fn a() {}\n");
    for (args, stdin) in [
        (&["run", "--template", "test-file", "path=src/a.rs", "only the public functions"][..], ""),
        (&["run", "/test-file path=src/a.rs only the public functions"], ""),
        (&["run", "--template", "review", "-"], "diff --git a/src/a.rs b/src/a.rs\n+pub fn a() {}\n"),
    ] {
        let ended = world.sortie(args).stdin(stdin).run();
        // The built-in model writes no tests and no reviews, and says so.
        assert!(ended.code == 1 && ended.stderr.contains("the model has no answer"), "{ended:#?}");
    }
}

#[test]
fn a_file_of_an_untrusted_project_does_not_replace_a_built_in_template() {
    let world = World::new();
    world.write("workspace/.sortie/templates/review.md", "---\ndescription: Theirs\n---\nTheirs.\n");
    let shown = world.sortie(["templates", "show", "review"]).run();
    assert!(!shown.stdout.contains("Theirs."), "{shown:#?}");
    let said = "`review` is a built-in template, so this project's file is set aside";
    assert!(shown.stderr.contains(said), "{shown:#?}");
    let (asked, ended) = asked(&world, &["run", "--trust", "/review"], "");
    assert_eq!(asked, "Theirs.", "{ended:#?}");
}
