//! Variables, env files, and the directories that they lead to.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use expect_test::expect;

use crate::world::World;

#[test]
fn wrong_and_unknown_variables_are_named() {
    let world = World::new();
    let ended = world.sortie(["agents", "list"]).env("SORTIE_TASK_TOOL__MAX_DEPTH", "deep").run();
    expect![[r#"
        exit 2
        --- stderr
        error: the variable SORTIE_TASK_TOOL__MAX_DEPTH: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "deep"
    "#]].assert_eq(&ended.transcript());
    let ended = world
        .sortie(["agents", "list"])
        .env("SORTIE_TASK_TOOL__MAX_DEPHT", "3")
        .env("SORTIE_MCP_SERVERS__X", "3")
        .env("SORTIE_TASK_TOOL_MAX_DEPTH", "3")
        .env("SORTIE_BANANA", "3")
        .env("SORTIE_TEST_SOMETHING", "of our own tests")
        .run();
    assert_eq!(ended.code, 0);
    expect![[r#"
        warning: the variable SORTIE_BANANA is ignored: no setting has this name; one is called like SORTIE_TASK_TOOL__MAX_DEPTH
        warning: the variable SORTIE_MCP_SERVERS__X is ignored: `mcp_servers.x` is set up in a file, as a table
        warning: the variable SORTIE_TASK_TOOL_MAX_DEPTH is ignored: no setting has this name; did you mean SORTIE_TASK_TOOL__MAX_DEPTH?
        warning: the variable SORTIE_TASK_TOOL__MAX_DEPHT is ignored: unknown setting `task_tool.max_depht`; did you mean `task_tool.max_depth`?
    "#]].assert_eq(&ended.stderr);
}

#[test]
fn a_wrong_variable_does_no_harm_if_a_flag_overrides_it() {
    let world = World::new();
    let schema = |contract: &str| world.sortie(["schema", "--contract", contract]).run().stdout;
    let ended = world.sortie(["schema", "--contract", "typed"]).env("SORTIE_CONTRACT", "nope").run();
    assert_eq!((ended.code, ended.stdout), (0, schema("typed")));
    expect![[r#"
        warning: the variable SORTIE_CONTRACT is ignored: `contract` must be one of envelope, result, delegate, typed, child, child-recipe, sortie, not "nope"
    "#]]
    .assert_eq(&ended.stderr);
    let depth = ["schema", "--set", "task_tool.max_depth=1"];
    let ended = world.sortie(depth).env("SORTIE_TASK_TOOL__MAX_DEPTH", "deep").run();
    assert_eq!((ended.code, ended.stdout), (0, schema("sortie")));
    assert!(
        ended.stderr.starts_with("warning: the variable SORTIE_TASK_TOOL__MAX_DEPTH is ignored: "),
        "{}",
        ended.stderr
    );
    let ended = world.sortie(["schema"]).env("SORTIE_CONTRACT", "nope").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "without a flag it is an error as before");
}

#[test]
fn a_variable_that_is_not_text_is_named() {
    let world = World::new();
    let ended = world.sortie(["config", "show"]).env("LLM_MODEL_ID", OsStr::from_bytes(b"a\xffb")).run();
    expect![[r#"
        exit 2
        --- stderr
        error: the variable LLM_MODEL_ID is not valid UTF-8
    "#]]
    .assert_eq(&ended.transcript());
    let ended = world.sortie(["config", "show"]).env("UNRELATED", OsStr::from_bytes(b"a\xffb")).run();
    assert_eq!(ended.code, 0, "one that nobody asks for does not matter");
}

#[test]
fn a_key_where_a_variables_name_belongs_is_refused_and_never_shown() {
    let world = World::new();
    world.config("[routes.main]\nmodel = \"claude-x\"\napi_key_env = \"sk-canary-1\"\n");
    for args in [&["run", "x"][..], &["models"], &["config", "show"], &["doctor"], &["agents", "list"]] {
        let ended = world.sortie(args).run();
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.contains("canary"), "{said}");
        let told = "config.toml:3: `routes.main.api_key_env` must be the name of a variable, like MY_KEY, not a string";
        assert!(said.contains(told), "{said}");
    }
    world.config("");
    let set = world.sortie(["config", "show", "--set", "routes.main.api_key_env=sk-canary-1"]).run();
    let variable = world.sortie(["config", "show"]).env("SORTIE_ROUTES__MAIN__API_KEY_ENV", "sk-canary-1").run();
    world.write("workspace/.sortie/config.toml", "[routes.main]\napi_key_env = \"sk-canary-1\"\n");
    let project = world.sortie(["config", "show"]).run();
    for (ended, code) in [(set, 2), (variable, 2), (project, 0)] {
        assert_eq!(ended.code, code, "{ended:#?}");
        assert!(!format!("{ended:?}").contains("canary"), "{ended:#?}");
        assert!(ended.stderr.contains("must be the name of a variable"), "{ended:#?}");
    }
}

#[test]
fn a_flag_that_sets_nothing_known_is_wrong_usage() {
    let world = World::new();
    let ended = world.sortie(["--set", "task_tool.max_dept=1", "config", "show"]).run();
    expect![[r#"
        exit 2
        --- stderr
        error: --set: unknown setting `task_tool.max_dept`; did you mean `task_tool.max_depth`?
    "#]]
    .assert_eq(&ended.transcript());
    let ended = world.sortie(["--set", "task_tool.max_depth=x", "config", "show"]).run();
    expect![[r#"
        exit 2
        --- stderr
        error: --set: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "x"
    "#]]
    .assert_eq(&ended.transcript());
    let ended = world.sortie(["--set", "nonsense", "config", "show"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    let ended = world.sortie(["--set", "routes.main.api_key=canary", "config", "show"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
}

#[test]
fn an_env_file_overrides_the_environment() {
    let world = World::new();
    let file =
        world.write("work.env", "# keys\nexport LLM_MODEL_ID='from-file'\nLLM_BASE_URL=\"http://127.0.0.1:1\"\n");
    let ended = world
        .sortie(["config", "show", "--env-file", file.to_str().unwrap()])
        .env("LLM_MODEL_ID", "from-environment")
        .run();
    assert_eq!(ended.code, 0);
    let line = ended.stdout.lines().find(|line| line.starts_with("routes.main.model ")).unwrap();
    assert!(line.contains("\"from-file\"") && line.contains(&format!("LLM_MODEL_ID ({}:2)", file.display())), "{line}");
}

#[test]
fn a_wrong_env_file_is_named_with_its_line_and_without_its_content() {
    let world = World::new();
    let file = world.write("work.env", "A=1\nLLM_API_KEY='canary\n");
    let ended = world.sortie(["config", "show", "--env-file", file.to_str().unwrap()]).run();
    assert!(!ended.stderr.contains("canary"));
    expect![[r#"
        exit 2
        --- stderr
        error: <dir>/work.env:2: the single quote is not closed
        hint: each line is NAME=value, NAME='value' or NAME="value"; lines that begin with # are comments
    "#]]
    .assert_eq(&ended.transcript());
    let ended = world.sortie(["config", "show", "--env-file", "missing.env"]).run();
    expect![[r#"
        exit 2
        --- stderr
        error: the env file missing.env cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&ended.transcript());
}

#[test]
fn the_project_root_is_the_nearest_ancestor_with_a_mark() {
    let world = World::new();
    let root = |directory: &str, args: &[&str]| {
        let ended = world.sortie(args).cwd(world.path(directory)).run();
        ended.stdout.lines().next().unwrap().replace("workspace  ", "")
    };
    let project = world.path("workspace").display().to_string();
    assert_eq!(root("workspace/src", &["config", "show"]), project);
    fs::create_dir_all(world.path("workspace/inner/.sortie")).unwrap();
    fs::create_dir_all(world.path("workspace/inner/deep")).unwrap();
    assert_eq!(root("workspace/inner/deep", &["config", "show"]), format!("{project}/inner"));
    let elsewhere = world.path("home").display().to_string();
    assert_eq!(root("workspace", &["config", "show", "--cwd", &elsewhere]), elsewhere);
}

#[test]
fn home_is_found_through_sortie_home_xdg_and_home() {
    let world = World::new();
    let home = |invocation: crate::world::Invocation| {
        let ended = invocation.run();
        ended.stdout.lines().nth(2).unwrap_or_else(|| panic!("{ended:#?}")).replace("home       ", "")
    };
    let show = || world.sortie(["config", "show"]);
    let path = |relative: &str| world.path(relative).display().to_string();
    assert_eq!(home(show()), path("state"));
    assert_eq!(home(show().env("SORTIE_HOME", "relative")), path("workspace/relative"));
    let without = || show().without_env("SORTIE_HOME");
    assert_eq!(home(without().env("XDG_STATE_HOME", world.path("xdg"))), path("xdg/sortie"));
    assert_eq!(home(without()), path("home/.local/state/sortie"));
    let nowhere = without().without_env("HOME").run();
    expect![[r#"
        exit 2
        --- stderr
        error: there is no place to keep the journal: HOME is not set
        hint: set SORTIE_HOME to a directory that you can write to
    "#]]
    .assert_eq(&nowhere.transcript());
}
