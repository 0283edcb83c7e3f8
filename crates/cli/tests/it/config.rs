//! Path of the configuration, and its editing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use expect_test::expect;

use crate::world::{Ended, World};

/// Runs `config edit` with an editor that does this to the file in `$1`.
fn edit(world: &World, script: &str) -> Ended {
    let editor = world.write("editor.sh", script);
    world.sortie(["config", "edit"]).env("EDITOR", format!("/bin/sh {}", editor.display())).run()
}

#[test]
fn the_path_of_each_file_is_printed_even_where_settings_are_broken() {
    let world = World::new();
    let own = world.config("this is not toml");
    let path = |args: &[&str]| {
        let ended = world.sortie(["config", "path"].iter().chain(args)).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        ended.stdout.trim_end().to_owned()
    };
    assert_eq!(path(&[]), own.display().to_string());
    assert_eq!(path(&["--project"]), world.path("workspace/.sortie/config.toml").display().to_string());
    assert_eq!(path(&["--config", "x.toml"]), world.path("workspace/x.toml").display().to_string());
    let nowhere = world.sortie(["config", "path"]).without_env("HOME").run();
    expect![[r#"
        exit 2
        --- stderr
        error: there is no place for the configuration: HOME is not set
        hint: set XDG_CONFIG_HOME or HOME, or name a file with --config
    "#]]
    .assert_eq(&nowhere.transcript());
}

const WINDOW: &str = "# window = 50000  # context window in tokens; longer conversations are compacted";

#[test]
fn editing_begins_with_a_file_in_which_everything_is_a_comment() {
    let world = World::new();
    let ended = edit(&world, "cp \"$1\" \"$HOME/seen\"\n");
    expect![[r#"
        exit 0
        --- stderr
        note: <dir>/home/.config/sortie/config.toml is in order
    "#]]
    .assert_eq(&ended.transcript());
    let path = world.path("home/.config/sortie/config.toml");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(fs::read_to_string(world.path("home/seen")).unwrap(), text);
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
    for line in ["# [task_tool]", "# max_depth = 2  # ", "# [routes.main]", "# api_key_env = ", WINDOW, "# [aliases]"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn an_edited_configuration_is_checked() {
    let world = World::new();
    let mut said = String::new();
    for line in [
        "[task_tool]\\nmax_depth = 1",
        "[task_tool]\\nmax_dept = 1",
        "[task_tool]\\nmax_depth = \"one\"",
        "[task_tool",
        "[routes.light]\\nmodel = \"small\"",
        "[aliases]\\na = \"b\"\\nb = \"a\"",
    ] {
        // An existing file is opened as it is.
        world.config("# mine\n");
        let ended = edit(&world, &format!("grep -q mine \"$1\" && printf '{line}\\n' > \"$1\"\n"));
        said += &ended.transcript();
    }
    expect![[r#"
        exit 0
        --- stderr
        note: <dir>/home/.config/sortie/config.toml is in order
        exit 0
        --- stderr
        warning: <dir>/home/.config/sortie/config.toml:2 is ignored: unknown setting `task_tool.max_dept`; did you mean `task_tool.max_depth`?
        exit 2
        --- stderr
        error: <dir>/home/.config/sortie/config.toml:2: `task_tool.max_depth` must be a whole number from 0 to 1000000, not "one"
        hint: run `sortie config edit` again to correct it
        exit 2
        --- stderr
        error: <dir>/home/.config/sortie/config.toml:1: this is not valid TOML: unclosed table, expected `]`
        hint: run `sortie config edit` again to correct it
        exit 2
        --- stderr
        error: nothing says where the model "small" is served: LIGHT_LLM_BASE_URL is not set, nor LIGHT_LLM_WIRE
        hint: export LIGHT_LLM_MODEL_ID=… and LIGHT_LLM_BASE_URL=…, or LIGHT_LLM_WIRE=… for the wire's own provider
        hint: run `sortie config edit` again to correct it
        exit 2
        --- stderr
        error: <dir>/home/.config/sortie/config.toml:2: alias `a` points to the alias `b`; let it name a model id or a route
        hint: run `sortie config edit` again to correct it
    "#]].assert_eq(&said);
}

#[test]
fn an_editor_that_fails_is_named_and_visual_comes_first() {
    let world = World::new();
    let ended = world.sortie(["config", "edit"]).env("EDITOR", "/bin/true").env("VISUAL", "/bin/false --wait").run();
    expect![[r#"
        exit 2
        --- stderr
        error: the editor `/bin/false --wait` failed (exit status: 1)
        hint: name another one in VISUAL or EDITOR
    "#]]
    .assert_eq(&ended.transcript());
    // A project's `.env` cannot choose programs, trusted or not.
    world.write("workspace/.env", "VISUAL=/bin/false\nEDITOR=/bin/false\n");
    let ended = world.sortie(["config", "edit", "--trust"]).env("EDITOR", "/bin/true").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
}
