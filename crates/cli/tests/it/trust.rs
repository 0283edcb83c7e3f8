//! Trust: what a project's files may do before and after, what is stored, and how trust is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use expect_test::expect;

use crate::transcript::normalised;
use crate::world::{Ended, World};

const CONFIG: &str = "workspace/.sortie/config.toml";
const OWN_MODEL: &str =
    "[routes.main]\nmodel = \"project-model\"\nbase_url = \"http://127.0.0.1:1\"\n[task_tool]\nmax_depth = 9\n";

/// Lines of `config show` about the project.
fn show(world: &World, args: &[&str]) -> Ended {
    world.sortie(["config", "show"].iter().chain(args)).run()
}

fn model(ended: &Ended) -> &str {
    ended.stdout.lines().find(|line| line.starts_with("model ")).unwrap().trim_start_matches("model").trim()
}

/// Project with one of each kind of file.
fn project() -> World {
    let world = World::new();
    world.write(CONFIG, &format!("{OWN_MODEL}max_children = 5\n[aliases]\nhaiku = \"light\"\n"));
    world.write("workspace/.env", "LLM_API_KEY=canary\nDATABASE_URL=postgres://canary\nSORTIE_HOME=/tmp\n");
    world.write(
        "workspace/.mcp.json",
        r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files"]}, "web": {"url": "https://mcp.example"}}}"#,
    );
    world.write("workspace/.sortie/prompts/subagent_explore_prompt.md", "Explore.\n");
    world.write("workspace/.sortie/agents/explore.md", "---\nname: explore\ndescription: ours\n---\nLook.\n");
    world.write("workspace/.sortie/agents/deep/er.md", "---\nname: reviewer\ndescription: reviews\n---\nReview.\n");
    world.write("workspace/.claude/agents/broken.md", "no front matter\n");
    world
}

