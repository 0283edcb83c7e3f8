//! Messages about a project's own files: what counts, what is ignored, and the origin of a limit.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use expect_test::expect;

use crate::world::World;

const CONFIG: &str = "workspace/.sortie/config.toml";

#[test]
fn paths_and_programs_come_from_the_processs_own_environment_alone() {
    let world = World::new();
    let lines =
        "HOME=/nowhere\nXDG_CONFIG_HOME=/nowhere\nSORTIE_HOME=/nowhere\nEDITOR=/bin/false\nVISUAL=/bin/false\nPATH=.\n";
    let file = world.write("own.env", &format!("{lines}LLM_MODEL_ID=m\nLLM_BASE_URL=http://127.0.0.1:1\n"));
    let plain = world.sortie(["config", "show"]).run();
    let ended = world.sortie(["config", "show", "--env-file", file.to_str().unwrap()]).run();
    let places = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(places(&ended.stdout), places(&plain.stdout));
    assert!(ended.stdout.contains("m over openai-chat at http://127.0.0.1:1"), "the rest counts: {}", ended.stdout);
    let said = ended.stderr.replace(&world.path("").display().to_string(), "<dir>/");
    expect![[r#"
        warning: <dir>/own.env cannot set HOME, XDG_CONFIG_HOME, SORTIE_HOME, EDITOR, VISUAL, PATH: paths and programs come from the process's own environment alone
    "#]].assert_eq(&said);
    let edited =
        world.sortie(["config", "edit", "--env-file", file.to_str().unwrap()]).env("EDITOR", "/bin/true").run();
    assert_eq!(edited.code, 0, "{edited:#?}");
    world.write("workspace/.env", "HOME=/nowhere\n");
    let ended = world.sortie(["config", "show", "--trust"]).run();
    assert!(ended.stderr.starts_with("warning: .env cannot set HOME: "), "{}", ended.stderr);
}

#[test]
fn trust_shows_each_variables_destination_and_hides_secrets() {
    let world = World::new();
    world.write(
        "workspace/.env",
        "LLM_MODEL_ID=evil\nLLM_API_KEY=canary\nOPENAI_API_KEY=canary\nDB=canary\nHOME=/x\nLLM_BASE_URL=http://canary@evil.example/v1?canary\n",
    );
    let ended = world.sortie(["trust", "--dry-run"]).run();
    expect![[r#"
        exit 0
        --- stdout
        <dir>/workspace

          .env
            line 6: sets LLM_BASE_URL = http://********@evil.example/v1: your requests, and the key of this route, go there
            line 2: sets LLM_API_KEY = ********
            line 3: sets OPENAI_API_KEY = ********
            line 1: sets LLM_MODEL_ID = "evil"
            has 1 more variable, which counts only where `api_key_env` names it

        Nothing was stored. `sortie trust` would cover 1 file.
    "#]]
    .assert_eq(&ended.transcript());
    world.write("workspace/.env", "\nLLM_WIRE=smoke\n");
    let refused = world.sortie(["trust", "--yes"]).run();
    assert_eq!(refused.code, 2, "one that is trusted must be right");
    assert!(refused.stderr.starts_with("error: .env:2: `routes.main.wire` must be one of"), "{}", refused.stderr);
}

#[test]
fn trust_lists_addresses_and_keys_first_and_hides_no_setting() {
    let world = World::new();
    let aliases = (0..50).fold(String::new(), |text, n| text + &format!("a{n} = \"light\"\n"));
    let routes = (0..60).fold(String::new(), |text, n| text + &format!("[routes.r{n}]\nmodel = \"m\"\n"));
    world.write(CONFIG, &format!("[aliases]\n{aliases}{routes}[routes.x]\nmodel = \"m\"\nbase_url = \"http://evil.example\"\napi_key_env = \"HOME\"\n"));
    for number in 0..30 {
        let text = format!("---\nname: agent-{number}\ndescription: d\n---\nWork.\n");
        world.write(&format!("workspace/.sortie/agents/a{number}.md"), &text);
    }
    let ended = world.sortie(["trust", "--dry-run"]).run();
    let lines: Vec<&str> =
        ended.stdout.lines().map(str::trim).skip_while(|line| *line != ".sortie/config.toml").collect();
    assert!(lines[1].contains("sets routes.x.base_url = http://evil.example"), "{}", ended.stdout);
    assert!(lines[2].contains("sets routes.x.api_key_env = \"HOME\""), "{}", ended.stdout);
    assert_eq!(lines.iter().filter(|line| line.contains(": sets aliases.a")).count(), 50, "{}", ended.stdout);
    assert_eq!(lines.iter().filter(|line| line.contains(": sets routes.r")).count(), 60, "{}", ended.stdout);
    assert!(ended.stdout.contains("and 20 more agent files, for which trust changes nothing"), "{}", ended.stdout);
    // The warning also names those first.
    let warned = world.sortie(["agents", "list"]).run();
    assert!(
        warned
            .stderr
            .starts_with("warning: ignored: `routes.x.base_url` (.sortie/config.toml:174), `routes.x.api_key_env`"),
        "{}",
        warned.stderr
    );
}

#[test]
fn trust_names_the_agent_whose_prompt_a_file_replaces() {
    let world = World::new();
    world.write("workspace/.sortie/prompts/subagent_plan_prompt.md", "Plan.\n");
    world.write("workspace/.sortie/prompts/subagent_explor_prompt.md", "Explore.\n");
    let stdout = world.sortie(["trust", "--dry-run"]).run().stdout;
    assert!(stdout.contains("    replaces the role prompt of the built-in agent `plan`\n"), "{stdout}");
    assert!(stdout.contains("    has no effect: no role prompt has the name `subagent_explor_prompt.md`"), "{stdout}");
}

#[test]
fn an_unreadable_file_is_not_reported_as_missing() {
    let world = World::new();
    let folder = world.path("workspace/.sortie/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"caf\xe9.md")), "").unwrap();
    let ended = world.sortie(["trust", "--yes"]).run();
    expect![[r#"
        exit 0
        --- stdout
        <dir>/workspace

        Trusted. This covers no file, since none can be read; new or changed files are not covered.
        --- stderr
        warning: .sortie/agents/caf�.md is not covered: its name is not UTF-8
    "#]]
    .assert_eq(&ended.transcript());
}

#[test]
fn servers_of_a_project_are_named_as_ignored_until_it_is_trusted() {
    let world = World::new();
    world.write("workspace/.mcp.json", r#"{"mcpServers": {"a": {"command": "touch"}}}"#);
    let ended = world.sortie(["agents", "list"]).run();
    expect![[r#"
        warning: .mcp.json, which sets up a, is ignored: this project is not trusted; look at .mcp.json, then run `sortie trust`
    "#]]
    .assert_eq(&ended.stderr);
    let ended = world.sortie(["agents", "list", "--trust"]).run();
    assert_eq!(ended.stderr, "");
    world.write("workspace/.mcp.json", r#"{"mcpServers": {}}"#);
    assert_eq!(world.sortie(["agents", "list"]).run().stderr, "", "it names none");
}

#[test]
fn mistakes_in_a_trusted_env_file_matter_only_for_our_variables() {
    let world = World::new();
    world.write(
        "workspace/.env",
        "CERTIFICATE=\"-----BEGIN\nsome = lines\n-----END\"\njust words\nDB='open\nLLM_API_KEY='open\nLLM_MODEL_ID=m\n",
    );
    let ended = world.sortie(["agents", "list", "--trust"]).run();
    assert_eq!(ended.stderr, "warning: .env:6 is ignored: the single quote is not closed\n");
}

#[test]
fn a_refusal_names_the_origin_of_the_limit_and_its_override() {
    let world = World::new();
    let task = |args: &[&str]| {
        let request = ["task", "--description", "d", "--prompt", "where is login?", "--model", "offline"];
        world.sortie(request.iter().chain(args)).run().stdout_json()["error"]["message"].as_str().map(str::to_owned)
    };
    world.write(CONFIG, "[task_tool]\nallow_model_override = false\n");
    expect!["a call may not choose its model here (`task_tool.allow_model_override` is false); leave out `offline`; that is set in .sortie/config.toml:2, and `--set task_tool.allow_model_override=…` overrides it"]
        .assert_eq(&task(&[]).unwrap());
    assert_eq!(task(&["--set", "task_tool.allow_model_override=true"]), None);
    let path = world.config("[task_tool]\nmax_prompt_bytes = 5\n");
    for run in [world.sortie(["run", "too long"]), world.sortie(["run", "-"]).stdin("too long")] {
        let ended = run.run();
        let told = format!("; that is set in {}:2, and `--set task_tool.max_prompt_bytes=…`", path.display());
        assert!(ended.code == 2 && ended.stderr.contains(&told), "{ended:#?}");
    }
    let doctor = world.sortie(["doctor"]).run().stdout;
    assert!(doctor.contains("sets task_tool.allow_model_override = false (.sortie/config.toml:2)"), "{doctor}");
}

#[test]
fn no_project_can_stop_every_run_before_it_is_trusted() {
    let world = World::new();
    world.write(CONFIG, "[task_tool]\nmax_prompt_bytes = 1\nmax_depth = 0\nenabled = false\nmax_tokens = 1\nmax_children = 0\n[llm]\nidle_timeout_seconds = 1\n");
    let ended = world.sortie(["run", "Where is login?"]).run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(
        ended.stderr.contains("`task_tool.max_prompt_bytes` (.sortie/config.toml:2), `llm.idle_timeout_seconds`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_folder_of_the_user_does_not_also_count_as_the_projects() {
    let world = World::new();
    world.write("home/.claude/agents/tester.md", "---\nname: tester\ndescription: tests\n---\nTest.\n");
    world.write("home/.claude/agents/explore.md", "---\nname: explore\ndescription: mine\n---\nMine.\n");
    let home = world.path("home");
    let ended = world.sortie(["agents", "list"]).cwd(&home).run();
    let is_users = |name: &str| ended.stdout.lines().any(|line| line.split_whitespace().take(2).eq([name, "user"]));
    assert!(is_users("tester") && is_users("explore"), "{}", ended.stdout);
    assert!(ended.stdout.contains("  mine\n"), "{}", ended.stdout);
    assert_eq!(world.sortie(["agents", "check"]).cwd(&home).run().stdout, "2 agent files: no problems found\n");
}