#[test]
fn trust_shows_each_files_effect_and_stores_it_unless_it_is_a_dry_run() {
    let world = project();
    let dry = world.sortie(["trust", "--dry-run"]).run();
    expect![[r#"
        exit 0
        --- stdout
        <dir>/workspace

          .claude/agents/broken.md
            is not an agent (sortie agents check .claude/agents/broken.md)

          .env
            line 1: sets LLM_API_KEY = ********
            has 1 more variable, which counts only where `api_key_env` names it

          .mcp.json
            MCP server `files` runs `npx -y files`, with your rights and without walls
            MCP server `web` calls https://mcp.example

          .sortie/agents/deep/er.md
            is the agent `reviewer`, which also works untrusted

          .sortie/agents/explore.md
            replaces the built-in agent `explore`

          .sortie/config.toml
            line 3: sets routes.main.base_url = http://127.0.0.1:<port>: your requests, and the key of this route, go there
            line 2: sets routes.main.model = "project-model"
            line 5: sets task_tool.max_depth = 9
            line 8: sets aliases.haiku = "light"

          .sortie/prompts/subagent_explore_prompt.md
            replaces the role prompt of the built-in agent `explore`

        Nothing was stored. `sortie trust` would cover 7 files.
    "#]]
    .assert_eq(&dry.transcript());
    assert!(world.kept_nothing());
    let unasked = world.sortie(["trust"]).run();
    let before = |ended: &Ended| ended.stdout.rsplit_once("\n\n").unwrap().0.to_owned();
    assert_eq!((unasked.code, before(&unasked)), (2, before(&dry)), "without a terminal there is nobody to ask");
    expect![[r#"
        error: nothing was stored: there is no terminal to ask on
        hint: look at the list, then run `sortie trust --yes`
    "#]]
    .assert_eq(&unasked.stderr);
    assert!(world.kept_nothing());
    let trusted = world.sortie(["trust", "--yes"]).run();
    assert_eq!((trusted.code, before(&trusted)), (0, before(&dry)));
    assert!(trusted.stdout.ends_with("\nTrusted. This covers 7 files; new or changed files are not covered.\n"));
}

#[test]
fn a_trusted_project_counts_in_full_until_a_file_changes_or_trust_is_revoked() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    let ended = show(&world, &[]);
    assert_eq!(model(&ended), "offline, the built-in rule-based model (no model is set)");
    assert_eq!(world.sortie(["trust", "--yes"]).run().code, 0);

    let ended = show(&world, &[]);
    assert_eq!(model(&ended), "project-model over openai-chat at http://127.0.0.1:1, no key");
    assert_eq!(ended.stderr, "");
    assert!(ended.stdout.contains("trust      trusted, 1 file\n"), "{}", ended.stdout);

    world.write(CONFIG, &OWN_MODEL.replace("project-model", "another"));
    let ended = show(&world, &[]);
    assert_eq!(model(&ended), "offline, the built-in rule-based model (no model is set)");
    expect![[r#"
        warning: ignored: `routes.main.base_url` (.sortie/config.toml:3), `routes.main.model` (.sortie/config.toml:2), `task_tool.max_depth` (.sortie/config.toml:5): .sortie/config.toml has changed since you trusted it; look at it and run `sortie trust` again
    "#]].assert_eq(&ended.stderr);

    // A file that has become harmless counts, and the change is still reported.
    world.write(CONFIG, "[task_tool]\nmax_depth = 1\n");
    expect![[r#"
        warning: .sortie/config.toml has changed since you trusted it; look at it and run `sortie trust` again
    "#]]
    .assert_eq(&show(&world, &[]).stderr);

    world.write(CONFIG, OWN_MODEL);
    assert_eq!(show(&world, &[]).stderr, "", "the very bytes that were trusted");
    let revoked = world.sortie(["trust", "--revoke"]).run();
    expect![[r#"
        exit 0
        --- stdout
        No longer trusted: <dir>/workspace
    "#]]
    .assert_eq(&revoked.transcript());
    assert_eq!(model(&show(&world, &[])), "offline, the built-in rule-based model (no model is set)");
    // A project trusted before it became a part of another one is still found.
    fs::create_dir_all(world.path("outer/inner/.sortie")).unwrap();
    assert_eq!(world.sortie(["trust", "--yes"]).arg(world.path("outer/inner")).run().code, 0);
    fs::remove_dir(world.path("outer/inner/.sortie")).unwrap();
    fs::create_dir(world.path("outer/.git")).unwrap();
    assert_eq!(world.sortie(["trust", "--revoke"]).arg(world.path("outer/inner")).run().code, 0);
    let revoked = world.sortie(["trust", "--revoke", "."]).run();
    expect![[r#"
        exit 1
        --- stderr
        error: <dir>/workspace is not trusted
        hint: `sortie trust --list` names the projects that are
    "#]]
    .assert_eq(&revoked.transcript());
}

#[test]
fn a_new_file_is_not_covered() {
    let world = World::new();
    assert_eq!(world.sortie(["trust", "--yes"]).run().code, 0);
    world.write(CONFIG, OWN_MODEL);
    world.write("workspace/.env", "LLM_MODEL_ID=evil\n");
    let ended = show(&world, &[]);
    assert_eq!(model(&ended), "offline, the built-in rule-based model (no model is set)");
    expect![[r#"
        warning: ignored: `routes.main.base_url` (.sortie/config.toml:3), `routes.main.model` (.sortie/config.toml:2), `task_tool.max_depth` (.sortie/config.toml:5): .sortie/config.toml is new since you trusted this project; look at it and run `sortie trust` again
        warning: .env, which sets LLM_MODEL_ID, is ignored: .env is new since you trusted this project; look at it and run `sortie trust` again
    "#]].assert_eq(&ended.stderr);
}

#[test]
fn trust_for_one_run_stores_nothing() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    let ended = show(&world, &["--trust"]);
    assert_eq!(
        (model(&ended), ended.stderr.as_str()),
        ("project-model over openai-chat at http://127.0.0.1:1, no key", "")
    );
    assert!(world.kept_nothing());
    assert_ne!(show(&world, &[]).stderr, "");
}

#[test]
fn agents_of_a_project_replace_built_in_ones_only_when_trusted() {
    let world = World::new();
    world.write("workspace/.sortie/agents/explore.md", "---\nname: explore\ndescription: mine\n---\nMine.\n");
    let description = |ended: &Ended| ended.stdout.lines().find(|line| line.starts_with("explore ")).map(str::to_owned);
    let ended = world.sortie(["agents", "list"]).run();
    assert!(!description(&ended).unwrap().contains("mine"), "{ended:#?}");
    for args in [vec!["agents", "list", "--trust"], vec!["trust", "--yes"], vec!["agents", "list"]] {
        let ended = world.sortie(&args).run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert!(args == ["trust", "--yes"] || description(&ended).unwrap().contains("mine"), "{ended:#?}");
    }
    world.write("workspace/.sortie/agents/explore.md", "---\nname: explore\ndescription: mine now\n---\nMine.\n");
    let ended = world.sortie(["agents", "list"]).run();
    assert!(!description(&ended).unwrap().contains("mine"), "{ended:#?}");
}

#[test]
fn a_trusted_env_file_overrides_the_projects_file_but_not_the_process() {
    let world = World::new();
    world
        .write(CONFIG, "[routes.main]\nmodel = \"file\"\nbase_url = \"http://127.0.0.1:1\"\napi_key_env = \"OTHER\"\n");
    world.write("workspace/.env", "LLM_MODEL_ID=env\nOTHER=k\nHOME=/nowhere\nSORTIE_HOME=/nowhere\nTERM=x\n");
    world.sortie(["trust", "--yes"]).run();
    let ended = show(&world, &[]);
    let text = ended.transcript();
    let head: Vec<&str> = text.lines().skip(2).take_while(|line| !line.is_empty()).collect();
    expect![[r#"
        workspace  <dir>/workspace
        config     <dir>/home/.config/sortie/config.toml (does not exist)
        project    .sortie/config.toml
        home       <dir>/state
        trust      trusted, 2 files
        model      env over openai-chat at http://127.0.0.1:<port>, key from OTHER (.env:2)"#]]
    .assert_eq(&head.join("\n"));
    expect![[r#"
        warning: .env cannot set HOME, SORTIE_HOME, TERM: paths and programs come from the process's own environment alone
    "#]]
    .assert_eq(&ended.stderr);
    for (name, value, expected) in
        [("LLM_MODEL_ID", "own", "own"), ("LLM_MODEL_ID", "", "file"), ("SORTIE_ROUTES__MAIN__MODEL", "long", "long")]
    {
        let ended = world.sortie(["config", "show"]).env(name, value).run();
        assert!(model(&ended).starts_with(&format!("{expected} over")), "{name}={value}: {}", ended.stdout);
    }
    // Its own longer name does not override the process's shorter one.
    world.write("workspace/.env", "SORTIE_ROUTES__MAIN__MODEL=env\nOTHER=k\n");
    world.sortie(["trust", "--yes"]).run();
    let ended = world.sortie(["config", "show"]).env("LLM_MODEL_ID", "own").run();
    assert!(model(&ended).starts_with("own over"), "{}", ended.stdout);
}

#[test]
fn an_untrusted_env_file_is_named_if_it_would_have_mattered() {
    let world = World::new();
    world.write("workspace/.env", "LLM_BASE_URL=http://127.0.0.1:1\nOPENAI_API_KEY=canary\nMINE=canary\nDB=canary\n");
    world.config("[routes.main]\nmodel = \"claude-x\"\napi_key_env = \"MINE\"\n");
    let ended = world.sortie(["agents", "list"]).run();
    expect![[r#"
        warning: .env, which sets LLM_BASE_URL, OPENAI_API_KEY, MINE, is ignored: this project is not trusted; look at .env, then run `sortie trust`
    "#]].assert_eq(&ended.stderr);
    world.write("workspace/.env", "DB=canary\nthis is no assignment\n");
    assert_eq!(world.sortie(["agents", "list"]).run().stderr, "", "it has nothing to do with Sortie");
}

/// A hundred lines.
fn lines(line: impl Fn(usize) -> String) -> String {
    (0..100).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn broken_files_warn_before_trust_and_are_errors_after() {
    let rows = [
        "[task_tool\nmax_depth = 1\n",
        "[task_tool]\nmax_depth = \"one\"\nmax_children = 1\n",
        "[task_tool]\nmax_dept = 1\n[plugins]\nx = \"y\"\n[mcp_servers.x]\ncommand = \"y\"\n",
        "[routes.\"a\\nerror: forged\"]\nmodel = \"x\"\n",
    ];
    let mut said = String::new();
    for text in rows {
        let world = World::new();
        world.write(CONFIG, text);
        let before = world.sortie(["agents", "list"]).run();
        let after = world.sortie(["agents", "list", "--trust"]).run();
        let refused = world.sortie(["trust", "--yes"]).run();
        assert_eq!((before.code, refused.code), (0, after.code), "{text}");
        said +=
            &normalised(&format!("before: {}after: {} {}\n", before.stderr, after.code, after.stderr), &world.path(""));
    }
    expect![[r#"
        before: warning: .sortie/config.toml is ignored as a whole: line 1: this is not valid TOML: unclosed table, expected `]`
        after: 2 error: .sortie/config.toml:1: this is not valid TOML: unclosed table, expected `]`

        before: warning: .sortie/config.toml:2 is ignored: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "one"
        after: 2 error: .sortie/config.toml:2: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "one"

        before: warning: .sortie/config.toml:2 is ignored: unknown setting `task_tool.max_dept`; did you mean `task_tool.max_depth`?
        warning: .sortie/config.toml:3 is ignored: unknown setting `plugins`; `sortie config show` lists all settings
        warning: ignored: `mcp_servers.x` (.sortie/config.toml:5): this project is not trusted; look at .sortie/config.toml, then run `sortie trust`
        after: 0 warning: .sortie/config.toml:2 is ignored: unknown setting `task_tool.max_dept`; did you mean `task_tool.max_depth`?
        warning: .sortie/config.toml:3 is ignored: unknown setting `plugins`; `sortie config show` lists all settings

        before: warning: .sortie/config.toml:1 is ignored: `routes.a error: forged`: a route's name has small letters, digits, `-` and `_`, and begins with a letter
        after: 2 error: .sortie/config.toml:1: `routes.a error: forged`: a route's name has small letters, digits, `-` and `_`, and begins with a letter

    "#]].assert_eq(&said);
    let world = World::new();
    world.write(CONFIG, &lines(|n| format!("key_{n} = 1")));
    let ended = world.sortie(["agents", "list"]).run();
    assert_eq!(ended.stderr.lines().count(), 6, "a project cannot drown what else is said: {}", ended.stderr);
    world.write(CONFIG, &lines(|n| format!("[routes.r{n}]\nmodel = \"m\"")));
    let ended = world.sortie(["agents", "list"]).run();
    assert!(ended.stderr.ends_with("trust`\n") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("`routes.r7.model` (.sortie/config.toml:16), 92 more of `routes.*.model`: "));
}

#[test]
fn only_regular_files_inside_the_project_are_read_and_bounded() {
    let world = World::new();
    let outside = world.write("outside.toml", OWN_MODEL);
    fs::create_dir_all(world.path("workspace/.sortie/agents")).unwrap();
    symlink(&outside, world.path(CONFIG)).unwrap();
    symlink(&outside, world.path("workspace/.sortie/agents/linked.md")).unwrap();
    fs::create_dir(world.path("workspace/.env")).unwrap();
    world.write("workspace/.mcp.json", &" ".repeat(64 * 1024 + 1));
    let ended = world.sortie(["trust", "--yes"]).run();
    expect![[r#"
        exit 0
        --- stdout
        <dir>/workspace

        Trusted. This covers no file, since none can be read; new or changed files are not covered.
        --- stderr
        warning: .mcp.json is not covered: it has more than 65536 bytes
        warning: .sortie/agents/linked.md is not covered: `.sortie/agents/linked.md` is outside the workspace <dir>/workspace; only paths inside it can be used
        warning: .sortie/config.toml is not covered: `.sortie/config.toml` is outside the workspace <dir>/workspace; only paths inside it can be used
    "#]].assert_eq(&ended.transcript());
    for args in [&["config", "show"][..], &["config", "show", "--trust"]] {
        let ended = world.sortie(args).run();
        assert_eq!(model(&ended), "offline, the built-in rule-based model (no model is set)");
        assert!(ended.stderr.contains(".sortie/config.toml of the project is ignored"), "{}", ended.stderr);
    }
}

#[test]
fn trust_belongs_to_the_canonical_path_and_not_to_git_metadata() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    world.sortie(["trust", "--yes"]).run();
    symlink(world.path("workspace"), world.path("link")).unwrap();
    let through_link = world.sortie(["config", "show"]).cwd(world.path("link")).run();
    assert!(model(&through_link).starts_with("project-model"));
    // A clone that claims to be a worktree of the trusted one.
    world.write("clone/.git", &format!("gitdir: {}\n", world.path("workspace/.git/worktrees/x").display()));
    world.write("workspace/.git/worktrees/x/commondir", "../..\n");
    world.write("clone/.sortie/config.toml", OWN_MODEL);
    let clone = world.sortie(["config", "show"]).cwd(world.path("clone")).run();
    assert_eq!(model(&clone), "offline, the built-in rule-based model (no model is set)");
    // A project within the trusted one is another project.
    world.write("workspace/vendor/.sortie/config.toml", OWN_MODEL);
    let inner = world.sortie(["config", "show"]).cwd(world.path("workspace/vendor")).run();
    assert_eq!(model(&inner), "offline, the built-in rule-based model (no model is set)");
}

#[test]
fn a_list_that_the_project_may_have_written_is_ignored() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    world.sortie(["trust", "--yes"]).run();
    fs::create_dir(world.path("workspace/.state")).unwrap();
    fs::copy(world.path("state/trust.json"), world.path("workspace/.state/trust.json")).unwrap();
    let inside = world.sortie(["config", "show"]).env("SORTIE_HOME", ".state").run();
    assert_eq!(model(&inside), "offline, the built-in rule-based model (no model is set)");
    let refused = world.sortie(["trust", "--yes"]).env("SORTIE_HOME", ".state").run();
    expect![[r#"
        exit 2
        --- stderr
        error: <dir>/workspace cannot be trusted: the list of trusted projects (<dir>/workspace/.state) lies in <dir>/workspace, so files there could trust themselves
        hint: set SORTIE_HOME to a directory outside of any project; `--trust` trusts this one for one run
    "#]].assert_eq(&refused.transcript());
    // The home directory and the root hold everything, the list included.
    for root in [world.path("home"), "/".into()] {
        let refused = world.sortie(["trust", "--yes"]).without_env("SORTIE_HOME").cwd(root).run();
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{refused:#?}");
        assert!(refused.stderr.contains("cannot be trusted"), "{refused:#?}");
    }
}

#[test]
fn the_list_is_for_this_user_alone_and_a_broken_one_trusts_nothing() {
    let world = World::new();
    let home = world.path("fresh/home");
    world.write(CONFIG, OWN_MODEL);
    assert_eq!(world.sortie(["trust", "--yes"]).env("SORTIE_HOME", &home).run().code, 0);
    let list = home.join("trust.json");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&home), mode(&list)), (0o700, 0o600));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1, "nothing is left beside it");

    let mut said = String::new();
    let mut check = |what: &str| {
        let ended = world.sortie(["config", "show"]).env("SORTIE_HOME", &home).run();
        assert_eq!(
            (ended.code, model(&ended)),
            (0, "offline, the built-in rule-based model (no model is set)"),
            "{what}"
        );
        said += ended.stderr.lines().next().unwrap();
        said += "\n";
        // Every command that would write it stops: it may hold what the user still wants.
        for args in [&["trust", "--yes"][..], &["trust", "--list"], &["trust", "--revoke", "."]] {
            let refused = world.sortie(args).env("SORTIE_HOME", &home).run();
            assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{what} {args:?}");
            assert!(refused.stderr.contains("\nhint: "), "{refused:#?}");
        }
    };
    for text in [
        "{",
        "{}",
        "[]",
        r#"{"version": 2, "projects": {}}"#,
        r#"{"version": 1}"#,
        r#"{"version": 1, "projects": {"/a": {"since": "yesterday", "files": {}}}}"#,
        r#"{"version": 1, "projects": {"/a": {"since": "2026-01-01T00:00:00.000Z", "files": {"x": "sha256:no"}}}}"#,
    ] {
        fs::write(&list, text).unwrap();
        check(text);
    }
    fs::remove_file(&list).unwrap();
    symlink(world.path("state/elsewhere"), &list).unwrap();
    check("a link");
    expect![[r#"
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: it is not valid JSON: EOF while parsing an object at line 1 column 1; nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: it has no version; nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: it has no version; nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: it was written by a newer Sortie (version 2); nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: it has no projects; nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: its entry for /a is incomplete; nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: its entry for /a is incomplete; nothing is trusted; remove it, then run `sortie trust` in each project that you trust
        warning: the list of trusted projects <dir>/fresh/home/trust.json cannot be used: Too many levels of symbolic links (os error 40); nothing is trusted; remove it, then run `sortie trust` in each project that you trust
    "#]].assert_eq(&normalised(&said, &world.path("")));
}

#[test]
fn the_list_shows_the_current_state_of_each_project() {
    let world = World::new();
    world.write(CONFIG, OWN_MODEL);
    world.write("gone/.sortie/config.toml", OWN_MODEL);
    assert_eq!(world.sortie(["trust", "--list"]).run().stdout, "No project is trusted.\n");
    for directory in ["workspace", "gone"] {
        assert_eq!(world.sortie(["trust", "--yes"]).arg(world.path(directory)).run().code, 0);
    }
    world.write("workspace/.sortie/agents/new.md", "---\nname: new\n---\n");
    fs::remove_dir_all(world.path("gone")).unwrap();
    // Neither the configuration nor the current directory matters.
    world.config("this is no TOML");
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let removed = format!("rmdir {}; exec \"$@\"", elsewhere.display());
    let list = world.sortie(["trust", "--list"]).cwd(&elsewhere);
    let ended = list.under("/bin/sh", &["-c", &removed, "sh"]).run();
    let since = |line: &str| {
        let (root, rest) = line.split_once("  since ").unwrap();
        format!("{root}  since <time>  {}\n", rest.split_once("  ").unwrap().1)
    };
    let text: String = ended.stdout.lines().map(since).collect();
    expect![[r#"
        <dir>/gone  since <time>  gone
        <dir>/workspace  since <time>  1 file; not covered: .sortie/agents/new.md
    "#]]
    .assert_eq(&normalised(&text, &world.path("")));
    // A project that is gone can still be removed.
    assert_eq!(world.sortie(["trust", "--revoke"]).arg(world.path("gone")).run().code, 0);
    assert!(!world.sortie(["trust", "--list"]).run().stdout.contains("gone"));
}

#[test]
fn two_simultaneous_trusts_both_stay_on_the_list() {
    let world = World::new();
    let roots: Vec<String> = (0..6).map(|n| format!("p{n}")).collect();
    for root in &roots {
        world.write(&format!("{root}/.sortie/config.toml"), "");
    }
    let live: Vec<_> =
        roots.iter().map(|root| world.sortie(["trust", "--yes"]).arg(world.path(root)).start()).collect();
    for live in live {
        assert_eq!(live.wait().code, 0);
    }
    assert_eq!(world.sortie(["trust", "--list"]).run().stdout.lines().count(), roots.len());
}

#[test]
fn trust_names_agents_that_it_makes_fully_effective() {
    let world = World::new();
    let agent = |name: &str, more: &str| format!("---\nname: {name}\ndescription: works\n{more}---\nWork.\n");
    world.write("workspace/.claude/agents/plain.md", &agent("plain", ""));
    world.write("workspace/.claude/agents/long.md", &agent("long", "maxTurns: 500\n"));
    world.write("workspace/.claude/agents/README.md", "Our agents.\n");
    let told = world.sortie(["trust", "--dry-run"]).run().stdout;
    for line in
        ["`plain`, which also works untrusted", "`long` in full; untrusted, it is restricted", "is not an agent"]
    {
        assert!(told.contains(line), "{line}: {told}");
    }
}
